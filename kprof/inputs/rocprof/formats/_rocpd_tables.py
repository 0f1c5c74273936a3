"""Query the tables of a rocpd database. Each query reads one base table in one pass, and Python joins the results."""

import sqlite3
from typing import Any, NamedTuple

import msgspec

from kprof.inputs.boundary import JSON_ERRORS
from kprof.inputs.rocprof.dispatching import ABSURD_NS, complain_about_repeats, dispatches, trusted_durations
from kprof.inputs.rocprof.formats._rocpd_counters import counters_of, without_replays
from kprof.inputs.rocprof.formats._rocpd_schema import Run, columns_of, field_of, integer_column, select, text_of
from kprof.inputs.rocprof.frames import coded, factorised
from kprof.inputs.rocprof.model import Columns, FileTables
from kprof.inputs.rocprof.names import normalise
from kprof.output.redacting import redacted_text

__all__ = ["ABSURD_NS", "agents", "everything", "kernel_names", "schema_version", "systems"]

_DISPATCH = (
    ("dispatch_id", "dispatch_id"), ("queue_id", "queue_id"), ("stream_id", "stream_id"), ("process_id", "pid"),
    ("thread_id", "tid"), ("kernel_id", "kernel_id"), ("start_ns", "start"), ("end_ns", "end"),
    ("scratch_bytes", "private_segment_size"), ("lds_bytes", "group_segment_size"),
    ("workgroup_x", "workgroup_size_x"), ("workgroup_y", "workgroup_size_y"), ("workgroup_z", "workgroup_size_z"),
    ("grid_x", "grid_size_x"), ("grid_y", "grid_size_y"), ("grid_z", "grid_size_z"), ("agent", "agent_id"),
    ("event", "event_id"),
)  # fmt: skip


def timed_dispatches(connection: sqlite3.Connection, run: Run) -> str:
    """Return the SQL of a table with the agent, kernel, start and end of each dispatch.

    The columns have the same names for every version of the rocpd schema.
    """
    table = run["rocpd_kernel_dispatch"]
    present = columns_of(connection, table)
    fields = ", ".join(
        f'{field_of(run, present, name)} AS "{name}"' for name in ("agent_id", "kernel_id", "start", "end")
    )
    return f'(SELECT {fields} FROM "{table}")'  # noqa: S608 - checked names


def schema_version(connection: sqlite3.Connection, runs: list[Run]) -> str | None:
    """Return the first ``schema_version`` found in the runs, or ``None``."""
    for run in runs:
        for tag, value in select(connection, run, "rocpd_metadata", ("tag", "value")):
            if tag == "schema_version":
                return str(value)[:20]
    return None


def agent_numbers(connection: sqlite3.Connection, run: Run) -> dict[Any, int | None]:
    """Return the index of each agent among all CPUs and GPUs (its absolute index), by row id."""
    rows = select(connection, run, "rocpd_info_agent", ("id", "absolute_index"))
    return {number: index if isinstance(index, int) else None for number, index in rows}


def agents(connection: sqlite3.Connection, runs: list[Run]) -> Columns:
    """Return the agents table."""
    import pandas as pd

    wanted = ("absolute_index", "logical_index", "type", "name", "product_name")
    rows = [row for run in runs for row in select(connection, run, "rocpd_info_agent", wanted)]
    return {
        "agent": integer_column([row[0] for row in rows]),
        "logical_node_id": integer_column([row[1] for row in rows]),
        "type": factorised([text_of(row[2]) for row in rows]),
        "name": factorised([text_of(row[3]) for row in rows]),
        "product": factorised([text_of(row[4]) for row in rows]),
    } if rows else {"agent": pd.array([], dtype="Int64")}  # fmt: skip


