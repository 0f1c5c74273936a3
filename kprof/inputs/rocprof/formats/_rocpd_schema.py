"""Read columns of rocpd tables in every schema version."""

import sqlite3
from typing import Any

Run = dict[str, str]

_TIMES = ("start", "end")
_OF_TRACK = {"pid", "tid", "agent_id", "queue_id", "stream_id"}


def columns_of(connection: sqlite3.Connection, table: str) -> set[str]:
    """Return the names of a table's columns."""
    return {row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')}


def select(connection: sqlite3.Connection, run: Run, table: str, wanted: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Return the rows of a table with the wanted columns in order; missing columns are ``None``."""
    if table not in run:
        return []
    present = columns_of(connection, run[table])
    fields = ", ".join(field_of(run, present, name) for name in wanted)
    return connection.execute(f'SELECT {fields} FROM "{run[table]}"').fetchall()  # noqa: S608 - checked names


def field_of(run: Run, present: set[str], name: str) -> str:
    """Return the SQL expression for a column. Schema 4 keeps times and tracks in separate tables, by row id."""
    if name in present:
        return f'"{name}"'
    if name in referred(run, present):
        table, key, value = (
            ("rocpd_timestamp", f"{name}_id", "value") if name in _TIMES else ("rocpd_track", "track_id", name)
        )
        return f'(SELECT "{value}" FROM "{run[table]}" AS t WHERE t.id = "{key}")'  # noqa: S608 - checked names
    return "NULL"


def referred(run: Run, present: set[str]) -> set[str]:
    """Return the columns of a schema 4 table that are stored in other tables.

    Args:
        run: real table name of each plain table name of the run.
        present: columns of the table itself.
    """
    times = {name for name in _TIMES if f"{name}_id" in present and "rocpd_timestamp" in run}
    return times | (_OF_TRACK if "track_id" in present and "rocpd_track" in run else set())


def text_of(value: Any) -> str | None:
    """Return a value as text; ``None`` stays ``None``."""
    return None if value is None else str(value)


def integer_column(values: list[Any]) -> Any:
    """Return integers as an array; other values, and integers beyond 64 bits, are missing."""
    import numpy as np
    import pandas as pd

    try:
        if None not in values:
            return np.array(values, dtype=np.int64)
    except (ValueError, TypeError, OverflowError):
        pass
    return pd.array([v if isinstance(v, int) and -(2**63) <= v < 2**63 else None for v in values], dtype="Int64")
