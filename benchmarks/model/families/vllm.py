"""Winners that vLLM ships for MI300X: fused mixture of experts and block-scaled FP8 products, without times.

What can be asked is where the model puts the winner among the configurations that were searched. The searched spaces
are not published with the winners: ours are stated here. Problems are sampled with a fixed seed.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

from benchmarks.model.compiling import Point
from benchmarks.model.data import Row
from benchmarks.model.problem import Candidate, Family, Problem, gemm_bytes, renamed

PRODUCT = "MI300X"
SEED = 7
DRAWS = (7, 11)
"""Seeds of the samples of problems: one draw of twelve says little."""
PROBLEMS = 12
"""Problems of each draw and kernel."""
TILES = 150
"""Compiles sampled of the mixture of experts' space, each with every GROUP_M."""
_NAMES = {f"BLOCK_SIZE_{side}": f"BLOCK_{side}" for side in "MNK"} | {"GROUP_SIZE_M": "GROUP_M"}

# The 648 rows of the searcher that names kpack agree in kpack, matrix instruction and warps: those were not searched.
# A block of K beyond 128 would span two scales, of which the kernel reads one.
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
    "waves_per_eu": (0, 1, 2, 4),
    "matrix_instr_nonkdim": (16, 32),
    "kpack": (1, 2),
}
_MOE_GROUPS = (1, 4, 8, 16, 32)
# Experts and columns that belong to a published model: its hidden size and experts a token.
_MODELS = {
    8: {1792: (4096, 2), 3584: (4096, 2), 7168: (4096, 2), 14336: (4096, 2)}
    | {2048: (6144, 2), 4096: (6144, 2), 8192: (6144, 2), 16384: (6144, 2)},
    128: {384: (2048, 8), 768: (2048, 8), 1024: (5120, 1)},
    16: {1024: (5120, 1)},
    256: {256: (7168, 8)},
    60: {176: (2048, 4), 352: (2048, 4), 704: (2048, 4), 1408: (2048, 4)},
}


