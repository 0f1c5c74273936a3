"""Convert Arrow columns to arrays, and the tables of all files to pandas DataFrames."""

from typing import TYPE_CHECKING, Any

from kprof.inputs.rocprof.model import COLUMNS, Columns, FileTables
from kprof.inputs.rocprof.names import normalise

if TYPE_CHECKING:
    import pandas as pd

_CORE = {
    "dispatches": ("agent", "dispatch_id", "kernel_name", "kernel_name_original", "start_ns", "end_ns", "duration_ns",
                   "grid_work_items", "workgroup_work_items", "workgroups"),
    "counters": ("dispatch", "agent", "dispatch_id", "kernel_name", "counter", "instance", "pass", "value"),
}  # fmt: skip
_ROWS_IN_CACHE = 256
_TEXT = {"kernel_name", "kernel_name_original", "counter", "name", "function", "domain", "direction", "operation"}


def coded(codes: Any, words: "list[str] | Any") -> "pd.Categorical":
    """Return a Categorical whose categories have dtype object, so that any two can be concatenated."""
    import pandas as pd

    make: Any = pd.Categorical.from_codes
    result: pd.Categorical = make(codes, categories=pd.Index(words, dtype=object))
    return result


def arrays_of(columns: dict[int, Any]) -> dict[int, Any]:
    """Apply :func:`array_of` to several columns in parallel; Arrow copies data without holding Python's lock."""
    from concurrent.futures import ThreadPoolExecutor

    if not columns or len(next(iter(columns.values()))) < 100_000:
        return {place: array_of(column) for place, column in columns.items()}
    with ThreadPoolExecutor() as pool:
        return dict(zip(columns, pool.map(array_of, columns.values()), strict=True))


def array_of(column: Any) -> Any:
    """Return a numpy array, or a pandas array for text and for numbers with gaps, copying only if necessary."""
    import pandas as pd
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return categorical(column)
    if column.null_count == 0:
        return column.to_numpy()
    if pa.types.is_floating(column.type):
        return column.to_numpy()
    mask = column.is_null().to_numpy()
    values = column.fill_null(0).to_numpy().copy()
    kind: Any = pd.arrays.IntegerArray
    return kind(values, mask)


def rows_of(column: Any, rows: Any) -> Any:
    """Return the given rows, in ascending order, of an array or Arrow column, copying only these rows."""
    import numpy as np
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column.take(rows)
    if column.null_count or pa.types.is_dictionary(column.type):
        return array_of(column).take(rows)
    pieces = []
    offset = 0
    for chunk in column.chunks:
        low, high = np.searchsorted(rows, (offset, offset + len(chunk)))
        pieces.append(chunk.to_numpy()[rows[low:high] - offset])
        offset += len(chunk)
    return np.concatenate(pieces) if pieces else column.to_numpy()


def matrix_of(columns: list[Any]) -> Any:
    """Combine float columns (numpy or Arrow) as the columns of one matrix; missing values become ``NaN``."""
    from concurrent.futures import ThreadPoolExecutor
    from itertools import accumulate

    import numpy as np
    import pyarrow as pa

    table = pa.table([pa.chunked_array([one]) if isinstance(one, np.ndarray) else one for one in columns],
                     names=[str(place) for place in range(len(columns))])  # fmt: skip
    matrix = np.empty((table.num_rows, len(columns)), dtype=np.float64)
    batches = table.to_batches()
    starts = [0, *accumulate(batch.num_rows for batch in batches)]

    def fill(batch: Any, start: int) -> None:
        piece = batch.to_tensor(null_to_nan=True, row_major=False).to_numpy()
        # Copying a few rows of all columns at a time keeps the data in the cache.
        for low in range(0, len(piece), _ROWS_IN_CACHE):
            rows = piece[low : low + _ROWS_IN_CACHE]
            matrix[start + low : start + low + len(rows)] = rows

    if len(batches) < 2:
        list(map(fill, batches, starts))
        return matrix
    with ThreadPoolExecutor() as pool:
        list(pool.map(fill, batches, starts))
    return matrix


