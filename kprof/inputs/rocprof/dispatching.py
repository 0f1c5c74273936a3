"""Complete dispatch columns with names, grids and durations, and report times that cannot be trusted."""

from typing import Any

from kprof.inputs.completeness import too_many
from kprof.inputs.rocprof.frames import agent_numbers, length, name_columns
from kprof.inputs.rocprof.model import Columns, FileTables
from kprof.inputs.rocprof.plausible import without_impossible

ABSURD_NS = 86_400_000_000_000
"""Duration in ns above which a timestamp must be wrong: one day."""


def dispatches(columns: Columns, part: FileTables, *, rounded: bool = False) -> Columns:
    """Complete the columns of a dispatch table: names, agent numbers, workgroup counts and durations.

    Args:
        columns: columns to complete. ``kernel_name`` is a Categorical of original names; ``agent`` is an array of
            numbers or a Categorical.
        part: tables of the file, to which issues are added.
        rounded: whether the times were written with too few digits.
    """
    import pandas as pd

    result = without_impossible(columns, part)
    if "kernel_name" in result:
        result.update(name_columns(result["kernel_name"]))
    if isinstance(result.get("agent"), pd.Categorical):
        result["agent"] = agent_numbers(result["agent"])
    _add_sizes(result)
    stated = result.pop("stated_duration_ns", None)
    if "start_ns" in result and "end_ns" in result:
        result["duration_ns"] = trusted_durations(result, part, rounded=rounded)
        _compare_stated(result, stated, part)
    return result


def _add_sizes(columns: Columns) -> None:
    import numpy as np

    for whole, prefix in (("grid_work_items", "grid"), ("workgroup_work_items", "workgroup")):
        axes = [columns[f"{prefix}_{axis}"] for axis in "xyz" if f"{prefix}_{axis}" in columns]
        if whole not in columns and len(axes) == 3:
            columns[whole] = _product(axes)
    if all(f"{prefix}_{axis}" in columns for prefix in ("grid", "workgroup") for axis in "xyz"):
        counts = [_ceil(columns[f"grid_{axis}"], columns[f"workgroup_{axis}"]) for axis in "xyz"]
        columns["workgroups"] = _product(counts)
    elif "grid_work_items" in columns and "workgroup_work_items" in columns:
        columns["workgroups"] = _ceil(columns["grid_work_items"], columns["workgroup_work_items"])
    if "workgroups" in columns and isinstance(columns["workgroups"], np.ndarray):
        columns["workgroups"] = columns["workgroups"].astype(np.int64, copy=False)


def _product(axes: list[Any]) -> Any:
    """Multiply three axes. An axis that is 1 in all rows is skipped, which is common."""
    import numpy as np

    result = axes[0]
    for axis in axes[1:]:
        if not (isinstance(axis, np.ndarray) and len(axis) and axis[0] == axis.min() == axis.max() == 1):
            result = result * axis
    # Return a copy, so that a caller can write to the result without changing the axis.
    return result.copy() if result is axes[0] else result


