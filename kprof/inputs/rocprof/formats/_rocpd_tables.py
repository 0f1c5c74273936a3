"""The queries behind :mod:`rocpd`: each reads one base table in one pass and joins in Python."""

import sqlite3
from math import nan
from typing import Any

from kprof.inputs.rocprof.columns import instance_of
from kprof.inputs.rocprof.dispatching import ABSURD_NS, complain_about_repeats, dispatches, trusted_durations
from kprof.inputs.rocprof.frames import coded, factorised
from kprof.inputs.rocprof.model import Columns, FileTables
from kprof.inputs.rocprof.names import normalise
from kprof.inputs.rocprof.plausible import COUNTER_LIMIT
from kprof.output.redacting import redacted_text

__all__ = ["ABSURD_NS", "agents", "everything", "kernel_names", "schema_version", "systems"]

Run = dict[str, str]
_DISPATCH = (
    ("dispatch_id", "dispatch_id"), ("queue_id", "queue_id"), ("stream_id", "stream_id"), ("process_id", "pid"),
    ("thread_id", "tid"), ("kernel_id", "kernel_id"), ("start_ns", "start"), ("end_ns", "end"),
    ("scratch_bytes", "private_segment_size"), ("lds_bytes", "group_segment_size"),
    ("workgroup_x", "workgroup_size_x"), ("workgroup_y", "workgroup_size_y"), ("workgroup_z", "workgroup_size_z"),
    ("grid_x", "grid_size_x"), ("grid_y", "grid_size_y"), ("grid_z", "grid_size_z"), ("agent", "agent_id"),
    ("event", "event_id"),
)  # fmt: skip


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')}


