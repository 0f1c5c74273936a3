"""Timed winners of ROCm's perf-kernels, fp16: stream-K and tune_gemm."""

from collections.abc import Sequence
from typing import Any

from validation.benchmarks.model.baselines import matrix_floor_us
from validation.benchmarks.model.compiling import Point, in_a_row
from validation.benchmarks.model.data import Row, UnusableError, each
from validation.benchmarks.model.problem import Candidate, Family, Problem, gemm_bytes

_NAMES = {f"BLOCK_SIZE_{side}": f"BLOCK_{side}" for side in "MNK"} | {"GROUP_SIZE_M": "GROUP_M", "NUM_SMS": "GRID"}
_OLD = {"AMDGCN_USE_BUFFER_OPS": "0"}


_KNOBS = {"BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps", "num_stages", "waves_per_eu", "kpack", "SPLIT_K"}
_KNOBS |= {"matrix_instr_nonkdim", "GRID", "EVEN_K"}
_IGNORED = {"instruction_sched_variant", "schedule_hint", "EVEN_K", "slice_k_tile"}


def _problem(row: Row, kernel: str, need: set[str]) -> Problem:
    from kprof.hardware.machine import find_product

    m, n, k = (row.number(side) for side in "MNK")
    config = row.knobs(_NAMES, _KNOBS, _IGNORED)
    config["num_stages"] = config.get("num_stages") or 2
    if missing := need - set(config):
        raise UnusableError(f"no {', '.join(sorted(missing))}")
    if not (row.dtype or "fp16").lower().startswith(("fp16", "float16")):
        raise UnusableError(f"type {row.dtype} is not ours")
    product = row.product
    shape: dict[str, Any] = {"M": m, "N": n, "K": k}
    layout = str(row.shape.get("layout") or "TN").upper()
    if layout not in {"TN", "TT"}:
        raise UnusableError(f"layout {layout} is not ours")
    shape["trans_b"] = layout == "TN"
    if kernel == "streamk":
        gpu = find_product(product)
        config.setdefault("GRID", (gpu.compute_units if gpu is not None else None) or 304)
    # Both scripts launch a kernel many times with the same matrices and use the profiler's time of the last launch.
    moved = gemm_bytes(m, n, k, 2)
    point = Point(kernel, shape, config, product, tuple(_OLD.items()), condition=in_a_row(moved))
    name = f"{row.problem.removeprefix('ROCmtriton-')}"
    # 0 stages meant a pipeline before 3.2, and is rejected since.
    triton = row.triton if row.config.get("num_stages") != 0 else _STAGES_0
    candidate = Candidate((point,), row.config, row.time_us, row.suspect, triton=triton)
    found = Problem(name, (candidate,), 2.0 * m * n * k, moved, "fp16", product, ((m, n, k, 1, 2),))
    if (row.time_us or 0.0) < matrix_floor_us(found, candidate):
        raise UnusableError("a time under that of its own matrix instructions at the data sheet's rate")
    return found


_STAGES_0 = "~3.0-3.1"
_BLOCKS = {f"BLOCK_{side}" for side in "MNK"} | {"num_warps"}


def streamk(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return every timed stream-K row, or every twelfth if ``quick``."""
    chosen = [row for row in rows if row.kernel == "streamk_gemm" and row.time_us is not None]
    read = each(rows, chosen[:: 12 if quick else 1], lambda row: _problem(row, "streamk", _BLOCKS))
    return [problem for _, problem in read]


def tune_gemm(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return the timed rows of tune_gemm."""
    timed = (row for row in rows if row.kernel == "tune_gemm matmul_kernel" and row.time_us is not None)
    chosen = [row for row in timed if row.kind != "sweep"]
    read = each(rows, chosen[: 4 if quick else None], lambda row: _problem(row, "tune_gemm", _BLOCKS))
    return [problem for _, problem in read]


_NOTE = (
    "Winners only, of a Triton of 3.0 to 3.2: absolute times and the roofline. Rows with `num_stages=0`, which 3.2 "
    "refuses, are compiled with 3.1.0, the others with 3.2.0. The scripts' instructions: many launches with the same "
    "matrices, the profiler's time of the last; matrices that fit the Infinity Cache are there. A time is left out "
    "that is shorter than what the matrix instructions of one of its own workgroups take at the data sheet's rate: no "
    "code of that configuration has it, whatever ran."
)
FAMILIES = (
    Family(
        "streamk",
        "ROCm stream-K GEMM winners",
        "time",
        "each flag is asked once, instead of waiting for it",
        streamk,
        _NOTE,
        private=True,
        packages=("perf-kernels",),
    ),
    Family(
        "tune_gemm", "ROCm tune_gemm winners", "time", "no numbering by XCD", tune_gemm, _NOTE, private=True,
        packages=("perf-kernels",),
    ),
)  # fmt: skip
