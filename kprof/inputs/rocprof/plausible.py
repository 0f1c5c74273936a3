"""Remove and report measured values that no GPU can have.

The limits come from the hardware description files. For example, a kernel cannot use more registers than the largest
register file contains, or more LDS per workgroup than a compute unit has.
"""

from functools import cache
from typing import Any

from kprof.hardware.default import DEFAULT_ARCH
from kprof.inputs.rocprof.frames import length, rows_of
from kprof.inputs.rocprof.model import Columns, FileTables

COUNTER_LIMIT = float(1 << 63)
"""Smallest impossible counter value: no counter has 63 bits, and a register that cannot be read has all bits set."""
_GRID_AXIS = (1 << 32) - 1
"""Maximum grid size per dimension, because a dispatch packet has 32 bits for each."""
_MAX_NAMES_LENGTH = 60


@cache
def ranges(*names: str) -> dict[str, tuple[int, int]]:
    """Return the minimum and maximum possible values of each dispatch column over a set of architectures.

    Args:
        names: architectures; all known ones by default.
    """
    from kprof.hardware.machine import architectures, load

    machines = [load(name) for name in names or architectures()]
    registers = max(file.total for m in machines for file in m.occupancy.vgprs.values())
    scalars = max(m.occupancy.sgprs_total or m.occupancy.max_sgprs for m in machines)
    workgroup = max(m.occupancy.max_workgroup_size for m in machines)
    lds = max(size for m in machines for size in (m.lds.bytes_per_cu, m.lds.bytes_per_wgp or 0))
    lanes = [size for m in machines for size in m.wavefront_sizes]
    return {
        "vgprs": (0, registers),
        "agprs": (0, registers),
        "sgprs": (0, scalars),
        "lds_bytes": (0, lds),
        # Tools write 0 if they do not know the value.
        "wavefront_size": (0, max(lanes)),
        "scratch_bytes": (0, _GRID_AXIS),
        "workgroup_work_items": (0, workgroup),
        **{f"workgroup_{axis}": (0, workgroup) for axis in "xyz"},
        **{f"grid_{axis}": (0, _GRID_AXIS) for axis in "xyz"},
        "grid_work_items": (0, 1 << 62),
    }


def _within(column: Any, low: int, high: int) -> bool:
    import numpy as np

    return isinstance(column, np.ndarray) and bool(low <= column.min() and column.max() <= high)


def without_impossible(columns: Columns, part: FileTables) -> Columns:
    """Return the dispatch columns with impossible values set to missing, and report them."""
    import numpy as np
    import pandas as pd

    result = dict(columns)
    for name, usual in ranges(DEFAULT_ARCH).items():
        column = result.get(name)
        if column is None or not len(column) or _within(column, *usual):
            continue
        # Load the files of the other architectures only if a value exceeds the default architecture's limits.
        low, high = ranges()[name]
        if _within(column, low, high):
            continue
        integers: Any = pd.array(column, dtype="Int64")
        outside = np.asarray(((integers < low) | (integers > high)).fillna(False), dtype=bool)
        if not outside.any():
            continue
        first = int(outside.argmax())
        part.complain(
            "impossible-value",
            "error",
            f"column {name}: {_values(int(outside.sum()))} outside {low:,} to {high:,}, the range of all known GPUs, "
            f"for example {integers[first]:,}: treated as missing",
            record=first + 1,
            count=int(outside.sum()),
        )
        integers[outside] = pd.NA
        result[name] = integers
    return result


def drop_counters(part: FileTables) -> None:
    """Remove and report impossible counter values of a file: values not finite, negative, or beyond 63 bits."""
    import numpy as np

    counters = part.tables.get("counters")
    if not counters or not length(counters):
        return
    value = np.asarray(counters["value"])
    with np.errstate(invalid="ignore"):
        # Minimum and maximum are faster to compute than a mask; NaN fails both comparisons.
        if value.min() >= 0 and value.max() < COUNTER_LIMIT:
            return
        good = (value >= 0) & (value < COUNTER_LIMIT)
    bad = np.flatnonzero(~good)
    first = int(bad[0])
    names = sorted({str(counters["counter"][i]) for i in bad[:1000]})
    part.complain(
        "impossible-counter",
        "error",
        f"{_values(len(bad), 'counter ')} negative, not finite or all ones "
        f"({', '.join(names[:5])[:_MAX_NAMES_LENGTH]}) and in no "
        f"sum; the first is {counters['counter'][first]} = {value[first]:.6g} of dispatch {_dispatch(counters, first)}",
        count=len(bad),
    )
    kept = np.flatnonzero(good)
    part.tables["counters"] = {name: rows_of(column, kept) for name, column in counters.items()}


def _values(count: int, what: str = "") -> str:
    return f"1 {what}value is" if count == 1 else f"{count:,} {what}values are"


def _dispatch(counters: Columns, row: int) -> str:
    """Return text that names the dispatch of a counter value: its dispatch id, or else its position in the file."""
    numbers = counters.get("dispatch_id")
    return str(numbers[row]) if numbers is not None else f"{int(counters['dispatch'][row]) + 1} of the file"