def repeated(columns: Columns, times: int) -> Columns:
    """Repeat each element of each column; large columns are copied in parallel, without holding Python's lock."""
    from concurrent.futures import ThreadPoolExecutor

    if length(columns) * times < 100_000:
        return {name: _repeat(column, times) for name, column in columns.items()}
    with ThreadPoolExecutor() as pool:
        return dict(zip(columns, pool.map(lambda one: _repeat(one, times), columns.values()), strict=True))


def _repeat(column: Any, times: int) -> Any:
    import numpy as np
    import pandas as pd

    if isinstance(column, pd.Categorical):
        return coded(_repeat(column.codes, times), column.categories)
    if not isinstance(column, np.ndarray):
        return column.repeat(times)
    # Assigning to an array is faster than numpy's repeat.
    result = np.empty((len(column), times), dtype=column.dtype)
    result[:] = column[:, None]
    return result.ravel()


def categorical(column: Any) -> "pd.Categorical":
    """Convert a dictionary-encoded Arrow column to a Categorical."""
    import numpy as np
    import pandas as pd

    unified = column.unify_dictionaries()
    if unified.num_chunks == 0:
        return pd.Categorical([])
    words = unified.chunk(0).dictionary.to_pylist()
    codes = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in unified.chunks]
    return coded(codes[0] if len(codes) == 1 else np.concatenate(codes), words)


def renamed(column: "pd.Categorical", change: Any) -> "pd.Categorical":
    """Apply a function to each distinct text; texts that become equal become one category."""
    import numpy as np

    words = [change(word) for word in column.categories]
    distinct = list(dict.fromkeys(words))
    if len(distinct) == len(words):
        return coded(column.codes, distinct)
    place = {word: index for index, word in enumerate(distinct)}
    mapping = np.array([*(place[word] for word in words), -1], dtype=np.int32)
    return coded(mapping[column.codes], distinct)


def name_columns(column: "pd.Categorical") -> Columns:
    """Return the columns ``kernel_name`` (normalised) and ``kernel_name_original``."""
    return {"kernel_name": renamed(column, normalise), "kernel_name_original": column}


def agent_numbers(column: "pd.Categorical") -> Any:
    """Convert agents such as ``"Agent 4"`` and ``"4"`` to 4; texts without a number are missing."""
    import numpy as np
    import pandas as pd

    numbers = []
    for word in column.categories:
        digits = word.strip().lower().removeprefix("agent").strip()
        numbers.append(int(digits) if digits.isdigit() and len(digits) < 19 else None)
    codes = column.codes
    if len(numbers) == 1 and numbers[0] is not None and not codes.any():
        return np.full(len(codes), numbers[0], dtype=np.int64)
    lookup = np.array([*(number or 0 for number in numbers), 0], dtype=np.int64)
    values = lookup[codes]
    known = np.array([*(number is not None for number in numbers), False])
    if known[codes].all():
        return values
    return pd.arrays.IntegerArray(values, ~known[codes])


def factorised(values: list[Any]) -> "pd.Categorical":
    """Convert a list of texts to a Categorical, keeping the order of first appearance."""
    place: dict[str, int] = {}
    # Columns that pandas has concatenated contain NaN for missing texts.
    codes = [place.setdefault(value, len(place)) if isinstance(value, str) else -1 for value in values]
    return coded(codes, list(place))


def integers(values: list[int | None]) -> Any:
    """Return an int64 array, or one with missing values if a value is ``None`` or does not fit."""
    import numpy as np
    import pandas as pd

    if None in values:
        return pd.array([None if v is None or not -(2**63) <= v < 2**63 else v for v in values], dtype="Int64")
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return pd.array([None if not -(2**63) <= (v or 0) < 2**63 else v for v in values], dtype="Int64")


def length(columns: Columns) -> int:
    """Return the number of rows."""
    return len(next(iter(columns.values()))) if columns else 0


