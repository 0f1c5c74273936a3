"""Matrix products of kernels without their own family, by the knobs of their configurations."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from validation.benchmarks.model.data import Row, UnusableError, each, grouped
from validation.benchmarks.model.families.aiter_gemm import Kind, Product, config_of
from validation.benchmarks.model.problem import Candidate, Family, Problem

_OTHERS = re.compile(r"ws_hierarchical_matmul|inductor .*|streamk_gemm|fused_moe_kernel|_w8a8_block_fp8_matmul")
_TIMED = re.compile(r"tune_gemm matmul_kernel")
"""Kernels whose single times have a family; sweeps have none."""
_TYPES = {"bf16": "bf16", "bfloat16": "bf16", "fp16": "fp16", "float16": "fp16", "half": "fp16"}
_EIGHT = ("fp8", "f8", "float8", "e4m3", "w8a8", "a8w8")


def _kind(row: Row) -> Kind:
    """Return types and scales from the type column, or else from the kernel's name."""
    dtype, name = row.dtype.lower(), row.kernel.lower()
    for text in (dtype, name):
        if any(word in text for word in ("fp4", "mxfp4", "e2m1")):
            if re.search(r"a16|a8w|preshuffle", name):
                raise UnusableError("a kernel that we did not write")
            return Kind("gemm_fp4", "fp4", "blocks", 8, 4)
        if any(word in text for word in _EIGHT):
            scales = "blocks" if "block" in name else "rows" if "a8w8" in name or "w8a8" in name else "none"
            return Kind("gemm_split", "fp8", scales, 1 if scales == "blocks" else 8, 8)
        for word, ours in _TYPES.items():
            if word in re.split(r"[^a-z0-9]+", text):
                return Kind("gemm_split", ours, "none", 8, 16)
        if re.search(r"a16_?w16", text):
            return Kind("gemm_split", "bf16", "none", 8, 16)
    raise UnusableError(f"type {row.dtype or 'not named'} is not ours")


def _read(row: Row) -> tuple[Product, dict[str, Any]]:
    kind = _kind(row)
    if re.search("preshuffle|gated|fused|mul_add|moe", row.kernel.lower()):
        raise UnusableError("a kernel that we did not write")
    layout = str(row.shape.get("layout") or row.config.get("layout") or "TN").upper()
    if layout not in {"TN", "NT", "NN", "TT"}:
        raise UnusableError(f"layout {layout} is not ours")
    batch = row.number("B") if "B" in row.shape else row.number("batch") if "batch" in row.shape else 1
    if batch > 1 and kind.dtype == "fp4":
        raise UnusableError("a batch of 4-bit products")
    if "tune_gemm" in row.kernel:
        kind = replace(kind, xcds=1)
    m, n, k = (row.number(side) for side in "MNK")
    atomic = "atomic" in row.kernel.lower() or row.kernel.startswith("tune_gemm")
    return Product(m, n, k, kind, row.product, batch, layout == "TN", atomic), config_of(row)


def _gemm(row: Row) -> bool:
    return row.time_us is not None and "gemm" in row.family.lower() and not _OTHERS.fullmatch(row.kernel)


def sweeps(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return problems with several timed configurations."""
    found = []
    chosen = (row for row in rows if row.kind == "sweep" and _gemm(row))
    for name, group in grouped(each(rows, chosen, _read)).items():
        what = group[0][1][0]
        candidates = [
            Candidate(what.points(c), row.config, row.time_us, row.suspect, triton=row.triton) for row, (_, c) in group
        ]
        found.append(what.problem(name, candidates[::3] if quick and len(candidates) > 20 else candidates))
    return found


def times(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return single timed configurations."""
    chosen = [row for row in rows if row.kind == "tuned_best" and _gemm(row) and not _TIMED.fullmatch(row.kernel)]
    found = []
    for row, (what, config) in each(rows, chosen[:: 12 if quick else 1], _read):
        candidate = Candidate(what.points(config), row.config, row.time_us, row.suspect, triton=row.triton)
        found.append(what.problem(row.problem, [candidate]))
    return found


_DIFFERS = (
    "one kernel for all, with split K, streaming loads and numbering by XCD; weights lie along K where no row says"
)
FAMILIES = (
    Family("gemm_sweeps", "GEMM sweeps of other kernels", "order", _DIFFERS, sweeps),
    Family("gemm_times", "GEMM times of other kernels", "time", _DIFFERS, times, private=True),
)
