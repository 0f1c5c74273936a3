"""Timed winners of ROCm's perf-kernels on MI300X, fp16: 421 stream-K rows and 13 of tune_gemm."""

from collections.abc import Sequence
from typing import Any

from benchmarks.model.compiling import Point
from benchmarks.model.data import Row
from benchmarks.model.problem import Candidate, Family, Problem, gemm_bytes, renamed

PRODUCT = "MI300X"
_NAMES = {f"BLOCK_SIZE_{side}": f"BLOCK_{side}" for side in "MNK"} | {"GROUP_SIZE_M": "GROUP_M", "NUM_SMS": "GRID"}
_OLD = {"AMDGCN_USE_BUFFER_OPS": "0"}


def _problem(row: Row, kernel: str, extra: dict[str, Any]) -> Problem:
    m, n, k = (int(row.shape[side]) for side in "MNK")
    published = {name: value for name, value in row.config.items() if name != "instruction_sched_variant"}
    stages = published.get("num_stages") or 2
    config = renamed(published, _NAMES, num_stages=stages)
    point = Point(kernel, {"M": m, "N": n, "K": k, **extra}, config, PRODUCT, tuple(_OLD.items()))
    name = f"{row.problem.removeprefix('ROCmtriton-')}"
    candidate = Candidate((point,), row.config, row.time_us)
    return Problem(name, (candidate,), 2.0 * m * n * k, gemm_bytes(m, n, k, 2), "fp16", PRODUCT, ((m, n, k, 1, 2),))


def streamk(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Every timed stream-K row; every twelfth when ``quick``."""
    chosen = [row for row in rows if row.kernel == "streamk_gemm" and row.time_us is not None]
    return [_problem(row, "streamk", {}) for row in chosen[:: 12 if quick else 1]]


def tune_gemm(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """The timed rows of tune_gemm."""
    chosen = [row for row in rows if row.kernel == "tune_gemm matmul_kernel" and row.time_us is not None]
    return [
        _problem(row, "tune_gemm", {"trans_b": row.shape["layout"] == "TN"}) for row in chosen[: 4 if quick else None]
    ]


_NOTE = "Winners only, of a Triton of 3.0 to 3.2 (`num_stages=0` means 2 today): absolute times and the roofline."
FAMILIES = (
    Family(
        "streamk",
        "ROCm stream-K GEMM winners, MI300X",
        "time",
        "each flag is asked once, instead of waiting for it",
        streamk,
        _NOTE,
    ),
    Family("tune_gemm", "ROCm tune_gemm winners, MI300X", "time", "no numbering by XCD", tune_gemm, _NOTE),
)