def _ceil(work_items: Any, size: Any) -> Any:
    import numpy as np
    import pandas as pd

    if isinstance(work_items, np.ndarray) and isinstance(size, np.ndarray) and len(size) and size.min() > 0:
        # Dividing each number costs more than comparing it, and usually all sizes are equal.
        one = int(size[0])
        same = one == int(size.min()) == int(size.max())
        return work_items.copy() if same and one == 1 else -(-work_items // (one if same else size))
    top, bottom = pd.array(work_items, dtype="Int64"), pd.array(size, dtype="Int64")
    bottom = bottom.copy()
    bottom[(bottom <= 0).fillna(False)] = pd.NA
    return -(-top // bottom)


def trusted_durations(columns: Columns, part: FileTables, *, rounded: bool = False, what: str = "dispatches") -> Any:
    """Return ``end - start``, missing where the times are impossible, and report an issue for each kind of problem."""
    import numpy as np
    import pandas as pd

    quick = _plain_durations(columns)
    if quick is not None and not rounded:
        return quick
    start = pd.array(columns["start_ns"], dtype="Int64")
    end = pd.array(columns["end_ns"], dtype="Int64")
    first = np.asarray(start.fillna(0), dtype=np.int64)
    last = np.asarray(end.fillna(0), dtype=np.int64)
    unknown = np.asarray(start.isna() | end.isna())
    # Differences of huge values would overflow as integers, so such rows are found by their float values, in which the
    # lost digits do not matter.
    wild = (np.abs(first.astype(float)) > 4e18) | (np.abs(last.astype(float)) > 4e18)
    spent = np.where(wild, 0, last - first)
    negative = (spent < 0) & ~unknown
    absurd = (wild | (spent > ABSURD_NS) | ((first <= 0) & (last > 0))) & ~unknown & ~negative
    bad = unknown | negative | absurd
    _complain_times(part, what, negative=negative, absurd=absurd, unknown=unknown)
    if rounded:
        lost = (spent == 0) & ~bad
        part.complain("rounded-timestamps", "warning", f"times are written with too few digits (a spreadsheet's "
                      f"8.1E+14): the durations of {int(lost.sum()):,} of {len(spent):,} {what} are lost, "
                      "and all times are inexact", count=len(spent))  # fmt: skip
        bad = np.ones_like(bad)
    else:
        zero = int(((spent == 0) & ~bad).sum())
        if zero and what == "dispatches":
            part.complain("zero-durations", "note", f"{zero:,} dispatches last 0 ns: the tool's clock is too coarse "
                          "or did not write their times", count=zero)  # fmt: skip
    if not bad.any():
        return spent
    integers: Any = pd.arrays.IntegerArray
    return integers(np.where(bad, 0, spent), bad)


def _plain_durations(columns: Columns) -> Any:
    """Return the durations if there is nothing to report, else ``None``."""
    import numpy as np

    start, end = columns["start_ns"], columns["end_ns"]
    if not (isinstance(start, np.ndarray) and isinstance(end, np.ndarray) and len(start)):
        return None
    if start.min() <= 0 or end.max() > 4 * 10**18:
        return None
    spent = end - start
    return spent if spent.min() > 0 and spent.max() <= ABSURD_NS else None


def _complain_times(part: FileTables, what: str, **kinds: Any) -> None:
    words = {
        "negative": "end before they start; their duration is treated as missing",
        "absurd": "have impossible times (longer than a day, or a start of 0); their duration is treated as missing",
        "unknown": "have no start or end",
    }
    for kind, mask in kinds.items():
        count = int(mask.sum())
        if count:
            first = int(mask.argmax()) + 1
            part.complain(f"{kind}-time", "warning", f"{count:,} of {len(mask):,} {what} {words[kind]}", record=first,
                          count=count, unknown=too_many(count, len(mask)) if what == "dispatches" else ())  # fmt: skip


def _compare_stated(columns: Columns, stated: Any, part: FileTables) -> None:
    import numpy as np
    import pandas as pd

    if stated is None:
        return
    ours = pd.array(columns["duration_ns"], dtype="Int64")
    differs = np.asarray((pd.array(stated, dtype="Int64") != ours).fillna(False))
    if differs.any():
        part.complain("duration-disagrees", "warning", f"the file's duration column is not end - start for "
                      f"{int(differs.sum()):,} dispatches; end - start is used",
                      record=int(differs.argmax()) + 1, count=int(differs.sum()))  # fmt: skip


def complain_about_repeats(columns: Columns, part: FileTables) -> None:
    """Report repeated dispatch ids: the same dispatch twice, or ids from several processes."""
    import numpy as np
    import pandas as pd

    if "dispatch_id" not in columns or not length(columns):
        return
    numbers = columns["dispatch_id"]
    # This check avoids pandas, which would take longer than reading a small file.
    if isinstance(numbers, np.ndarray) and (
        bool((numbers[1:] > numbers[:-1]).all()) or len(np.unique(numbers)) == len(numbers)
    ):
        return
    keys = [k for k in ("process_id", "agent", "dispatch_id") if k in columns]
    table = pd.DataFrame({k: np.asarray(pd.array(columns[k], dtype="Int64").fillna(-1)) for k in keys})
    repeated = table.duplicated()
    if not repeated.any():
        return
    if "start_ns" in columns:
        table["start_ns"] = np.asarray(pd.array(columns["start_ns"], dtype="Int64").fillna(-1))
    if "kernel_name" in columns:
        table["kernel"] = np.asarray(columns["kernel_name"].codes)
    same = table.duplicated()
    if same.any():
        part.complain("duplicate-records", "warning", f"{int(same.sum()):,} dispatches are in the file more than once "
                      "(same id, kernel and start); all are kept and counted",
                      record=int(np.asarray(same).argmax()) + 1, count=int(same.sum()))  # fmt: skip
    mixed = int(repeated.sum() - same.sum())
    if mixed > 0:
        part.complain("ids-repeat", "note", f"{mixed:,} dispatches have an id that another dispatch of the same agent "
                      "has: the file joins several processes; their rows are kept separate", count=mixed)  # fmt: skip
