"""AITER's attention: published winners of its multi-head kernel, and pairs of latent attention's second stage."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import Any

from validation.benchmarks.model.compiling import Point, kernel_of
from validation.benchmarks.model.data import Row, UnusableError, each
from validation.benchmarks.model.problem import Candidate, Family, Problem

HEADS = 128
"""Number of heads of the second stage, which the data does not name; with this number, the faster side moves 4.7 to
5.4 TB/s in all four problems."""
DRAWN = 24
"""Number of configurations of a problem besides the winner."""
LENGTHS = (1024, 4096, 16384)
_TOKENS = 16384
"""Total tokens of a batch, divided among its sequences for each length."""
_BUCKETS = {"fwd/default": 128, "fwd/small_head": 64}
"""Map the supported buckets of the winners to the head size that represents each."""
_NAMES = {"PRELOAD_V": "PRE_LOAD_V"}
_KNOBS = {"BLOCK_M", "BLOCK_N", "PRE_LOAD_V", "num_warps", "num_stages", "waves_per_eu"}
_SPACE: Mapping[str, Sequence[Any]] = {
    "BLOCK_M": (16, 32, 64, 128, 256),
    "BLOCK_N": (16, 32, 64, 128),
    "PRE_LOAD_V": (False, True),
    "num_warps": (2, 4, 8),
    "num_stages": (1, 2, 3),
    "waves_per_eu": (1, 2, 3, 4),
}
_LDS = {"gfx950": 163840}


@cache
def _space(arch: str, head: int) -> tuple[dict[str, Any], ...]:
    """Return random configurations for an architecture and head size that fit registers and LDS."""
    legal = kernel_of("flash_attention").legal
    assert legal is not None
    shape = {"D": head}
    whole = (dict(zip(_SPACE, values, strict=True)) for values in product(*_SPACE.values()))
    fitting = [
        config
        for config in whole
        if legal(shape, config, arch) is None
        and 2 * config["BLOCK_N"] * head * 2 * max(1, config["num_stages"] - 1) <= _LDS.get(arch, 65536)
        # Scores and accumulator may use half of the registers: other configurations spill and compile for minutes.
        and config["BLOCK_M"] * (config["BLOCK_N"] + head) <= 128 * 64 * config["num_warps"]
    ]
    return tuple(Random(f"attention {arch} {head}").sample(fitting, min(DRAWN, len(fitting))))


def _winner(row: Row) -> list[Problem]:
    """Return a problem for each length; AITER uses the same winner for all lengths."""
    from kprof.hardware.machine import products

    bucket = str(row.shape.get("bucket", ""))
    if bucket not in _BUCKETS:
        raise UnusableError("a kernel that we did not write")
    head, gpu = _BUCKETS[bucket], row.product
    given = row.knobs(_NAMES, _KNOBS, {"num_ctas", "matrix_instr_nonkdim", "kpack"})
    if missing := {"BLOCK_M", "BLOCK_N", "num_warps"} - set(given):
        raise UnusableError(f"no {', '.join(sorted(missing))}")
    winner = {"PRE_LOAD_V": False, "num_stages": 1, "waves_per_eu": 0, **given}
    others = [config for config in _space(products()[gpu], head) if config != winner]
    found = []
    for length in LENGTHS:
        base = dict(kernel_of("flash_attention").shapes["s4096_d128"])
        batch = max(1, _TOKENS // length)
        shape = base | {"B": batch, "SQ": length, "SK": length, "D": head, "layout": "bshd"}
        heads = shape["H"]
        candidates = [
            Candidate(
                (Point("flash_attention", shape, {**config, "matrix_instr_nonkdim": 0}, gpu),),
                config,
                winner=config is winner,
                triton=row.triton,
            )
            for config in (winner, *others)
        ]
        flops = 2.0 * batch * heads * length * length * head
        moved = 4.0 * batch * heads * length * head * 2
        name = f"{gpu} head {head} length {length}"
        found.append(Problem(name, tuple(candidates), flops, moved, "fp16", gpu))
    return found


def winners(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return every published winner of the forward kernel in a supported bucket."""
    chosen = (row for row in rows if row.kind == "tuned_best" and row.kernel == "MHA-DEFAULT")
    found = [problem for _, problems in each(rows, chosen, _winner) for problem in problems]
    return found[:: len(LENGTHS)] if quick else found


def _reduce(row: Row) -> tuple[Point, float]:
    shape = {
        "tokens": row.number("num_seqs"),
        "heads": HEADS,
        "splits": row.number("splits"),
        "DV": row.number("dv"),
    }
    if shape["DV"] & (shape["DV"] - 1):
        raise UnusableError("a head size that is no power of two")
    config = row.knobs({}, {"num_warps", "waves_per_eu", "num_stages"}, set())
    if "num_warps" not in config:
        raise UnusableError("no num_warps")
    parts = shape["tokens"] * HEADS * shape["splits"]
    moved = parts * (4.0 * shape["DV"] + 4) + shape["tokens"] * HEADS * shape["DV"] * 2.0
    return Point("mla_reduce", shape, {"num_stages": 2, **config}, row.product), moved


def reductions(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return pairs of the second stage, before and after the number of wavefronts changed."""
    chosen = (r for r in rows if r.kind == "ab_pair" and r.kernel == "_fwd_kernel_stage2_asm" and r.time_us is not None)
    found = []
    for name, group in _pairs(each(rows, chosen, _reduce)):
        candidates = tuple(Candidate((p,), row.config, row.time_us, triton=row.triton) for row, (p, _) in group)
        point, moved = group[0][1]
        found.append(Problem(name, candidates, 0.0, moved, "", point.product))
    return found[:2] if quick else found


def _pairs(read: Iterator[tuple[Row, Any]]) -> list[tuple[str, list[tuple[Row, Any]]]]:
    """Return problems with two sides, in the order of the rows; the earlier side comes first."""
    found: dict[str, list[tuple[Row, Any]]] = {}
    for row, what in read:
        found.setdefault(row.problem, []).append((row, what))
    return [(name, group) for name, group in found.items() if len(group) == 2]


FAMILIES = (
    Family(
        "mha",
        "AITER attention winners",
        "winner",
        "the bundled flash_attention, causal, in fp16, with as many query as key heads",
        winners,
        f"AITER has one configuration for all lengths and head sizes over 64 (`default`), and one for the smaller ones "
        f"on an MI355X (`small_head`). Each is asked for three lengths ({', '.join(map(str, LENGTHS))}; 32 heads, "
        "16,384 tokens in all) with the head size 128 or 64. What was searched is not published: "
        f"{DRAWN} configurations are drawn of those that fit registers and LDS. Winners of kernels with a second "
        "part of the head, with dropout and of the backward pass are not asked: their kernels are not ours.",
        packages=("aiter",),
    ),
    Family(
        "mla_reduce",
        "AITER latent attention, second stage, before and after a retune",
        "pair",
        f"written anew; one token a sequence and {HEADS} heads are assumed, with which the faster side moves 5 TB/s",
        reductions,
        "Four pairs of a pull request: four wavefronts a workgroup became one. The compiler is not told.",
    ),
)
