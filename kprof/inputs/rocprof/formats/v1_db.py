"""rocprof v1 ``results.db``: tables ``KERN`` or ``A`` (dispatches), ``HIP``, ``HSA``, ``COPY``, ``OPS``."""

from typing import Any

from kprof.errors import KprofError
from kprof.inputs.rocprof import database
from kprof.inputs.rocprof.columns import DISPATCH, key
from kprof.inputs.rocprof.counting import from_wide
from kprof.inputs.rocprof.dispatching import complain_about_repeats, dispatches, trusted_durations
from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.frames import factorised
from kprof.inputs.rocprof.model import Columns, Part
from kprof.inputs.rocprof.opening import Opened

_KERNELS = ("KERN", "A")
_CALLS = ("HIP", "HSA", "OPS", "COPY", "rocTX")


def _recognise(opened: Opened) -> float:
    if not (opened.is_plain and database.is_database(opened.head)):
        return 0.0
    try:
        names = set(database.tables_in(opened.path))
    except KprofError:
        return 0.0
    return float(bool(names & {*_KERNELS, "HIP", "HSA", "OPS", "COPY"}))


def _read(opened: Opened, part: Part) -> None:
    beside = database.unmerged(opened.path)
    if beside:
        part.complain("unmerged-log", "warning", beside)
    with database.opened(opened.path) as connection:
        tables = database.plain_tables(connection)
        rows = 0
        for name in _KERNELS:
            if name in tables and "KernelName" in tables[name]:
                rows += _kernels(connection, name, tables[name], part)
        pieces = [_calls(connection, name, tables[name], part) for name in _CALLS if name in tables]
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
    columns: Columns = {name: whole[name].to_numpy() for name in whole if name not in {"function", "domain"}}
    return columns | {name: factorised(list(whole[name])) for name in ("function", "domain")}


def _kernels(connection: Any, name: str, headings: list[str], part: Part) -> int:
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


def _integers(values: list[Any], heading: str, part: Part) -> Any:
    import pandas as pd

    good = [v if isinstance(v, int) else None for v in values]
    bad = sum(v is None and o is not None for v, o in zip(good, values, strict=True))
    if bad:
        part.complain("bad-value", "error", f"column {heading}: {bad:,} values are not integers; they are treated as "
                      "missing", count=bad)  # fmt: skip
    numbers = pd.array(good, dtype="Int64")
    return numbers if numbers.isna().any() else numbers.to_numpy("int64")


def _calls(connection: Any, name: str, headings: list[str], part: Part) -> Columns | None:
    places = {key(heading): place for place, heading in enumerate(headings)}
    if not {"name", "beginns", "endns"} <= places.keys():
        return None
    records = connection.execute(f'SELECT * FROM "{name}"').fetchall()  # noqa: S608 - a checked name
    if not records:
        return None
    columns: Columns = {
        "domain": factorised([name] * len(records)),
        "function": factorised([str(record[places["name"]]).strip('"') for record in records]),
    }
    for ours, theirs in (("start_ns", "beginns"), ("end_ns", "endns"), ("process_id", "pid"), ("thread_id", "tid")):
        if theirs in places:
            columns[ours] = _integers([record[places[theirs]] for record in records], theirs, part)
    columns["duration_ns"] = trusted_durations(columns, part, what="api_calls")
    return columns


FORMAT = OtherFormat("results database", "rocprof", "trace", _recognise, _read)