def _space(values: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    for combination in product(*values.values()):
        yield dict(zip(values, combination, strict=True))


def _fits(config: Mapping[str, Any], size: int) -> bool:
    """Whether accumulators fit the registers and tiles the LDS: the others are slow and take minutes to compile."""
    m, n, k = config["BLOCK_M"], config["BLOCK_N"], config["BLOCK_K"]
    return m * n <= 256 * 64 * config["num_warps"] and (m + n) * k * size <= 65536


def block_fp8(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Sampled problems of the rows that name ``kpack`` (one searcher); the space whole."""
    known = [
        r for r in rows if r.kernel == "_w8a8_block_fp8_matmul" and r.gpu.endswith("MI300X") and "kpack" in r.config
    ]
    chosen = _drawn(known, 2 if quick else PROBLEMS)
    return [_block_problem(row) for row in sorted(chosen, key=lambda row: row.problem)]


def _drawn(known: Sequence[Row], count: int) -> list[Row]:
    """``count`` rows of each draw, none twice."""
    drawn = (row for seed in DRAWS for row in random.Random(seed).sample(known, count))
    return list({row.problem: row for row in drawn}.values())


def _block_problem(row: Row) -> Problem:
    m, n, k = (int(row.shape[side]) for side in "MNK")
    shape = {"M": m, "N": n, "K": k}
    winner = renamed(row.config, _NAMES)
    space = [dict(c) for c in _space(_FP8_SPACE) if _fits(c, 1)]
    candidates = [
        Candidate((Point("block_fp8", shape, config, PRODUCT),), config)
        for config in space
        if not all(winner[name] == value for name, value in config.items())
    ]
    candidates.insert(0, Candidate((Point("block_fp8", shape, winner, PRODUCT),), row.config, winner=True))
    name = f"{m}x{n}x{k}"
    return Problem(name, tuple(candidates), 2.0 * m * n * k, gemm_bytes(m, n, k, 1), "fp8", PRODUCT, ((m, n, k, 1, 1),))


def fused_moe(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Sampled problems, half of them bf16 and half FP8 with one scale for a tensor; a sampled space."""
    found = []
    for dtype in ("bf16/fp16", "fp8_w8a8"):
        known = [
            row
            for row in rows
            if row.kernel == "fused_moe_kernel"
            and row.gpu.endswith("MI300X")
            and row.dtype == dtype
            and "block_shape" not in row.shape
            and int(row.shape["N"]) in _MODELS.get(int(row.shape["E"]), {})
        ]
        chosen = _drawn(known, 1 if quick else PROBLEMS // 2)
        found += [_moe_problem(row, "bf16" if dtype == "bf16/fp16" else "fp8e4b8") for row in chosen]
    return found


def _moe_problem(row: Row, dtype: str) -> Problem:
    experts, tokens, columns = (int(row.shape[name]) for name in ("E", "M", "N"))
    hidden, top_k = _MODELS[experts][columns]
    rows = tokens * top_k
    size = 2 if dtype == "bf16" else 1
    blocks = _blocks(experts, rows, top_k)
    # The tuned function is both projections: up and gate to 2 N columns, then down.
    up = {"E": experts, "N": 2 * columns, "K": hidden, "rows": rows, "top_k": top_k, "dtype": dtype, "blocks": blocks}
    down = {**up, "N": hidden, "K": columns, "top_k": 1}
    winner = {k: v for k, v in renamed(row.config, _NAMES).items() if k != "SPLIT_K"}
    configs = [winner]
    for tile in _moe_tiles(size):
        for group in _MOE_GROUPS:
            config = {**tile, "GROUP_M": group, "num_stages": 2}
            if _worth(config, rows, (2 * columns, hidden), (hidden, columns)) and config != winner:
                configs.append(config)
    candidates = tuple(
        Candidate(
            (Point("fused_moe", up, config, PRODUCT), Point("fused_moe", down, config, PRODUCT)),
            config,
            winner=config is winner,
        )
        for config in configs
    )
    touched = min(experts, rows)
    moved = touched * 3.0 * columns * hidden * size + rows * (
        hidden * size + 2 * columns * 2 + columns * size + hidden * 2
    )
    name = f"{dtype} E={experts} N={columns} M={tokens}"
    sides = ((rows, 2 * columns, hidden, 1, size), (rows, hidden, columns, 1, size))
    rate = "bf16" if size == 2 else "fp8"
    return Problem(name, candidates, 6.0 * rows * columns * hidden, moved, rate, PRODUCT, sides)


@cache
def _moe_tiles(size: int) -> tuple[dict[str, Any], ...]:
    """The sample of compiles: FP8 has no choice of matrix instruction and no BLOCK_K of 16."""
    space = dict(_MOE_SPACE)
    if size == 1:
        space |= {"BLOCK_K": (32, 64, 128, 256), "matrix_instr_nonkdim": (0,), "kpack": (1,)}
    legal = [config for config in _space(space) if _fits(config, size) and _matches(config)]
    return tuple(random.Random(SEED).sample(legal, TILES))


def _matches(config: Mapping[str, Any]) -> bool:
    return config["matrix_instr_nonkdim"] <= min(config["BLOCK_M"], config["BLOCK_N"])


def _worth(config: Mapping[str, Any], rows: int, *sides: tuple[int, int]) -> bool:
    """What vLLM's searcher drops before it times anything, for both projections (N, K): kept if either keeps it."""
    return any(_worth_for(config, rows, n, k) for n, k in sides)


def _worth_for(config: Mapping[str, Any], m: int, n: int, k: int) -> bool:
    block_m, block_n, block_k, group = (config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M"))
    if (2 * m < block_m and block_m != 16) or (2 * n < block_n and block_n != 16):
        return False
    if k % block_k or (group > 1 and group * block_m > m):
        return False
    large = m >= 2048 and n >= 2048
    return not large or (min(block_m, block_n, block_k) >= 64 and config["num_warps"] >= 4)


def _blocks(experts: int, rows: int, top_k: int) -> dict[int, int]:
    """Blocks of rows of each height that routing at random needs, on average over 16 draws."""
    draw = random.Random(SEED)
    counts = []
    for _ in range(16):
        load = [0] * experts
        for _ in range(rows // top_k):
            for expert in draw.sample(range(experts), top_k):
                load[expert] += 1
        counts.append(load)
    return {
        height: max(1, round(sum(sum(-(-n // height) for n in load) for load in counts) / len(counts)))
        for height in (16, 32, 64, 128, 256)
    }


FAMILIES = (
    Family(
        "fused_moe",
        "vLLM fused MoE winners, MI300X",
        "winner",
        "GROUP_M is a launch argument, routing weights are left out, only blocks with rows are launched",
        fused_moe,
        f"Two draws of {PROBLEMS} problems (seeds 7 and 11) of those whose model is known (its hidden size is not in "
        f"the data), half bf16 and half FP8; {TILES} compiles sampled of the space that vLLM's benchmark_moe.py "
        "searches on ROCm, each with GROUP_M 1, 4, 8, 16, 32, without what its pruning drops, and the winner.",
    ),
    Family(
        "block_fp8",
        "vLLM block-scaled FP8 GEMM winners, MI300X",
        "winner",
        "GROUP_M is a launch argument",
        block_fp8,
        f"Two draws of {PROBLEMS} problems (seeds 7 and 11) of those that name kpack. The searched space is not "
        "published; ours is BLOCK_M and BLOCK_N from 32 to 256, BLOCK_K from 32 to 128 and GROUP_M 1, 8, 16, 32, as "
        "far as it fits registers and LDS, with 4 warps, kpack 1 and 16 x 16 instructions, in which all 648 published "
        "winners of that searcher agree.",
    ),
)
