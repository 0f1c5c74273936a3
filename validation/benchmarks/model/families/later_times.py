"""Single times from AITER's tuning tables: FlyDSL's kernels by tile, and bf16 products on gfx1250."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from validation.benchmarks.model.data import Row, UnusableError, drawn, each
from validation.benchmarks.model.families.aiter_gemm import KINDS, Product, config_of
from validation.benchmarks.model.problem import Candidate, Family, Problem

GFX1250 = "gfx1250"
SHUFFLED = "preshuffled"
"""Our kernel for shuffled weights."""
DRAWN = 60
"""Number of rows drawn from each table."""
_Read = Callable[[Row], tuple[Product, dict[str, Any]]]
_TILE = re.compile(r"(?:_t|_)(\d+)x(\d+)x(\d+)(?:_|$)")
_WARPS = re.compile(r"block_[mnk]_warp(\d+)")
_ORDERED = {2: (0, 1), 4: (1, 2), 5: (3, 4)}
"""Of the numbers that end a name of preshuffled weights, by how many there are: the places of wavefronts a SIMD and of
the rows of tiles that a die takes together (AITER's ``flydsl_gemm_a8w8_bpreshuffle_common.py``, its last versions)."""
_BUFFERED = {4: (0, 3), 5: (2, 0)}
"""Likewise, whether A goes straight to LDS, and into how many buffers."""
_MATRIX_K = 128
"""K of the matrix instruction in our kernel for shuffled weights, which only gfx950 has."""
_STRAIGHT = re.compile(r"async_copyTrue_b_to_ldsTrue")
"""Marks in the names of kernels whose loads of both operands go directly to LDS."""
_COPIES = "3.9.0"
"""Release in which loads on gfx950 and in Gluon go directly to LDS by default, unlike in the usual release."""
_STAGES = re.compile(r"flydsl_gemm(\d+)_")
_EIGHT = "_8w_"
"""Marks in the names of kernels with eight wavefronts; other kernels without a number have four."""
_ENDING = re.compile(r"_(\d+(?:x\d+)+)(?:_default)?$")


def _power(value: int) -> bool:
    return value & (value - 1) == 0


def flydsl(row: Row) -> tuple[Product, dict[str, Any]]:
    """Return a FlyDSL kernel as the Triton product with the tile, wavefronts and parts of K in its name."""
    name = str(row.config["name"])
    tile = _TILE.search(name)
    if tile is None or "mxfp" in name:
        raise UnusableError("a kernel that we did not write")
    m, n, k = map(int, tile.groups())
    if not all(map(_power, (m, n, k))):
        raise UnusableError("a tile that Triton does not have")
    bf16 = row.dtype == "bfloat16"
    warps = [int(count) for count in _WARPS.findall(name)]
    if warps[2:] and warps[2] > 1:
        raise UnusableError("wavefronts of a workgroup that share K")
    config = {
        "BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": 1, "SPLIT_K": row.config["SPLIT_K"], "MODIFIER": "",
        "num_warps": warps[0] * warps[1] if warps else 8 if _EIGHT in name else 4,
        "num_stages": int(stages.group(1)) if (stages := _STAGES.match(name)) else 2, "waves_per_eu": 0,
        "matrix_instr_nonkdim": 16,
    }  # fmt: skip
    sides = [row.number(side) for side in "MNK"]
    kind = replace(KINDS["A16W16"], xcds=1) if bf16 else KINDS["A8W8"]
    if bf16 and row.config["SPLIT_K"] > 1:
        kind = replace(kind, kernel="split_signals")
        config = {name: value for name, value in config.items() if name not in {"GROUP_M", "MODIFIER"}}
    ending = _ENDING.search(name)
    numbers = [int(number) for number in ending.group(1).split("x")] if ending else []
    if len(numbers) in _ORDERED:
        waves, together = (numbers[place] for place in _ORDERED[len(numbers)])
        if len(numbers) in _BUFFERED and row.arch == "gfx950" and k % _MATRIX_K == 0:
            straight, buffers = (numbers[place] for place in _BUFFERED[len(numbers)])
            config = {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "TOGETHER": together, "BUFFERS": buffers}
            config |= {"STRAIGHT": bool(straight), "num_warps": 4, "waves_per_eu": waves}
            return Product(*sides, replace(kind, kernel=SHUFFLED), row.product), config
        # By default, workgroups along the grid's first side, the rows, are distributed first, in turn to all dies.
        config |= {"waves_per_eu": waves, "GROUP_M": together or -(-sides[0] // m)}
        kind = kind if together else replace(kind, xcds=1)
    return Product(*sides, kind, row.product, atomic=row.config["SPLIT_K"] > 1), config


def bf16(row: Row) -> tuple[Product, dict[str, Any]]:
    """Return a bf16 product; the number of buffers of Gluon kernels is used as stages."""
    given = dict(row.config)
    stages = given.pop("NUM_BUFFERS", None)
    given.pop("kernel_type", None)
    plain = Row(**{**vars(row), "config": given | ({"num_stages": stages} if stages else {})})
    sides = (row.number(side) for side in "MNK")
    return Product(*sides, KINDS["A16W16"], row.product), config_of(plain)


def _times(kind: str, read: _Read, archs: tuple[str, ...]) -> Callable[[Sequence[Row], bool], list[Problem]]:
    def problems(rows: Sequence[Row], quick: bool) -> list[Problem]:
        chosen = [row for row in rows if row.kind == kind and row.arch in archs and row.time_us is not None]
        found = []
        for row, (what, config) in each(rows, drawn(rows, chosen, 8 if quick else DRAWN, kind), read):
            copies = what.kind.kernel == SHUFFLED or _STRAIGHT.search(str(row.config.get("name", "")))
            release = _COPIES if copies else ""
            candidate = Candidate(what.points(config), row.config, row.time_us, triton=row.triton, release=release)
            found.append(what.problem(f"{row.problem} {len(found)}", [candidate]))
        return found

    return problems


FAMILIES = (
    Family(
        "flydsl",
        "FlyDSL GEMM times, by tile name",
        "time",
        "FP8 products with shuffled weights are written anew in Gluon to FlyDSL's design, whose loops have the same "
        "instructions; for the others a Triton product with tile, wavefronts, stages, order of tiles and parts of K of "
        "the name stands in: parts of K are added to the result in the same launch, behind a signal that it has been "
        "set to zero, its schedule is Triton's, and where the name says that both operands are copied to LDS, 3.9.0 "
        "compiles it, which does that",
        _times("flydsl", flydsl, ("gfx950", "gfx942")),
        f"{DRAWN} of the tuned times drawn with a fixed seed; tiles that are no powers of two and wavefronts that "
        "share K are left out. Nothing was fitted on them: how far the stand-in is from the kernel is in the ratio.",
        private=True,
        stand_in=True,
    ),
    Family(
        "aiter_bf16",
        "AITER bf16 GEMM times",
        "time",
        "one kernel for all; configurations are joined from the repository's files at the same commit and presumed",
        _times("aiter_bf16", bf16, ("gfx950",)),
        f"Up to {DRAWN} drawn with a fixed seed.",
        private=True,
        packages=("aiter",),
    ),
    Family(
        "gfx1250",
        "AITER bf16 GEMM times on gfx1250",
        "time",
        "Triton's product stands in for the Gluon kernels, their buffers taken for stages; tiles come through "
        "registers, not by the tensor mover",
        _times("aiter_bf16", bf16, (GFX1250,)),
        f"The first public times of this architecture, {DRAWN} drawn with a fixed seed. Bandwidth (19.6 TB/s) is from "
        "AMD's announcement of the MI455X, clock and compute units are from a public report of its users; latencies "
        "are not published. What L2 gives a CU and the range were chosen with these times in view: neither is tested.",
        private=True,
        # Triton before 3.7 does not use this architecture's matrix instructions.
        triton="3.9.0",
    ),
)
