"""Read rocpd databases of rocprofv3 with schemas 3 and 4 and their predecessors.

Only the ``rocpd_...`` tables are read. The views with shorter names are not read, because views are code in an
untrusted file. A file that joins several runs has one set of tables per run; their names end in the run's guid.

One SQL query computes the total times of all kernels. The rows of single dispatches are read on first use.
"""

import re
import sqlite3
from pathlib import Path
from typing import Any

from kprof.errors import InputError
from kprof.inputs.rocprof import database
from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.formats import _rocpd_tables as reader
from kprof.inputs.rocprof.formats._rocpd_counters import has_replays
from kprof.inputs.rocprof.formats._rocpd_schema import referred
from kprof.inputs.rocprof.frames import length
from kprof.inputs.rocprof.model import Columns, FileTables
from kprof.inputs.rocprof.opening import Opened

_NAME = re.compile(r"^(rocpd_[a-z_]+?)(_[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12})?$")
_NEEDED = {
    "rocpd_kernel_dispatch": {"id", "agent_id", "kernel_id", "start", "end"},
    "rocpd_info_kernel_symbol": {"id", "display_name"},
}

_OTHERS = {
    "rocpd_pmc_event": "counters",
    "rocpd_region": "api_calls",
    "rocpd_memory_copy": "copies",
    "rocpd_memory_allocate": "allocations",
}


def _recognise(opened: Opened) -> float:
    if not database.is_database(opened.head):
        return 0.0
    # Any SQLite file is accepted with low confidence, because this reader's message about unknown schemas is clearer.
    return 1.0 if b"rocpd_" in opened.head else 0.5


def _read(opened: Opened, part: FileTables) -> None:
    path = opened.path
    if not opened.is_plain:
        raise InputError("a compressed database cannot be read in place", path=str(path), hint=f"gunzip -k {path}")
    beside = database.unmerged(path)
    if beside:
        part.complain("unmerged-log", "warning", beside)
    with database.opened(path) as connection:
        runs = runs_in(connection, path)
        version = reader.schema_version(connection, runs)
        rows = sum(_count(connection, run["rocpd_kernel_dispatch"]) for run in runs)
        part.describe(version=f"schema {version}" if version else None, rows=rows)
        if len(runs) > 1:
            part.complain("several-runs", "note", f"{len(runs)} runs in one database; their dispatches are combined")
        part.tables["agents"] = reader.agents(connection, runs)
        systems = reader.systems(connection, runs)
        if systems:
            part.tables["systems"] = systems
        counted = any(_count(connection, run.get("rocpd_pmc_event")) for run in runs)
        part.describe(role="counters" if counted else "trace")
        part.kernels = kernels(connection, runs) if rows else {}
    if not rows:
        part.complain("no-records", "warning", "the database has no dispatch")
    load = _Loader(path)
    if part.kernels is None:
        load(part)
        return
    part.lazy = load
    part.promised = frozenset({"dispatches", *_OTHERS.values()}) - (frozenset() if counted else {"counters"})


def runs_in(connection: sqlite3.Connection, path: Path) -> list[dict[str, str]]:
    """Return, for each run in the file, a mapping of table names without the guid to full table names.

    Raises:
        KprofError: if there is no dispatches table, or if it lacks required columns.
    """
    found: dict[str, dict[str, str]] = {}
    tables = database.plain_tables(connection)
    for name in tables:
        match = _NAME.match(name)
        if match:
            found.setdefault(match[2] or "", {})[match[1]] = name
    runs = [run for run in found.values() if "rocpd_kernel_dispatch" in run]
    if not runs:
        known = ", ".join(sorted(tables)[:6]) or "none"
        raise InputError(
            "an SQLite file, but not a rocpd or rocprof database", path=str(path), hint=f"its tables: {known}"
        )
    for run in runs:
        for table, columns in _NEEDED.items():
            present = set(tables.get(run.get(table, ""), []))
            missing = columns - present - referred(run, present)
            if missing:
                raise InputError(
                    f"a rocpd database of an unknown schema: {table} has no {', '.join(sorted(missing))}",
                    path=str(path),
                )
    return runs


def _count(connection: sqlite3.Connection, table: str | None) -> int:
    if table is None:
        return 0
    return int(connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0])  # noqa: S608 - a checked name


def kernels(connection: sqlite3.Connection, runs: list[dict[str, str]]) -> Columns | None:
    """Return the kernels table from one SQL query; ``None`` if replays or impossible times require reading all rows."""
    merged: dict[tuple[int | None, str], list[Any]] = {}
    for run in runs:
        if has_replays(connection, run):
            return None
        names = reader.kernel_names(connection, run)
        agent_of = reader.agent_numbers(connection, run)
        good = (
            "typeof(start) = 'integer' AND typeof(\"end\") = 'integer' AND start > 0 "
            f'AND "end" - start BETWEEN 0 AND {reader.ABSURD_NS}'
        )
        dispatches = reader.timed_dispatches(connection, run)
        query = (
            f'SELECT agent_id, kernel_id, count(*), sum({good}), sum(CASE WHEN {good} THEN "end" - start END), '  # noqa: S608 - a checked name
            f'min("end" - start), max("end" - start) FROM {dispatches} GROUP BY agent_id, kernel_id'
        )
        for agent, kernel, calls, timed, total, least, most in connection.execute(query):
            if timed < calls:
                return None
            key = (agent_of.get(agent), names.get(kernel, (f"kernel {kernel}",))[0])
            entry = merged.setdefault(key, [0, 0, least, most])
            entry[0] += calls
            entry[1] += total
            entry[2] = min(entry[2], least)
            entry[3] = max(entry[3], most)
    return reader.kernel_columns(merged)


class _Loader:
    """Reads the rows of a database into the tables of its file on first use."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, part: FileTables) -> None:
        with database.opened(self._path) as connection:
            runs = runs_in(connection, self._path)
            for name, columns in reader.everything(connection, runs, part).items():
                if length(columns):
                    part.tables[name] = columns


FORMAT = OtherFormat("rocpd database", "rocprofv3", "trace", _recognise, _read)
