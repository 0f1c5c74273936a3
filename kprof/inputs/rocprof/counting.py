"""Counter values: wide files (a column a counter) and long files (a row a value) into one long table."""

from typing import Any

from kprof.inputs.rocprof.columns import accumulated, instance_of
from kprof.inputs.rocprof.frames import coded, length
from kprof.inputs.rocprof.model import Columns, Part


def from_wide(values: dict[str, Any], dispatches: Columns) -> Columns:
    """Counter columns as rows, dispatch after dispatch.

    Args:
        values: heading to float array; ``NaN`` and missing values give no row.
        dispatches: the dispatch of each row of the file.
    """
    import numpy as np

    names = list(values)
    new_name = accumulated(names)
    split = [instance_of(new_name if n == "SQ_ACCUM_PREV_HIRES" and new_name else n) for n in names]
    words = list(dict.fromkeys(word for word, _ in split))
    codes = np.array([words.index(word) for word, _ in split], dtype=np.int32)
    instances = np.array([number for _, number in split], dtype=np.int16)
    rows = length(dispatches)
    matrix = np.empty((rows, len(names)), dtype=np.float64)
    for place, name in enumerate(names):
        matrix[:, place] = np.asarray(values[name], dtype=np.float64)
    flat = matrix.ravel()
    row = np.repeat(np.arange(rows, dtype=np.int64), len(names))
    code, instance = np.tile(codes, rows), np.tile(instances, rows)
    own: Columns = {name: dispatches[name] for name in ("agent", "dispatch_id", "kernel_name") if name in dispatches}
    # A sum of values is a number exactly when all of them are, but for infinities; that costs no array of flags.
    with np.errstate(over="ignore", invalid="ignore"):
        whole = bool(np.isfinite(flat.sum()))
    if whole or not np.isnan(flat).any():
        repeated = {name: _repeat(column, len(names)) for name, column in own.items()}
    else:
        present = ~np.isnan(flat)
        flat, row, code, instance = flat[present], row[present], code[present], instance[present]
        repeated = {name: _take(column, row) for name, column in own.items()}
    return {
        "dispatch": row,
        **repeated,
        "counter": coded(code, words),
        "instance": instance,
        "pass": np.zeros(len(flat), dtype=np.int16),
        "value": flat,
    }


def _take(column: Any, rows: Any) -> Any:
    return column.take(rows)


def _repeat(column: Any, times: int) -> Any:
    """Each element so often: twice as fast as taking by index, and a text's codes are smaller still."""
    import pandas as pd

    if isinstance(column, pd.Categorical):
        return coded(column.codes.repeat(times), column.categories)
    return column.repeat(times)


def from_long(columns: Columns, part: Part) -> tuple[Columns, Columns]:
    """A row a value: ``(dispatch columns, counter columns)``.

    Rows of one dispatch share process, agent, dispatch id and kernel. Different start times within one dispatch
    are further passes: the kernel ran again for more counters.
    """
    import numpy as np
    import pandas as pd

    rows = length(columns)
    keys = _key_matrix(columns)
    changed = np.ones(rows, dtype=bool)
    if rows > 1:
        changed[1:] = np.logical_or.reduce([k[1:] != k[:-1] for k in keys]) if keys else False
    run_starts = np.flatnonzero(changed)
    runs = pd.DataFrame({str(i): k[run_starts] for i, k in enumerate(keys)})
    group_of_run = np.asarray(runs.groupby(list(runs.columns), sort=False, dropna=False, observed=True).ngroup())
    group = np.repeat(group_of_run, np.diff([*run_starts, rows]))
    first_run = np.unique(group_of_run, return_index=True)[1]
    first = run_starts[first_run]
    own = {name: _take(array, first) for name, array in columns.items() if name not in {"counter", "value"}}
    counters: Columns = {
        "dispatch": group.astype(np.int64),
        **{name: columns[name] for name in ("agent", "dispatch_id", "kernel_name") if name in columns},
        **_split_instances(columns["counter"]),
        "pass": _passes(columns, group, own, part),
        "value": columns["value"],
    }
    return own, counters


def _key_matrix(columns: Columns) -> list[Any]:
    import numpy as np
    import pandas as pd

    keys = []
    for name in ("process_id", "agent", "dispatch_id", "kernel_name"):
        column = columns.get(name)
        if isinstance(column, pd.Categorical):
            keys.append(np.asarray(column.codes))
        elif column is not None:
            plain = column if isinstance(column, np.ndarray) else np.asarray(column.fillna(-1), dtype=np.int64)
            keys.append(plain)
    return keys


def _split_instances(names: Any) -> Columns:
    import numpy as np

    split = [instance_of(word) for word in names.categories]
    words = list(dict.fromkeys(word for word, _ in split))
    place = {word: index for index, word in enumerate(words)}
    instances = np.array([*(number for _, number in split), -1], dtype=np.int16)[names.codes]
    if len(words) == len(split):
        return {"counter": coded(names.codes, words), "instance": instances}
    codes = np.array([*(place[word] for word, _ in split), -1], dtype=np.int32)[names.codes]
    return {"counter": coded(codes, words), "instance": instances}


def _passes(columns: Columns, group: Any, own: Columns, part: Part) -> Any:
    import numpy as np
    import pandas as pd

    if "start_ns" not in columns:
        return np.zeros(len(group), dtype=np.int16)
    start = np.asarray(pd.array(columns["start_ns"], dtype="Int64").fillna(0), dtype=np.int64)
    reference = np.asarray(pd.array(own["start_ns"], dtype="Int64").fillna(0), dtype=np.int64)
    if (start == reference[group]).all():
        return np.zeros(len(group), dtype=np.int16)
    pairs = pd.DataFrame({"group": group, "start": start}).drop_duplicates()
    pairs["pass"] = pairs.groupby("group", observed=True).cumcount()
    several = int((pairs.groupby("group", observed=True)["pass"].max() > 0).sum())
    most = int(pairs["pass"].max()) + 1
    part.complain("several-passes", "note", f"{several:,} dispatches were run up to {most} times to collect all "
                  "counters; their times are those of the first pass", count=several)  # fmt: skip
    merged = pd.DataFrame({"group": group, "start": start}).merge(pairs, on=["group", "start"], how="left")
    return np.asarray(merged["pass"], dtype=np.int16)
