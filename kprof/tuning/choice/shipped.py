"""Predicted times shipped with kprof, used where nothing can or may be compiled: ``shipped.json``.

``validation/predict_shipped.py`` writes the file. The file records the versions of Triton and kprof and the kprof
revision, since another Triton compiles the same kernel to different code. Lists in the file refer to each other by
position, to keep it small:

* ``variants``: pairs of configuration and the model's explanation;
* ``kernels``: for each kernel, its parameter names and its rows ``[product, values, times]``. ``times`` is an object
  from implementation to ``[ms, low, high, variant]``.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from kprof.errors import KprofError
from kprof.hardware.machine import Product
from kprof.kernel_spec import Kernel, Shape
from kprof.tuning.choice.distance import distance, numbers, too_far
from kprof.tuning.choice.model import ConsideredImplementation
from kprof.tuning.choice.predicting import illegal

FILE = Path(__file__).with_name("shipped.json")
CONDITION = "flushed caches, without events"
"""Condition of all times in the file."""
_ABOUT = "Predicted by kprof's model, not measured; milliseconds per call. Written by validation/predict_shipped.py."


class ShippedTime(NamedTuple):
    """One implementation's time in milliseconds with its range, its configuration and the model's explanation."""

    ms: float
    low_ms: float
    high_ms: float
    config: dict[str, Any]
    reason: str


class ShippedRow(NamedTuple):
    """One problem on one product: parameters with resolved dtypes, and the time of each implementation."""

    product: str
    shape: dict[str, Any]
    times: dict[str, ShippedTime]


@dataclass
class ShippedTable:
    """The contents of ``shipped.json``.

    Attributes:
        triton, kprof: versions that wrote the file.
        revision: revision of kprof's sources.
        kernels: the table's rows, by the name of the kernel that the user asks for.
    """

    triton: str
    kprof: str
    revision: str
    kernels: dict[str, list[ShippedRow]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path = FILE) -> "ShippedTable":
        """Read the table from a file, by default the file in the package."""
        data = json.loads(path.read_text(encoding="utf-8"))
        variants = data["variants"]
        table = cls(data["triton"], data["kprof"], data["revision"])
        for name, kept in data["kernels"].items():
            table.kernels[name] = [
                ShippedRow(
                    product,
                    dict(zip(kept["parameters"], values, strict=True)),
                    {one: ShippedTime(*time, *variants[variant]) for one, (*time, variant) in times.items()},
                )
                for product, values, times in kept["rows"]
            ]
        return table


def written(table: ShippedTable) -> str:
    """Return the file's text, with one line per row so that diffs are readable."""
    variants: dict[str, int] = {}
    kernels = []
    for name, rows in sorted(table.kernels.items()):
        if not rows:
            continue
        lines = []
        for row in rows:
            times = {}
            for one, time in row.times.items():
                kept = _compact_json([time.config, time.reason])
                short = (float(f"{time.ms:.4g}"), float(f"{time.low_ms:.3g}"), float(f"{time.high_ms:.3g}"))
                times[one] = [*short, variants.setdefault(kept, len(variants))]
            lines.append(_compact_json([row.product, list(row.shape.values()), times]))
        parameters, body = _compact_json(list(rows[0].shape)), ",\n".join(lines)
        kernels.append(f'"{name}": {{"parameters": {parameters}, "rows": [\n{body}]}}')
    head = {"about": _ABOUT, "triton": table.triton, "kprof": table.kprof, "revision": table.revision}
    rows_text, variants_text = ",\n".join(kernels), ",\n".join(variants)
    return f'{_compact_json(head)[:-1]},\n"variants": [\n{variants_text}],\n"kernels": {{\n{rows_text}}}}}\n'


def _compact_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


class Shipped(NamedTuple):
    """The shipped table's answer for a problem.

    Attributes:
        candidates: the given candidates, with times if the row has them; empty if no row is near.
        shape: the row's problem; ``None`` if no row is near.
        distance: distance between the problem and the row.
        notes: origin of the times, or the reason why there are none.
    """

    candidates: list[ConsideredImplementation]
    shape: dict[str, Any] | None
    distance: float | None
    notes: list[str]