def systems(connection: sqlite3.Connection, runs: list[Run]) -> Columns:
    """Return host, system and redacted command lines; the process environment, which contains secrets, is not read."""
    pairs = []
    for run in runs:
        for row in select(connection, run, "rocpd_info_node", ("hostname", "system_name", "release")):
            pairs += list(zip(("hostname", "system", "release"), row, strict=True))
        commands = [text_of(row[0]) for row in select(connection, run, "rocpd_info_process", ("command",))]
        pairs += [("command", redacted_text(command)) for command in commands if command is not None]
    pairs = [(name, text_of(value)) for name, value in pairs if value is not None]
    return {"name": factorised([n for n, _ in pairs]), "value": factorised([v for _, v in pairs])} if pairs else {}


def kernel_names(connection: sqlite3.Connection, run: Run) -> dict[Any, tuple[str, str, Any, Any, Any]]:
    """Return normalised name, original name, VGPRs, AGPRs and SGPRs of each kernel id."""
    wanted = ("id", "display_name", "kernel_name", "arch_vgpr_count", "accum_vgpr_count", "sgpr_count")
    rows = select(connection, run, "rocpd_info_kernel_symbol", wanted)
    named = [(row, text_of(row[1]) or text_of(row[2]) or f"kernel {row[0]}") for row in rows]
    return {row[0]: (normalise(name), name, row[3], row[4], row[5]) for row, name in named}


def kernel_columns(merged: dict[tuple[int | None, str], list[Any]]) -> Columns:
    """Return the kernels table from a mapping ``(agent, name) -> [calls, total, min, max]`` with times in ns."""
    import numpy as np

    keys, values = list(merged), np.array(list(merged.values()), dtype=np.int64).reshape(-1, 4)
    return {
        "agent": integer_column([agent for agent, _ in keys]),
        "kernel_name": np.array([name for _, name in keys], dtype=object),
        "calls": values[:, 0],
        "timed_calls": values[:, 0],
        "total_ns": values[:, 1],
        "average_ns": values[:, 1] / np.maximum(values[:, 0], 1),
        "min_ns": values[:, 2],
        "max_ns": values[:, 3],
    }


def everything(connection: sqlite3.Connection, runs: list[Run], part: FileTables) -> dict[str, Columns]:
    """Return the tables with all rows: dispatches, counters, calls, copies and allocations."""
    pieces: dict[str, list[Columns]] = {}
    offset = 0
    for run in runs:
        own, events = _dispatches(connection, run, part)
        counters = counters_of(connection, run, own, (events, offset), part)
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


def _dispatches(
    connection: sqlite3.Connection, run: Run, part: FileTables
) -> tuple[Columns, dict[Any, tuple[int, int]]]:
    """Return the dispatches, and the dispatch row and execution number of each event."""
    rows = select(connection, run, "rocpd_kernel_dispatch", tuple(theirs for _, theirs in _DISPATCH))
    by_column = list(zip(*rows, strict=True)) if rows else [()] * len(_DISPATCH)
    columns: Columns = {ours: list(values) for (ours, _), values in zip(_DISPATCH, by_column, strict=True)}
    recorded = _events(connection, run)
    columns["correlation_id"] = [recorded[event].correlation if event in recorded else None
                                 for event in columns["event"]]  # fmt: skip
    events = without_replays(columns, part)
    symbols = kernel_names(connection, run)
    order = {number: place for place, number in enumerate(symbols)}
    unknown = sum(number not in order for number in columns["kernel_id"])
    if unknown:
        part.complain(
            "unknown-kernel",
            "warning",
            f"the database does not name the kernels of {unknown:,} dispatches",
            count=unknown,
        )
    codes = [order.get(number, -1) for number in columns["kernel_id"]]
    words = [symbol[1] for symbol in symbols.values()]
    distinct = list(dict.fromkeys(words))
    place = {word: index for index, word in enumerate(distinct)}
    shared = [place[words[code]] if code >= 0 else -1 for code in codes]
    agent_of = agent_numbers(connection, run)
    columns["agent"] = [agent_of.get(agent) for agent in columns["agent"]]
    for at, name in ((2, "vgprs"), (3, "agprs"), (4, "sgprs")):
        columns[name] = [symbols[number][at] if number in symbols else None for number in columns["kernel_id"]]
    arrays: Columns = {name: integer_column(values) for name, values in columns.items()}
    arrays["kernel_name"] = coded(shared, distinct or [""])
    return dispatches(arrays, part), events