def _select(connection: sqlite3.Connection, run: Run, table: str, wanted: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Rows of a table with the wanted columns in order; a column that the schema lacks is ``None``."""
    if table not in run:
        return []
    present = _columns(connection, run[table])
    fields = ", ".join(_field(run, present, name) for name in wanted)
    return connection.execute(f'SELECT {fields} FROM "{run[table]}"').fetchall()  # noqa: S608 - checked names


def _field(run: Run, present: set[str], name: str) -> str:
    """SQL of a column; schema 4 keeps times in a table of their own and refers to their rows."""
    if name in present:
        return f'"{name}"'
    if f"{name}_id" in present and name in {"start", "end"} and "rocpd_timestamp" in run:
        return f'(SELECT value FROM "{run["rocpd_timestamp"]}" AS t WHERE t.id = "{name}_id")'  # noqa: S608 - checked names
    return "NULL"


def timed_dispatches(connection: sqlite3.Connection, run: Run) -> str:
    """SQL of a table of dispatches with their agents, kernels, starts and ends, in every schema."""
    table = run["rocpd_kernel_dispatch"]
    present = _columns(connection, table)
    fields = ", ".join(
        f'{_field(run, present, name)} AS "{name}"' for name in ("agent_id", "kernel_id", "start", "end")
    )
    return f'(SELECT {fields} FROM "{table}")'  # noqa: S608 - checked names


def schema_version(connection: sqlite3.Connection, runs: list[Run]) -> str | None:
    """``schema_version`` of the first run that says it."""
    for run in runs:
        for tag, value in _select(connection, run, "rocpd_metadata", ("tag", "value")):
            if tag == "schema_version":
                return str(value)[:20]
    return None


def agent_numbers(connection: sqlite3.Connection, run: Run) -> dict[Any, int | None]:
    """Row id of an agent to its absolute index: CPUs are counted too."""
    rows = _select(connection, run, "rocpd_info_agent", ("id", "absolute_index"))
    return {number: index if isinstance(index, int) else None for number, index in rows}


def agents(connection: sqlite3.Connection, runs: list[Run]) -> Columns:
    """The agents table."""
    import pandas as pd

    wanted = ("absolute_index", "logical_index", "type", "name", "product_name")
    rows = [row for run in runs for row in _select(connection, run, "rocpd_info_agent", wanted)]
    return {
        "agent": _integers([row[0] for row in rows]),
        "logical_node_id": _integers([row[1] for row in rows]),
        "type": factorised([_text(row[2]) for row in rows]),
        "name": factorised([_text(row[3]) for row in rows]),
        "product": factorised([_text(row[4]) for row in rows]),
    } if rows else {"agent": pd.array([], dtype="Int64")}  # fmt: skip


def systems(connection: sqlite3.Connection, runs: list[Run]) -> Columns:
    """Host, system and command line, without secrets. The environment of the process is not read: it holds them."""
    pairs = []
    for run in runs:
        for row in _select(connection, run, "rocpd_info_node", ("hostname", "system_name", "release")):
            pairs += list(zip(("hostname", "system", "release"), row, strict=True))
        commands = [_text(row[0]) for row in _select(connection, run, "rocpd_info_process", ("command",))]
        pairs += [("command", redacted_text(command)) for command in commands if command is not None]
    pairs = [(name, _text(value)) for name, value in pairs if value is not None]
    return {"name": factorised([n for n, _ in pairs]), "value": factorised([v for _, v in pairs])} if pairs else {}


def kernel_names(connection: sqlite3.Connection, run: Run) -> dict[Any, tuple[str, str, Any, Any, Any]]:
    """Kernel id to normalised name, name as written, VGPRs, AGPRs and SGPRs."""
    wanted = ("id", "display_name", "kernel_name", "arch_vgpr_count", "accum_vgpr_count", "sgpr_count")
    rows = _select(connection, run, "rocpd_info_kernel_symbol", wanted)
    named = [(row, _text(row[1]) or _text(row[2]) or f"kernel {row[0]}") for row in rows]
    return {row[0]: (normalise(name), name, row[3], row[4], row[5]) for row, name in named}


def kernel_columns(merged: dict[tuple[int | None, str], list[Any]]) -> Columns:
    """The kernels table from ``(agent, name) -> [calls, total, min, max]``."""
    import numpy as np

    keys, values = list(merged), np.array(list(merged.values()), dtype=np.int64).reshape(-1, 4)
    return {
        "agent": _integers([agent for agent, _ in keys]),
        "kernel_name": np.array([name for _, name in keys], dtype=object),
        "calls": values[:, 0],
        "timed_calls": values[:, 0],
        "total_ns": values[:, 1],
        "average_ns": values[:, 1] / np.maximum(values[:, 0], 1),
        "min_ns": values[:, 2],
        "max_ns": values[:, 3],
    }


def everything(connection: sqlite3.Connection, runs: list[Run], part: FileTables) -> dict[str, Columns]:
    """All rows: dispatches, counters, calls, copies and allocations."""
    pieces: dict[str, list[Columns]] = {}
    offset = 0
    for run in runs:
        own, events = _dispatches(connection, run, part)
        counters = _counters(connection, run, own, (events, offset), part)
        calls = _regions(connection, run, part)
        copies, memory = _copies(connection, run, part), _allocations(connection, run, part)
        offset += len(own["dispatch_id"])
        named = {"dispatches": own, "counters": counters, "api_calls": calls, "copies": copies, "allocations": memory}
        for name, columns in named.items():
            if columns and len(next(iter(columns.values()))):
                pieces.setdefault(name, []).append(columns)
    tables = {name: found[0] if len(found) == 1 else _stack(found) for name, found in pieces.items()}
    if "dispatches" in tables:
        complain_about_repeats(tables["dispatches"], part)
    return tables


def _stack(pieces: list[Columns]) -> Columns:
    import pandas as pd
    from pandas.api.types import union_categoricals

    stacked: Columns = {}
    for name in pieces[0]:
        arrays = [piece[name] for piece in pieces]
        if isinstance(arrays[0], pd.Categorical):
            stacked[name] = union_categoricals(arrays)
        else:
            stacked[name] = pd.concat([pd.Series(a) for a in arrays], ignore_index=True).array
    return stacked


def _dispatches(connection: sqlite3.Connection, run: Run, part: FileTables) -> tuple[Columns, dict[Any, int]]:

    rows = _select(connection, run, "rocpd_kernel_dispatch", tuple(theirs for _, theirs in _DISPATCH))
    by_column = list(zip(*rows, strict=True)) if rows else [()] * len(_DISPATCH)
    columns: Columns = {ours: list(values) for (ours, _), values in zip(_DISPATCH, by_column, strict=True)}
    events = {event: row for row, event in enumerate(columns.pop("event")) if event is not None}
    symbols = kernel_names(connection, run)
    order = {number: place for place, number in enumerate(symbols)}
    unknown = sum(number not in order for number in columns["kernel_id"])
    if unknown:
        part.complain("unknown-kernel", "warning", f"{unknown:,} dispatches are of kernels that the database does not "
                      "name", count=unknown)  # fmt: skip
    codes = [order.get(number, -1) for number in columns["kernel_id"]]
    words = [symbol[1] for symbol in symbols.values()]
    distinct = list(dict.fromkeys(words))
    place = {word: index for index, word in enumerate(distinct)}
    shared = [place[words[code]] if code >= 0 else -1 for code in codes]
    agent_of = agent_numbers(connection, run)
    columns["agent"] = [agent_of.get(agent) for agent in columns["agent"]]
    for at, name in ((2, "vgprs"), (3, "agprs"), (4, "sgprs")):
        columns[name] = [symbols[number][at] if number in symbols else None for number in columns["kernel_id"]]
    arrays: Columns = {name: _integers(values) for name, values in columns.items()}
    arrays["kernel_name"] = coded(shared, distinct or [""])
    return dispatches(arrays, part), events


def _counted_values(connection: sqlite3.Connection, run: Run, part: FileTables) -> list[tuple[Any, ...]]:
    """Event, counter and value of each row that belongs to a dispatch as a whole, not to a moment in it."""
    rows = _select(connection, run, "rocpd_pmc_event", ("event_id", "pmc_id", "value", "sample_id"))
    sampled = sum(sample is not None for *_, sample in rows)
    if sampled:
        part.complain("streamed-samples", "note", f"{sampled:,} samples of streaming counters are left out: they are "
                      "values over time, not parts of a dispatch's counters", count=sampled)  # fmt: skip
    return [row[:3] for row in rows if row[3] is None]


def _counters(
    connection: sqlite3.Connection, run: Run, own: Columns, located: tuple[dict[Any, int], int], part: FileTables
) -> Columns:
    import numpy as np

    events, offset = located
    rows = _counted_values(connection, run, part)
    if not rows:
        return {}
    names = dict(_select(connection, run, "rocpd_info_pmc", ("id", "name")))
    # One row an instance (XCD, shader engine, channel): a counter's value is their sum.
    sums: dict[tuple[int, Any], float] = {}
    wrong: dict[tuple[int, Any], float] = {}
    for event, counter, value in rows:
        row = events.get(event)
        if row is None:
            continue
        if isinstance(value, int | float) and 0 <= value < COUNTER_LIMIT:
            sums[row, counter] = sums.get((row, counter), 0.0) + value
        else:
            # A sum must not hide it: the whole value is taken out, and said, by what it is.
            wrong[row, counter] = float(value) if isinstance(value, int | float) else nan
    sums |= wrong
    places = np.array([row for row, _ in sums], dtype=np.int64)
    split = [instance_of(_text(names.get(counter)) or f"counter {counter}") for _, counter in sums]
    return {
        "dispatch": places + offset,
        **{name: own[name].take(places) for name in ("agent", "dispatch_id", "kernel_name")},
        "counter": factorised([name for name, _ in split]),
        "instance": np.array([instance for _, instance in split], dtype=np.int16),
        "pass": np.zeros(len(places), dtype=np.int16),
        "value": np.array(list(sums.values()), dtype=np.float64),
    }


def _strings(connection: sqlite3.Connection, run: Run) -> dict[Any, str]:
    return {number: _text(text) or "" for number, text in _select(connection, run, "rocpd_string", ("id", "string"))}


def _timed(rows: list[tuple[Any, ...]], part: FileTables, what: str) -> Columns:
    columns: Columns = {
        name: _integers([row[place] for row in rows])
        for place, name in enumerate(("process_id", "thread_id", "start_ns", "end_ns"))
    }
    columns["duration_ns"] = trusted_durations(columns, part, what=what)
    return columns


def _regions(connection: sqlite3.Connection, run: Run, part: FileTables) -> Columns:
    rows = _select(connection, run, "rocpd_region", ("pid", "tid", "start", "end", "name_id", "event_id"))
    if not rows:
        return {}
    words = _strings(connection, run)
    wanted = ("id", "category_id", "correlation_id")
    events = {row[0]: row[1:] for row in _select(connection, run, "rocpd_event", wanted)}
    about = [events.get(row[5], (None, None)) for row in rows]
    return {
        "domain": factorised([words.get(category, "?") for category, _ in about]),
        "function": factorised([words.get(row[4], "?") for row in rows]),
        **_timed(rows, part, "api_calls"),
        "correlation_id": _integers([correlation for _, correlation in about]),
    }


def _copies(connection: sqlite3.Connection, run: Run, part: FileTables) -> Columns:
    wanted = ("pid", "tid", "start", "end", "name_id", "src_agent_id", "dst_agent_id", "size")
    rows = _select(connection, run, "rocpd_memory_copy", wanted)
    if not rows:
        return {}
    words, agent_of = _strings(connection, run), agent_numbers(connection, run)
    return {
        "direction": factorised([words.get(row[4], "?") for row in rows]),
        "source_agent": _integers([agent_of.get(row[5]) for row in rows]),
        "destination_agent": _integers([agent_of.get(row[6]) for row in rows]),
        "bytes": _integers([row[7] for row in rows]),
        **_timed(rows, part, "copies"),
    }


def _allocations(connection: sqlite3.Connection, run: Run, part: FileTables) -> Columns:
    wanted = ("pid", "tid", "start", "end", "type", "level", "agent_id", "size")
    rows = _select(connection, run, "rocpd_memory_allocate", wanted)
    if not rows:
        return {}
    agent_of = agent_numbers(connection, run)
    return {
        "operation": factorised([f"{_text(row[5])} {_text(row[4])}" for row in rows]),
        "agent": _integers([agent_of.get(row[6]) for row in rows]),
        "bytes": _integers([row[7] for row in rows]),
        **_timed(rows, part, "allocations"),
    }


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _integers(values: list[Any]) -> Any:
    import numpy as np
    import pandas as pd

    try:
        if None not in values:
            return np.array(values, dtype=np.int64)
    except (ValueError, TypeError, OverflowError):
        pass
    return pd.array([v if isinstance(v, int) and -(2**63) <= v < 2**63 else None for v in values], dtype="Int64")