def shipped(
    kernel: Kernel,
    shape: Shape,
    product: Product,
    forms: list[tuple[Kernel, ConsideredImplementation]],
) -> Shipped:
    """Return the times in the shipped table for a problem, or for the nearest problem in the table.

    Args:
        kernel: the kernel whose problem is solved.
        shape: problem parameters, dtypes resolved.
        product: the GPU; rows of other products do not count.
        forms: the bundled kernels to look up, each as a candidate that has no time yet.
    """
    table = _table()
    rows = [row for row in table.kernels.get(kernel.name, ()) if row.product == product.name]
    near = [(gap, at) for at, row in enumerate(rows) if (gap := distance(shape, row.shape)) is not None]
    gap, at = min(near, default=(0.0, -1))
    if at < 0:
        return Shipped([], None, None, _nothing(table, kernel.name, product.name, shape, rows))
    where = f"shipped table, nearest shape {numbers(rows[at].shape)}" if gap else "shipped table"
    found = [_timed(form, one, rows[at].times, product.arch, one.shape or shape) for form, one in forms]
    found = [replace(one, reason=f"{where}: {one.reason}") if one.ms is not None else one for one in found]
    made = f"kprof {table.kprof} ({table.revision}), Triton {table.triton}"
    if not any(one.ms is not None for one in found):
        return Shipped(
            [], None, None, [f"shipped table ({made}): no time for any implementation that supports this problem"]
        )
    mine = usable_triton()
    here = f"Triton {mine} is installed, which may compile other code" if mine else "there is no usable Triton here"
    note = f"the times are predictions from the table shipped with kprof: {made}"
    return Shipped(found, rows[at].shape, gap, [note if mine == table.triton else f"{note}; {here}"])


class ShippedComparison(NamedTuple):
    """A kernel's predicted time beside that of another kernel for the same problem, for one case on one product.

    Attributes:
        product: the GPU.
        case: the kernel's case.
        other: the other kernel.
        needs: inputs that only the other kernel needs, such as V stored transposed; empty if both take the same.
        speedup: time of the other kernel divided by this kernel's; below 1 the other kernel is predicted to be faster.
    """

    product: str
    case: str
    other: str
    needs: str
    speedup: float


def shipped_comparisons(kernel: Kernel) -> list[ShippedComparison]:
    """Compare a bundled kernel's cases with other bundled kernels, by the times of the shipped table."""
    from kprof.hardware.machine import load_gpu
    from kprof.tuning.choice.predicting import bundled

    found = []
    rows = _table().kernels.get(kernel.name, ())
    for product in dict.fromkeys(row.product for row in rows):
        arch = load_gpu(product)[0].name
        times = {_compact_json(sorted(row.shape.items())): row.times for row in rows if row.product == product}
        for case in kernel.shapes:
            shape = kernel.problem(arch, case)
            known = times.get(_compact_json(sorted(shape.items())), {})
            mine = known.get(kernel.name)
            for _, one in bundled(kernel, shape, arch, product):
                theirs = known.get(one.implementation) if one.implementation != kernel.name else None
                if mine is not None and theirs is not None:
                    speedup = theirs.ms / mine.ms
                    found.append(ShippedComparison(product, case, one.implementation, one.needs, speedup))
    return found


def _timed(
    form: Kernel, one: ConsideredImplementation, times: Mapping[str, ShippedTime], arch: str, shape: Shape
) -> ConsideredImplementation:
    known = times.get(one.implementation)
    if known is None or not one.usable:
        return one
    if problem := illegal(form, known.config, shape, arch):
        return replace(one, reason=f"the shipped table's configuration does not fit: {problem}")
    ms, low, high, config, reason = known
    bound = reason.partition("; ")[2]
    return replace(one, basis="predicted", ms=ms, low_ms=low, high_ms=high, config=config, reason=reason, bound=bound)


def _nothing(table: ShippedTable, kernel: str, device: str, shape: Shape, rows: list[ShippedRow]) -> list[str]:
    """Explain why no row applies."""
    if not rows:
        has = ", ".join(dict.fromkeys(row.product for row in table.kernels.get(kernel, ())))
        return [f"the shipped table has times of {kernel} for {has}, none for {device}"] if has else []
    far = too_far(shape, ((numbers(row.shape), row.shape) for row in rows))
    return [f"shipped table: {far or f'all {len(rows)} rows of {kernel} for {device} have another dtype or flag'}"]


def usable_triton() -> str:
    """Return the version of the installed Triton, or "" if no usable Triton is installed."""
    from kprof.compiler.versions import installed

    try:
        return installed().version
    except KprofError:
        return ""


@cache
def _table() -> ShippedTable:
    return ShippedTable.read()