def _strings(connection: sqlite3.Connection, run: Run) -> dict[Any, str]:
    return {number: text_of(text) or "" for number, text in select(connection, run, "rocpd_string", ("id", "string"))}


def _timed(rows: list[tuple[Any, ...]], part: FileTables, what: str) -> Columns:
    columns: Columns = {
        name: integer_column([row[place] for row in rows])
        for place, name in enumerate(("process_id", "thread_id", "start_ns", "end_ns"))
    }
    columns["duration_ns"] = trusted_durations(columns, part, what=what)
    return columns


class _Event(NamedTuple):
    """Category, correlation id and additional data of an event."""

    category: Any
    correlation: int | None
    data: str | None


def _events(connection: sqlite3.Connection, run: Run) -> dict[Any, _Event]:
    """Return the events by id.

    rocprofv3 writes its own correlation id as ``stack_id``, and the program's correlation id as ``correlation_id``.
    """
    wanted = ("id", "category_id", "stack_id", "correlation_id", "extdata")
    return {
        number: _Event(category, stack or correlation, None if data == "{}" else data)
        for number, category, stack, correlation, data in select(connection, run, "rocpd_event", wanted)
    }


def _message(data: str | None) -> str | None:
    """Return the text that a program passed to a marker, or ``None``."""
    try:
        found = msgspec.json.decode(data or "{}")
    except JSON_ERRORS:
        return None
    return text_of(found.get("message")) if isinstance(found, dict) else None


def _regions(connection: sqlite3.Connection, run: Run, part: FileTables) -> Columns:
    rows = select(connection, run, "rocpd_region", ("pid", "tid", "start", "end", "name_id", "event_id"))
    if not rows:
        return {}
    words, events = _strings(connection, run), _events(connection, run)
    about = [events.get(row[5], _Event(None, None, None)) for row in rows]
    # Schema 4 has a table of categories; in earlier schemas they are among the strings.
    named = dict(select(connection, run, "rocpd_info_category", ("id", "name"))) or words
    return {
        "domain": factorised([text_of(named.get(event.category)) or "?" for event in about]),
        "function": factorised(
            [_message(event.data) or words.get(row[4], "?") for row, event in zip(rows, about, strict=True)]
        ),
        **_timed(rows, part, "api_calls"),
        "correlation_id": integer_column([event.correlation for event in about]),
    }


def _copies(connection: sqlite3.Connection, run: Run, part: FileTables) -> Columns:
    wanted = ("pid", "tid", "start", "end", "name_id", "src_agent_id", "dst_agent_id", "size", "event_id", "stream_id")
    rows = select(connection, run, "rocpd_memory_copy", wanted)
    if not rows:
        return {}
    words, agent_of, events = _strings(connection, run), agent_numbers(connection, run), _events(connection, run)
    return {
        "correlation_id": integer_column([events[row[8]].correlation if row[8] in events else None for row in rows]),
        "stream_id": integer_column([row[9] or None for row in rows]),
        "direction": factorised([words.get(row[4], "?") for row in rows]),
        "source_agent": integer_column([agent_of.get(row[5]) for row in rows]),
        "destination_agent": integer_column([agent_of.get(row[6]) for row in rows]),
        "bytes": integer_column([row[7] for row in rows]),
        **_timed(rows, part, "copies"),
    }


def _allocations(connection: sqlite3.Connection, run: Run, part: FileTables) -> Columns:
    wanted = ("pid", "tid", "start", "end", "type", "level", "agent_id", "size")
    rows = select(connection, run, "rocpd_memory_allocate", wanted)
    if not rows:
        return {}
    agent_of = agent_numbers(connection, run)
    return {
        "operation": factorised([f"{text_of(row[5])} {text_of(row[4])}" for row in rows]),
        "agent": integer_column([agent_of.get(row[6]) for row in rows]),
        "bytes": integer_column([row[7] for row in rows]),
        **_timed(rows, part, "allocations"),
    }
