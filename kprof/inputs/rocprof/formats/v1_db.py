"""Read ``results.db`` of rocprof v1.

Tables: ``KERN`` or ``A`` (dispatches, with counters), ``OPS`` (the same dispatches from HIP's activity records, without
    sizes), ``COPY`` (copies and fills), ``HIP``, ``HSA`` and ``rocTX`` (calls and markers). Their columns are declared
    in ``bin/tblextr.py`` of github.com/ROCm/rocprofiler; versions of rocprof differ in the last columns.
"""

from typing import Any

from kprof.errors import KprofError
from kprof.inputs.rocprof import database
from kprof.inputs.rocprof.columns import DISPATCH, key
from kprof.inputs.rocprof.counting import from_wide
from kprof.inputs.rocprof.dispatching import complain_about_repeats, dispatches, trusted_durations
from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.frames import factorised
from kprof.inputs.rocprof.model import Columns, FileTables
from kprof.inputs.rocprof.opening import Opened

_KERNELS = ("KERN", "A")
_CALLS = {"HIP": "HIP_API", "HSA": "HSA_API", "rocTX": "MARKER_API"}
_BARRIER = "<barrier packet>"


def _recognise(opened: Opened) -> float:
    if not (opened.is_plain and database.is_database(opened.head)):
        return 0.0
    try:
        names = set(database.tables_in(opened.path))
    except KprofError:
        return 0.0
    return float(bool(names & {*_KERNELS, *_CALLS, "OPS", "COPY"}))


def _read(opened: Opened, part: FileTables) -> None:
    beside = database.unmerged(opened.path)
    if beside:
        part.complain("unmerged-log", "warning", beside)
    with database.opened(opened.path) as connection:
        tables = database.plain_tables(connection)
        rows = 0
        for name in _KERNELS:
            if name in tables and "KernelName" in tables[name]:
                rows += _kernels(connection, name, tables[name], part)
        rows += _operations(connection, tables, part)
        rows += _copies(connection, tables, part)
        pieces = [_calls(connection, name, tables, part) for name in _CALLS]
    calls = [piece for piece in pieces if piece]
    if calls:
        part.tables["api_calls"] = calls[0] if len(calls) == 1 else _stack(calls)
        rows += len(part.tables["api_calls"]["start_ns"])
    part.describe(rows=rows)
    if not rows:
        part.complain("no-records", "warning", "the database has no kernel and no call")


def _stack(pieces: list[Columns]) -> Columns:
    import pandas as pd

    whole = pd.concat([pd.DataFrame(piece).astype({"function": object, "domain": object}) for piece in pieces])
    columns: Columns = {name: whole[name].array for name in whole if name not in {"function", "domain"}}
    return columns | {name: factorised(list(whole[name])) for name in ("function", "domain")}


def _kernels(connection: Any, name: str, headings: list[str], part: FileTables) -> int:
    records = connection.execute(f'SELECT * FROM "{name}"').fetchall()  # noqa: S608 - a checked name
    if not records:
        return 0
    columns: Columns = {}
    counters: Columns = {}
    for place, heading in enumerate(headings):
        values = [record[place] for record in records]
        known = DISPATCH.get(key(heading))
        if known is None:
            counters[heading] = _floats(values)
        elif known[1] == "name":
            columns[known[0]] = factorised([None if v is None else str(v) for v in values])
        elif known[1] != "skip":
            columns[known[0]] = _integers(values, heading, part)
    table = dispatches(columns, part)
    complain_about_repeats(table, part)
    part.tables["dispatches"] = table
    if counters:
        part.tables["counters"] = from_wide(counters, table)
    return len(records)


def _floats(values: list[Any]) -> Any:
    import numpy as np

    return np.array([v if isinstance(v, int | float) else np.nan for v in values], dtype=float)


def _integers(values: list[Any], heading: str, part: FileTables) -> Any:
    import pandas as pd

    good = [v if isinstance(v, int) else None for v in values]
    bad = sum(v is None and o is not None for v, o in zip(good, values, strict=True))
    if bad:
        part.complain("bad-value", "error", f"column {heading}: {bad:,} values are not integers; they are treated as "
                      "missing", count=bad)  # fmt: skip
    numbers = pd.array(good, dtype="Int64")
    return numbers if numbers.isna().any() else numbers.to_numpy("int64")


def _timed(
    connection: Any, name: str, tables: dict[str, list[str]], part: FileTables
) -> tuple[Columns, list[str | None]]:
    """Return times, ids and names from table OPS, COPY, HIP, HSA or rocTX; empty if there is no such table."""
    if name not in tables:
        return {}, []
    places = {key(heading): place for place, heading in enumerate(tables[name])}
    missing = {"name", "beginns", "endns"} - places.keys()
    if missing:
        part.complain("unknown-table", "warning", f"table {name} has no {' and no '.join(sorted(missing))}: not read")
        return {}, []
    records = connection.execute(f'SELECT * FROM "{name}"').fetchall()  # noqa: S608 - a checked name
    if not records:
        return {}, []
    columns: Columns = {}
    for ours, theirs in (("start_ns", "beginns"), ("end_ns", "endns"), ("process_id", "pid"), ("thread_id", "tid"),
                         ("correlation_id", "index"), ("agent", "devid"), ("queue_id", "queueid"),
                         ("stream_id", "streamid")):  # fmt: skip
        if theirs in places:
            columns[ours] = _integers([record[places[theirs]] for record in records], theirs, part)
    names = [record[places["name"]] for record in records]
    return columns, [None if text is None else str(text).strip('"') for text in names]


def _operations(connection: Any, tables: dict[str, list[str]], part: FileTables) -> int:
    import numpy as np

    columns, names = _timed(connection, "OPS", tables, part)
    if not columns:
        return 0
    if "dispatches" in part.tables:
        part.complain("same-dispatches", "note", f"the {len(names):,} operations of table OPS are also in table KERN, "
                      "with more details; they are not counted again", count=len(names))  # fmt: skip
        return 0
    kernels = np.flatnonzero([name != _BARRIER for name in names])
    barriers = len(names) - len(kernels)
    if barriers:
        part.complain("barriers-left-out", "note", f"{barriers:,} barrier packets are not kernels and are left out",
                      count=barriers)  # fmt: skip
    if len(kernels):
        chosen = {name: column.take(kernels) for name, column in columns.items()}
        chosen["kernel_name"] = factorised([names[row] for row in kernels])
        part.tables["dispatches"] = dispatches(chosen, part)
    return len(kernels)


def _copies(connection: Any, tables: dict[str, list[str]], part: FileTables) -> int:
    columns, names = _timed(connection, "COPY", tables, part)
    if columns:
        columns["direction"] = factorised(names)
        columns["duration_ns"] = trusted_durations(columns, part, what="copies")
        part.tables["copies"] = columns
    return len(names)


def _calls(connection: Any, name: str, tables: dict[str, list[str]], part: FileTables) -> Columns:
    columns, names = _timed(connection, name, tables, part)
    if columns:
        columns["domain"] = factorised([_CALLS[name]] * len(names))
        columns["function"] = factorised(names)
        columns["duration_ns"] = trusted_durations(columns, part, what="api_calls")
    return columns


FORMAT = OtherFormat("results database", "rocprof", "trace", _recognise, _read)
