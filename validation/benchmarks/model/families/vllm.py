"""vLLM's winners for MI300X and MI325X: fused mixture of experts and block-scaled FP8 products, without times.

The evaluated figure is the winner's position when the model ranks the searched configurations. For the mixture of
experts, the space is that of vLLM's ``benchmark_moe.py`` at the time of the winners. For the block-scaled products
it is not published, so it is defined here. A hash of their names divides problems into two parts: one that may be
examined while the model is developed, and one that is only evaluated.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import product
from typing import Any

from kprof_servers.served.routing import blocks, experts_of_blocks, rows_of_experts
from validation.benchmarks.model.compiling import Point, in_a_row
from validation.benchmarks.model.data import Row, UnusableError, each
from validation.benchmarks.model.problem import Candidate, Family, Problem, gemm_bytes, renamed

SEED = 7
PARTS = ("looked at", "held out")
SHARE = 4
"""Each part has one problem in four; the others are left out, because predicting all takes too long."""
TILES = 150
"""Number of compiles sampled from the mixture of experts' space for each type."""
CONFIGS = 60
"""Number of configurations of a problem besides the winner, sampled from these compiles with every GROUP_M."""
_NAMES = {f"BLOCK_SIZE_{side}": f"BLOCK_{side}" for side in "MNK"} | {"GROUP_SIZE_M": "GROUP_M"}
_OTHERS = ("MI325X", "MI308X")
# Features that Triton of early 2025 did not have, or not by default.
_OLD = (("AMDGCN_USE_BUFFER_OPS", "0"), ("TRITON_HIP_USE_BLOCK_PINGPONG", "0"))

# The winners of the searcher that sets kpack all have the same kpack, matrix instruction and warps, so these were not
# searched.
_FP8_SPACE = {
    "BLOCK_M": (32, 64, 128, 256),
    "BLOCK_N": (32, 64, 128, 256),
    "BLOCK_K": (32, 64, 128),
    "num_warps": (4,),
    "GROUP_M": (1, 8, 16, 32),
}
_MOE_SPACE = {
    "BLOCK_M": (16, 32, 64, 128, 256),
    "BLOCK_N": (16, 32, 64, 128, 256),
    "BLOCK_K": (16, 32, 64, 128, 256),
    "num_warps": (1, 2, 4, 8),
    # Later searches also have 1, 2 and 4, but none of these winners has them.
    "waves_per_eu": (0,),
    "matrix_instr_nonkdim": (16, 32),
    "kpack": (1, 2),
}
_MOE_GROUPS = (1, 4, 8, 16, 32)
# Numbers of experts and columns of published models, with hidden size and experts per token.
_MODELS = {
    8: {1792: (4096, 2), 3584: (4096, 2), 7168: (4096, 2), 14336: (4096, 2)}
    | {2048: (6144, 2), 4096: (6144, 2), 8192: (6144, 2), 16384: (6144, 2)},
    128: {384: (2048, 8), 768: (2048, 8), 1024: (5120, 1)},
    16: {1024: (5120, 1)},
    256: {256: (7168, 8)},
    60: {176: (2048, 4), 352: (2048, 4), 704: (2048, 4), 1408: (2048, 4)},
}


def part_of(name: str) -> str:
    """Return the part that a problem belongs to, by its name; empty if it is in neither."""
    number = sha256(name.encode()).digest()[0] % SHARE
    return PARTS[number] if number < len(PARTS) else ""


