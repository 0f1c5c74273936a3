"""vLLM's tuned configurations of the selective state update (Mamba 2), without times."""

from collections.abc import Sequence
from itertools import product

from validation.benchmarks.model.compiling import Point
from validation.benchmarks.model.data import Row, UnusableError, each
from validation.benchmarks.model.problem import Candidate, Family, Problem

HEADS = 64
"""Number of heads per token: the data only has tokens times heads, and the kernel's time hardly depends on anything
else."""
_TYPES = {"float32": ("fp32", 4), "float16": ("fp16", 2), "bfloat16": ("bf16", 2)}
_SPACE = {"BLOCK_M": (4, 8, 16, 32, 64), "num_warps": (1, 2, 4, 8)}


def _problem(row: Row) -> Problem:
    effective, rows, state = (row.number(name) for name in ("M", "headdim", "dstate"))
    if state & (state - 1):
        raise UnusableError("a state that is no power of two")
    dtype, size = _TYPES[str(row.shape.get("cache_dtype") or "float32")]
    if missing := {"BLOCK_SIZE_M", "num_warps"} - set(row.config):
        raise UnusableError(f"no {', '.join(sorted(missing))}")
    heads = min(HEADS, effective)
    tokens = max(1, effective // heads)
    shape = {"tokens": tokens, "heads": heads, "rows": rows, "state": state, "dtype": dtype}
    winner = {"BLOCK_M": int(row.config["BLOCK_SIZE_M"]), "num_warps": int(row.config["num_warps"])}
    gpu = row.product
    space = [dict(zip(_SPACE, values, strict=True)) for values in product(*_SPACE.values())]
    configs = [winner, *(config for config in space if config != winner)]
    candidates = [
        Candidate((Point("state_update", shape, config, gpu),), row.config if config is winner else config,
                  winner=config is winner, triton=row.triton)
        for config in configs
    ]  # fmt: skip
    moved = tokens * heads * rows * (2.0 * state * size + 4)
    return Problem(f"{gpu} {dtype} {effective}", tuple(candidates), 0.0, moved, "", gpu)


def winners(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return every published winner, or every eighth if ``quick``."""
    chosen = [row for row in rows if row.kernel == "_selective_scan_update_kernel" and row.kind == "tuned_best"]
    chosen.sort(key=lambda row: row.problem)
    return [problem for _, problem in each(rows, chosen[:: 8 if quick else 1], _problem)]


FAMILIES = (
    Family(
        "state_update",
        "vLLM selective state update winners",
        "winner",
        "one token a sequence, slots in order; 64 heads a token are assumed",
        winners,
        "All published winners. The space is the whole of vLLM's benchmark, BLOCK_SIZE_M from 4 to 64 and 2 to 8 "
        "warps, and one warp, which many winners have: 20 configurations, of which most take the same time, since all "
        "move the same bytes once.",
        packages=("vllm",),
    ),
)
