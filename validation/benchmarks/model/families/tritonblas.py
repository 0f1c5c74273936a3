"""tritonBLAS's persistent matrix product: timed sweeps, one workgroup per CU."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from validation.benchmarks.model.compiling import Point
from validation.benchmarks.model.data import Row, UnusableError, each, grouped
from validation.benchmarks.model.problem import Candidate, Family, Problem, gemm_bytes

_SIDES = tuple("MNK")
_TYPES = {"bf16": "bf16", "bfloat16": "bf16", "fp16": "fp16", "float16": "fp16"}
# Properties that a label contains if no column does: "wpe=2, split=75/25", "mfma32, kp1, w8", ".cg BK=32".
_LABELS = {
    "waves_per_eu": r"\bwpe\s*=\s*(\d+)",
    "BLOCK_K": r"\bbk\s*=?\s*(\d+)",
    "num_warps": r"\bw(?:arps=)?(\d+)\b",
    "kpack": r"\bkp(?:ack=)?(\d+)\b",
    "matrix_instr_nonkdim": r"\bmfma(\d+)\b",
    "GROUP_M": r"\b(?:gm|group_m)\s*=?\s*(\d+)",
}
_NAMES = {f"BLOCK_SIZE_{side}": f"BLOCK_{side}" for side in _SIDES} | {"GROUP_SIZE_M": "GROUP_M"}
_KNOBS = {"BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps", "num_stages", "waves_per_eu", "kpack"}
_KNOBS |= {"matrix_instr_nonkdim", "LOCAL_SHARE", "schedule_hint", "instruction_sched_variant"}
_ALIKE = {"label", "layout", "cache_modifier", "tag"}


def problems(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return one problem for each published table; ``quick`` uses every third row of long tables."""
    chosen = (r for r in rows if r.kernel == "ws_hierarchical_matmul" and r.kind == "sweep" and r.time_us is not None)
    found = []
    for name, read in grouped(each(rows, chosen, _launch)).items():
        point, side, rate = read[0][1]
        candidates = [
            Candidate((p,), row.config, row.time_us, row.suspect, triton=row.triton) for row, (p, _, _) in read
        ]
        m, n, k = side
        short = name.removeprefix("tritonBLAS-")
        few = tuple(candidates[::3] if quick and len(candidates) > 20 else candidates)
        flops = 2.0 * m * n * k
        found.append(Problem(short, few, flops, gemm_bytes(m, n, k, 2), rate, point.product, ((m, n, k, 1, 2),)))
    return found


def _launch(row: Row) -> tuple[Point, tuple[int, int, int], str]:
    """Return the launch, its sizes and its type."""
    from kprof.hardware.machine import find_product
    from kprof.kernel_spec import Tensor

    m, n, k = _sizes(row.shape)
    rate = _TYPES.get((row.dtype or "bf16").split()[0].lower())
    if rate is None:
        raise UnusableError(f"type {row.dtype} is not ours")
    if str(row.config.get("layout") or "NN").upper() != "NN":
        raise UnusableError(f"layout {row.config['layout']} is not ours")
    product = row.product
    found = find_product(product)
    units = found.compute_units if found is not None else None
    changed: dict[str, Any] = {}
    if rate != "bf16":
        changed |= {name: Tensor(rate, sides) for name, sides in (("A", (m, k)), ("B", (k, n)), ("C", (m, n)))}
    if units is not None and units != 304:
        changed |= {"GRID": units, "active": Tensor("i32", (units,))}
    grid = (units,) if units is not None and units != 304 else None
    config = _config(row)
    shape = {"M": m, "N": n, "K": k, "GRID": units or 304, "dtype": rate}
    point = Point("tritonblas", shape, config, product, (), tuple(changed.items()), grid)
    return point, (m, n, k), rate


def _sizes(shape: Mapping[str, Any]) -> tuple[int, int, int]:
    """Return rows, columns and depth, from a tag ("combo_12288", "4096x8192x1024") if no column has them."""
    if any(side in shape for side in _SIDES):
        given = [int(shape[side]) for side in _SIDES if side in shape]
        # A square product has only one size.
        m, n, k = (int(shape.get(side, given[-1])) for side in _SIDES)
    else:
        numbers = [int(n) for n in re.findall(r"\d+", str(shape.get("tag", "")))]
        if len(numbers) not in {1, 3}:
            raise UnusableError("no sizes")
        m, n, k = numbers if len(numbers) == 3 else numbers * 3
    if min(m, n, k) < 1:
        raise UnusableError("no sizes")
    return m, n, k


def _config(row: Row) -> dict[str, Any]:
    """Return the configuration; rows with only a label have the default tile with the label's changes."""
    label = str(row.config.get("label") or "")
    fixed: dict[str, Any] = {
        name: int(found.group(1))
        for name, pattern in _LABELS.items()
        if row.config.get(name) is None and (found := re.search(pattern, label, re.IGNORECASE))
    }
    split = re.search(r"split\s*=\s*(\d+)(?:\s*/\s*(\d+))?", label)
    if split:
        fixed["LOCAL_SHARE"] = int(split.group(1)) / 100
    modifier = re.search(r"\.c[agvsw]\b", label)
    fixed["MODIFIER"] = row.config.get("cache_modifier") or (modifier.group() if modifier else "")
    return row.knobs(_NAMES, _KNOBS, _ALIKE) | fixed


FAMILY = Family(
    name="tritonblas",
    title="tritonBLAS persistent GEMM",
    question="order",
    differs="tiles are dealt out in turn instead of drawn from atomic counters (inner loops compile alike)",
    problems=problems,
    packages=("tritonblas",),
    note=(
        "The 12,288 sweep repeats configurations that compile to the same code, and seven of its 60 times are marked "
        "as disturbances by the collectors: one and the same machine code was timed at 6.9 and at 30.3 ms. `raw` has "
        "all rows; `distinct` the shortest time of each machine code with its grid and arguments; `clean` leaves out "
        "the marked rows first. GROUP_M of the phase4 rows was chosen at run time and is assumed to be 4 by the "
        "collectors; the phase5b rows name the division of tiles only and differ by 3 %, which is left out of averages."
    ),
)