def _space(values: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    for combination in product(*values.values()):
        yield dict(zip(values, combination, strict=True))


def _fits(config: Mapping[str, Any], size: int) -> bool:
    """Return whether accumulators fit the registers and tiles the LDS: other configurations compile for minutes."""
    m, n, k = config["BLOCK_M"], config["BLOCK_N"], config["BLOCK_K"]
    return m * n <= 256 * 64 * config["num_warps"] and (m + n) * k * size <= 65536


def block_fp8(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return problems of the rows that set ``kpack`` (one searcher)."""
    return _block_problems(rows, "MI300X", quick=quick)


def block_fp8_others(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return such problems on other GPUs of the generation."""
    return [p for gpu in _OTHERS for p in _block_problems(rows, gpu, quick=False) if p.part == PARTS[-1]][
        : 6 if quick else None
    ]


def _block_problems(rows: Sequence[Row], gpu: str, *, quick: bool) -> list[Problem]:
    known = [r for r in rows if r.kernel == "_w8a8_block_fp8_matmul" and r.gpu.endswith(gpu) and "kpack" in r.config]
    return _drawn([problem for _, problem in each(rows, known, lambda row: _block_problem(row, gpu))], quick=quick)


def _drawn(problems: Sequence[Problem], *, quick: bool) -> list[Problem]:
    """Return the problems that are in a part; if ``quick``, only a few of the first part."""
    parts = PARTS[:1] if quick else PARTS
    found = [problem for part in parts for problem in problems if problem.part == part]
    return found[:: max(1, len(found) // 6)] if quick else found


def _block_problem(row: Row, gpu: str) -> Problem:
    m, n, k = (int(row.shape[side]) for side in "MNK")
    shape = {"M": m, "N": n, "K": k}
    winner = renamed(row.config, _NAMES)
    name = f"{gpu} {m}x{n}x{k}"
    moved = gemm_bytes(m, n, k, 1)
    space = [dict(c) for c in _space(_FP8_SPACE) if _fits(c, 1)]
    others = [c for c in space if not all(winner[name] == value for name, value in c.items())]
    others = _sampled(others, name)

    def candidate(config: Mapping[str, Any], *, is_winner: bool) -> Candidate:
        point = Point("block_fp8", shape, config, gpu, _OLD, condition=in_a_row(moved))
        return Candidate((point,), config, winner=is_winner, triton=row.triton)

    candidates = (candidate(winner, is_winner=True), *(candidate(c, is_winner=False) for c in others))
    return Problem(name, candidates, 2.0 * m * n * k, moved, "fp8", gpu, ((m, n, k, 1, 1),), part_of(name))


def _sampled(configs: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return random.Random(name).sample(configs, CONFIGS) if len(configs) > CONFIGS else list(configs)


def fused_moe(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return problems in fp16, and in FP8 with one scale per tensor."""
    return _moe_problems(rows, "MI300X", quick=quick)


def fused_moe_others(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return such problems on other GPUs of the generation."""
    return [p for gpu in _OTHERS for p in _moe_problems(rows, gpu, quick=False) if p.part == PARTS[-1]][
        : 6 if quick else None
    ]


def _moe_problems(rows: Sequence[Row], gpu: str, *, quick: bool) -> list[Problem]:
    found = []
    for published, dtype in (("bf16/fp16", "fp16"), ("fp8_w8a8", "fp8e4b8")):
        known = [
            row
            for row in rows
            if row.kernel == "fused_moe_kernel"
            and row.gpu.endswith(gpu)
            and row.dtype == published
            and "block_shape" not in row.shape
            and row.config.get("waves_per_eu") == 0
        ]
        # Both functions are called in this iteration of the loop.
        read = each(rows, known, lambda row: _moe_problem(row, gpu, dtype))  # noqa: B023
        found += [problem for _, problem in read]
    return _drawn(found, quick=quick)


def _moe_problem(row: Row, gpu: str, dtype: str) -> Problem:
    experts, tokens, columns = (int(row.shape[name]) for name in ("E", "M", "N"))
    if columns not in _MODELS.get(experts, {}):
        raise UnusableError("a mixture of experts whose hidden size is not known")
    hidden, top_k = _MODELS[experts][columns]
    name = f"{gpu} {dtype} E={experts} N={columns} M={tokens}"
    part = part_of(name)
    if not part:
        return Problem(name, (), 0.0, 0.0, "", gpu)
    rows = tokens * top_k
    size = 2 if dtype == "fp16" else 1
    routed = rows_of_experts(experts, rows // top_k, top_k)
    # The tuned function consists of both projections: up and gate to 2 N columns, then down. It was timed ten times in
    # a row with the same rows and weights.
    counts = {height: blocks(routed, height) for height in _MOE_SPACE["BLOCK_M"]}
    owners = {height: (("experts", experts_of_blocks(routed[0], height, count)),) for height, count in counts.items()}
    up = {"E": experts, "N": 2 * columns, "K": hidden, "rows": rows, "top_k": top_k, "dtype": dtype, "blocks": counts}
    up |= {"chosen": top_k, "side": "up"}
    down = {**up, "N": hidden, "K": columns, "top_k": 1, "side": "down"}
    touched = sum(sum(n > 0 for n in load) for load in routed) / len(routed)
    moved = touched * 3.0 * columns * hidden * size + rows * (
        hidden * size + 2 * columns * 2 + columns * size + hidden * 2
    )
    again = in_a_row(moved)
    winner = {k: v for k, v in renamed(row.config, _NAMES).items() if k != "SPLIT_K"}
    others = [
        config
        for tile in _moe_tiles(size)
        for group in _MOE_GROUPS
        if (config := {**tile, "GROUP_M": group, "num_stages": 2}) != winner
        and _worth(config, rows, (2 * columns, hidden), (hidden, columns))
    ]
    configs = [winner, *_sampled(others, name)]
    candidates = tuple(
        Candidate(
            tuple(
                Point("fused_moe", side, config, gpu, _OLD, condition=again, contents=owners[config["BLOCK_M"]])
                for side in (up, down)
            ),
            config,
            winner=config is winner,
            triton=row.triton,
        )
        for config in configs
    )
    sides = ((rows, 2 * columns, hidden, 1, size), (rows, hidden, columns, 1, size))
    rate = "fp16" if size == 2 else "fp8"
    return Problem(name, candidates, 6.0 * rows * columns * hidden, moved, rate, gpu, sides, part)


@cache
def _moe_tiles(size: int) -> tuple[dict[str, Any], ...]:
    """Return the sample of compiles; FP8 has no choice of matrix instruction and no BLOCK_K of 16."""
    space = dict(_MOE_SPACE)
    if size == 1:
        space |= {"BLOCK_K": (32, 64, 128, 256), "matrix_instr_nonkdim": (0,), "kpack": (1,)}
    legal = [config for config in _space(space) if _fits(config, size) and _matches(config)]
    return tuple(random.Random(SEED).sample(legal, TILES))


def _matches(config: Mapping[str, Any]) -> bool:
    return config["matrix_instr_nonkdim"] <= min(config["BLOCK_M"], config["BLOCK_N"])


def _worth(config: Mapping[str, Any], rows: int, *sides: tuple[int, int]) -> bool:
    """Return whether vLLM's searcher times a configuration: it must be kept for one of both projections (N, K)."""
    return any(_worth_for(config, rows, n, k) for n, k in sides)


def _worth_for(config: Mapping[str, Any], m: int, n: int, k: int) -> bool:
    block_m, block_n, block_k, group = (config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M"))
    if (2 * m < block_m and block_m != 16) or (2 * n < block_n and block_n != 16):
        return False
    if k % block_k or (group > 1 and group * block_m > m):
        return False
    if config["matrix_instr_nonkdim"] > (16 if m < 32 or n < 32 else 32):
        return False
    large = m >= 2048 and n >= 2048
    return not large or (min(block_m, block_n, block_k) >= 64 and config["num_warps"] >= 4)


SERVERS = ("vllm", "sglang")
"""Both servers have these kernels, with a common origin; the winners are vLLM's."""
_DRAWN = (
    f"One problem in {SHARE} by a hash of its name is *looked at* (single problems were diagnosed while the model was "
    f"worked on), one in {SHARE} is *held out* (only counted). "
)
_MOE_NOTE = (
    _DRAWN
    + f"Of those whose model is known (its hidden size is not in the data). {TILES} compiles for a type, sampled "
    "of the space that vLLM's benchmark_moe.py searched on ROCm when the winners were made (waves_per_eu 0 only, as "
    "all of them have; fp16), with GROUP_M 1, 4, 8, 16, 32, without what its pruning drops, nor accumulators of more "
    f"than 256 registers; {CONFIGS} of these configurations a problem, and the winner. Timed ten times in a row in a "
    "captured graph with the same routing: weights that fit the Infinity Cache are there."
)
_BLOCK_NOTE = (
    _DRAWN
    + "Of those that name kpack. The searched space is not published; ours is BLOCK_M and BLOCK_N from 32 to 256, "
    "BLOCK_K from 32 to 128 and GROUP_M 1, 8, 16, 32, as far as it fits registers and LDS, with 4 warps, kpack 1 and "
    f"16 x 16 instructions, in which all published winners of that searcher agree; {CONFIGS} of them a problem, and "
    "the winner. Taken as timed again and again with the same operands."
)
_MOE_DIFFERS = "GROUP_M is a launch argument, routing weights are left out, only blocks with rows are launched"
_BLOCK_DIFFERS = "GROUP_M is a launch argument"

FAMILIES = (
    Family(
        "fused_moe", "vLLM fused MoE winners, MI300X", "winner", _MOE_DIFFERS, fused_moe, _MOE_NOTE, packages=SERVERS
    ),
    Family(
        "block_fp8",
        "vLLM block-scaled FP8 GEMM winners, MI300X",
        "winner",
        _BLOCK_DIFFERS,
        block_fp8,
        _BLOCK_NOTE,
        packages=SERVERS,
    ),
    Family(
        "fused_moe_others",
        "vLLM fused MoE winners, MI325X and MI308X",
        "winner",
        _MOE_DIFFERS,
        fused_moe_others,
        "As on the MI300X; nothing was chosen on these.",
        packages=SERVERS,
    ),
    Family(
        "block_fp8_others",
        "vLLM block-scaled FP8 GEMM winners, MI325X",
        "winner",
        _BLOCK_DIFFERS,
        block_fp8_others,
        "As on the MI300X; nothing was chosen on these.",
        packages=SERVERS,
    ),
)
