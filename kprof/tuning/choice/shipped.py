"""The model's times that come with kprof, for what cannot or may not be compiled: ``shipped.json``.

``scripts/predict_shipped.py`` makes the file. It says of which Triton, kprof and revision it is, since another Triton
compiles the same kernel to other code. Lists in it refer to each other by position, to keep it small:

* ``variants``: configuration and what the model said of it;
* ``kernels``: for each kernel, the names of its parameters and its rows ``[product, values, times]``, with ``times`` an
  object from implementation to ``[ms, low, high, variant]``.
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
"""Of all times in the file."""
_ABOUT = "Predicted by kprof's model, nothing measured; milliseconds a call. Made by scripts/predict_shipped.py."


class ShippedTime(NamedTuple):
    """One implementation's time: ``ms`` with its range in milliseconds, the knobs it is of, what the model said."""

    ms: float
    low_ms: float
    high_ms: float
    config: dict[str, Any]
    reason: str


class ShippedRow(NamedTuple):
    """One problem on one product: parameters with their types resolved, and the time of each implementation."""

    product: str
    shape: dict[str, Any]
    times: dict[str, ShippedTime]


@dataclass
class ShippedTable:
    """The file.

    Attributes:
        triton, kprof: versions that it was made with.
        revision: of kprof's sources.
        kernels: name of the kernel that is asked for, to its problems.
    """

    triton: str
    kprof: str
    revision: str
    kernels: dict[str, list[ShippedRow]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path = FILE) -> "ShippedTable":
        """From a file, by default the package's."""
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
    """The file's text: a line a row, so that a change of it can be read."""
    variants: dict[str, int] = {}
    kernels = []
    for name, rows in sorted(table.kernels.items()):
        if not rows:
            continue
        lines = []
        for row in rows:
            times = {}
            for one, time in row.times.items():
                kept = _line([time.config, time.reason])
                short = (float(f"{time.ms:.4g}"), float(f"{time.low_ms:.3g}"), float(f"{time.high_ms:.3g}"))
                times[one] = [*short, variants.setdefault(kept, len(variants))]
            lines.append(_line([row.product, list(row.shape.values()), times]))
        parameters, body = _line(list(rows[0].shape)), ",\n".join(lines)
        kernels.append(f'"{name}": {{"parameters": {parameters}, "rows": [\n{body}]}}')
    head = {"about": _ABOUT, "triton": table.triton, "kprof": table.kprof, "revision": table.revision}
    rows_text, variants_text = ",\n".join(kernels), ",\n".join(variants)
    return f'{_line(head)[:-1]},\n"variants": [\n{variants_text}],\n"kernels": {{\n{rows_text}}}}}\n'


def _line(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


class Shipped(NamedTuple):
    """The table's answer.

    Attributes:
        candidates: those that were given, with times where the row has one; empty where no row is near.
        shape: the row's problem; ``None`` where no row is near.
        distance: of the problem from it.
        notes: what the times are of, or why there are none.
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
    """The row of a problem, or the nearest one.

    Args:
        kernel: whose problem it is.
        shape: problem parameters, dtypes resolved.
        product: the GPU; rows of others do not count.
        forms: the bundled kernels that were considered, without times.
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
        return Shipped([], None, None, [f"shipped table ({made}): no time for what can do this problem"])
    mine = usable_triton()
    here = f"Triton {mine} is installed, which may compile other code" if mine else "there is no usable Triton here"
    note = f"the times are those of the table that comes with kprof: made by the model, {made}"
    return Shipped(found, rows[at].shape, gap, [note if mine == table.triton else f"{note}; {here}"])


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
    """Why no row counts."""
    if not rows:
        has = ", ".join(dict.fromkeys(row.product for row in table.kernels.get(kernel, ())))
        return [f"the shipped table has times of {kernel} for {has}, none for {device}"] if has else []
    far = too_far(shape, ((numbers(row.shape), row.shape) for row in rows))
    return [f"shipped table: {far or f'all {len(rows)} rows of {kernel} for {device} have another dtype or flag'}"]


def usable_triton() -> str:
    """Version of the installed Triton; empty where there is none that can be used."""
    from kprof.compiler.versions import installed

    try:
        return installed().version
    except KprofError:
        return ""


@cache
def _table() -> ShippedTable:
    return ShippedTable.read()