def frame(name: str, parts: list[FileTables]) -> "pd.DataFrame":
    """Return one table with the rows of all files, with columns in the documented order."""
    import numpy as np
    import pandas as pd

    frames: list[pd.DataFrame] = []
    for index, part in enumerate(parts):
        columns = part.tables.get(name)
        if not columns or not length(columns):
            continue
        rows = length(columns)
        known = list(COLUMNS[name])
        ordered: Columns = {"source": np.full(rows, index, dtype=np.int32)}
        for column in [*known, *(c for c in columns if c not in known)]:
            if column in columns:
                ordered[column] = columns[column]
            elif column in _CORE.get(name, ()):
                ordered[column] = _missing(column, rows)
        frames.append(pd.DataFrame(ordered, copy=False))
    if not frames:
        return _empty(name)
    return frames[0] if len(frames) == 1 else _concatenate(frames)


def _missing(column: str, rows: int) -> Any:
    import numpy as np
    import pandas as pd

    if column in _TEXT:
        return coded(np.full(rows, -1, dtype=np.int8), [""])
    return pd.arrays.IntegerArray(np.zeros(rows, dtype=np.int64), np.ones(rows, dtype=bool))


def _concatenate(frames: "list[pd.DataFrame]") -> "pd.DataFrame":
    import pandas as pd
    from pandas.api.types import union_categoricals

    columns = list(dict.fromkeys(column for one in frames for column in one.columns))
    result: dict[str, Any] = {}
    for column in columns:
        pieces: list[Any] = []
        for one in frames:
            piece = one[column] if column in one else pd.Series([pd.NA] * len(one), dtype="Int64")
            pieces.append(piece)
        if any(isinstance(piece.dtype, pd.CategoricalDtype) for piece in pieces):
            result[column] = pd.Series(union_categoricals([_texts(piece) for piece in pieces]))
        else:
            result[column] = pd.concat(pieces, ignore_index=True)
    whole: pd.DataFrame = pd.DataFrame(result)
    return whole


def _texts(column: "pd.Series[Any]") -> "pd.Categorical":
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return coded(column.array.codes, column.array.categories)
    return coded([-1] * len(column), [""])


def kernels_frame(parts: list[FileTables]) -> "pd.DataFrame":
    """Return the kernels table: total times by kernel, for each file that contains dispatches or kernel totals."""
    import pandas as pd

    frames: list[pd.DataFrame] = []
    for index, part in enumerate(parts):
        columns = part.kernels if part.kernels is not None else _kernels_of(part.tables.get("dispatches"))
        if columns and length(columns):
            frames.append(pd.DataFrame({"source": index, **columns}))
    if not frames:
        return _empty("kernels")
    whole: pd.DataFrame = pd.concat(frames, ignore_index=True)
    ordered: pd.DataFrame = whole.sort_values(["source", "total_ns"], ascending=[True, False], ignore_index=True)
    return ordered


def _empty(name: str) -> "pd.DataFrame":
    import pandas as pd

    none: pd.DataFrame = pd.DataFrame({column: [] for column in COLUMNS[name]})
    return none


def _kernels_of(dispatches: Columns | None) -> Columns | None:
    import numpy as np
    import pandas as pd

    if not dispatches or not length(dispatches):
        return None
    rows = length(dispatches)
    agent = dispatches.get("agent")
    agents = pd.array(agent if agent is not None else [pd.NA] * rows, dtype="Int64")
    duration = pd.array(dispatches.get("duration_ns", [pd.NA] * rows), dtype="Int64")
    table = pd.DataFrame({
        "agent": agents,
        "kernel_name": dispatches.get("kernel_name", coded([0] * rows, ["?"])),
        "calls": np.ones(rows, dtype=np.int64),
        "duration": duration,
    })  # fmt: skip
    groups = table.groupby(["agent", "kernel_name"], observed=True, dropna=False, sort=False)
    result = groups.agg(
        calls=("calls", "sum"),
        timed_calls=("duration", "count"),
        total_ns=("duration", "sum"),
        average_ns=("duration", "mean"),
        min_ns=("duration", "min"),
        max_ns=("duration", "max"),
    ).reset_index()
    result["kernel_name"] = result["kernel_name"].astype(object)
    result.loc[result["timed_calls"] == 0, "total_ns"] = pd.NA
    return {name: result[name].array for name in result.columns}
