"""Convert counter values of wide files (one column per counter) and long files (one row per value) to one table."""

from typing import Any

from kprof.inputs.rocprof.columns import accumulated, instance_of
from kprof.inputs.rocprof.frames import coded, length, matrix_of, repeated, rows_of
from kprof.inputs.rocprof.model import Columns, FileTables


def from_wide(values: dict[str, Any], dispatches: Columns) -> Columns:
    """Convert counter columns into rows, dispatch by dispatch.

    Args:
        values: float array of each heading; ``NaN`` and missing values yield no row.
        dispatches: dispatch columns with one entry per row of the file.
    """
    import numpy as np

    names = list(values)
    new_name = accumulated(names)
    split = [instance_of(new_name if n == "SQ_ACCUM_PREV_HIRES" and new_name else n) for n in names]
    words = list(dict.fromkeys(word for word, _ in split))
    # Use the smallest type, which pandas would choose for the codes anyway.
    small = np.int8 if len(words) < 128 else np.int16 if len(words) < 1 << 15 else np.int32
    codes = np.array([words.index(word) for word, _ in split], dtype=small)
    instances = np.array([number for _, number in split], dtype=np.int16)
    rows = length(dispatches)
    flat = matrix_of(list(values.values())).ravel()
    own: Columns = {name: dispatches[name] for name in ("agent", "dispatch_id", "kernel_name") if name in dispatches}
    # A finite sum proves that all values are finite. Checking the sum needs no array of flags.
    with np.errstate(over="ignore", invalid="ignore"):
        whole = bool(np.isfinite(flat.sum()))
    many: Columns
    if whole or not np.isnan(flat).any():
        many = repeated({"dispatch": np.arange(rows, dtype=np.int64), **own}, len(names))
        code, instance = (np.broadcast_to(one, (rows, len(names))).ravel() for one in (codes, instances))
    else:
        present = np.flatnonzero(~np.isnan(flat))
        flat, row = flat[present], present // len(names)
        code, instance = codes[present % len(names)], instances[present % len(names)]
        many = {"dispatch": row, **{name: column.take(row) for name, column in own.items()}}
    return {
        **many,
        "counter": coded(code, words),
        "instance": instance,
        "pass": np.zeros(len(flat), dtype=np.int16),
        "value": flat,
    }


def from_long(columns: Columns, part: FileTables) -> tuple[Columns, Columns]:
    """Convert a file with one row per value into ``(dispatch columns, counter columns)``.

    Rows of one dispatch share process, agent, dispatch id and kernel. Each different start time within a dispatch is
    another pass, in which the kernel ran again to collect more counters.
    """
    import numpy as np

    rows = length(columns)
    keys = _key_matrix(columns)
    changed = np.ones(rows, dtype=bool)
    if rows > 1:
        changed[1:] = False
        for key in keys:
            changed[1:] |= key[1:] != key[:-1]
    first = run_starts = np.flatnonzero(changed)
    sizes = np.diff(run_starts, append=rows)
    group_of_run = _groups([key[run_starts] for key in keys])
    if group_of_run is None:
        group = np.repeat(np.arange(len(run_starts), dtype=np.int64), sizes)
    else:
        group = np.repeat(group_of_run.astype(np.int64), sizes)
        first = run_starts[np.unique(group_of_run, return_index=True)[1]]
    own = {name: rows_of(array, first) for name, array in columns.items() if name not in {"counter", "value"}}
    if group_of_run is None and _times_follow(columns.get("start_ns"), changed):
        passes = np.zeros(rows, dtype=np.int16)
    else:
        passes = _passes(columns, group, own, part)
    counters: Columns = {
        "dispatch": group,
        **{name: columns[name] for name in ("agent", "dispatch_id", "kernel_name") if name in columns},
        **_split_instances(columns["counter"]),
        "pass": passes,
        "value": columns["value"],
    }
    return own, counters


def _groups(keys: list[Any]) -> Any:
    """Return the dispatch number of each block of adjacent rows with equal keys.

    Return ``None`` if a key column ascends strictly, because each block is then a dispatch of its own.
    """
    import numpy as np
    import pandas as pd

    if any((key[1:] > key[:-1]).all() for key in keys):
        return None
    runs = pd.DataFrame({str(place): key for place, key in enumerate(keys)})
    return np.asarray(runs.groupby(list(runs.columns), sort=False, dropna=False, observed=True).ngroup())


def _times_follow(start: Any, changed: Any) -> bool:
    """Return whether all rows of each dispatch have the same start time."""
    import numpy as np

    return isinstance(start, np.ndarray) and bool(((start[1:] == start[:-1]) | changed[1:]).all())


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
    if len(words) == len(split) and all(number < 0 for _, number in split):
        return {"counter": coded(names.codes, words), "instance": np.full(len(names), -1, dtype=np.int16)}
    place = {word: index for index, word in enumerate(words)}
    instances = np.array([*(number for _, number in split), -1], dtype=np.int16)[names.codes]
    if len(words) == len(split):
        return {"counter": coded(names.codes, words), "instance": instances}
    codes = np.array([*(place[word] for word, _ in split), -1], dtype=np.int32)[names.codes]
    return {"counter": coded(codes, words), "instance": instances}


def _passes(columns: Columns, group: Any, own: Columns, part: FileTables) -> Any:
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
