"""Open an untrusted SQLite file such that it can only be read.

The file is opened read-only, and no file is written next to it. Views and triggers are code in the file, so only plain
tables are read. Extensions cannot be loaded and the schema is not trusted. An authorizer rejects everything except
reading columns and a few harmless functions, and a deadline stops slow queries.
"""

import re
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from kprof.errors import InputError, KprofError
from kprof.inputs.opening import opened as opened_file

MAX_SECONDS = 900.0
"""Seconds after which a query is stopped."""

_FUNCTIONS = {"count", "sum", "min", "max", "total", "coalesce", "ifnull", "typeof", "abs"}
_READING = {sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT}
_MAGIC = b"SQLite format 3\0"
_WAL = 2
_LONGEST_VALUE = 64 << 20


def is_database(head: bytes) -> bool:
    """Return whether a file begins with SQLite's magic bytes."""
    return head[: len(_MAGIC)] == _MAGIC


def tables_in(path: Path) -> dict[str, list[str]]:
    """Return the plain tables and their columns, without views, virtual tables and names that need quoting.

    Raises:
        KprofError: under the conditions of :func:`opened`.
    """
    with opened(path) as connection:
        return plain_tables(connection)


def plain_tables(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the plain tables and their columns of an open database; see :func:`tables_in`."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    found = {}
    for name, sql in rows:
        plain = isinstance(name, str) and isinstance(sql, str) and re.fullmatch(r"\w{1,200}", name, re.ASCII)
        if plain and not re.match(r"\s*CREATE\s+VIRTUAL", sql, re.IGNORECASE):
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{name}")')]
            found[name] = [column for column in columns if isinstance(column, str)]
    return found


def _authorize(action: int, first: str | None, second: str | None, _base: str | None, _inner: str | None) -> int:
    if action in _READING:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_OK if (second or "").lower() in _FUNCTIONS else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_PRAGMA and first == "table_info":
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


@contextmanager
def opened(path: Path, *, max_seconds: float = MAX_SECONDS) -> Iterator[sqlite3.Connection]:
    """Open a guarded connection.

    Raises:
        KprofError: if the file is not a database, is damaged, locked by a writer, rejected by the guard or too slow to
            read. Errors in the ``with`` block are converted in the same way.
    """
    connection = _connect(path)
    deadline = time.monotonic() + max_seconds
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
    connection.set_authorizer(_authorize)
    try:
        yield connection
    except sqlite3.Error as error:
        raise _in_words(error, path) from error
    except UnicodeDecodeError as error:
        # Values are decoded leniently by ``text_factory``, but sqlite3 decodes column names strictly.
        raise InputError("the database is damaged: it contains a name that is not UTF-8", path=str(path)) from error
    finally:
        connection.close()


def _connect(path: Path) -> sqlite3.Connection:
    try:
        with opened_file(path) as file:
            head = file.read(100)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=str(path)) from error
    # SQLite would create files next to a database in WAL mode. Opening it as immutable prevents that.
    flags = "mode=ro&immutable=1" if head[18:19] == bytes([_WAL]) else "mode=ro"
    try:
        connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?{flags}", uri=True, timeout=2.0)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA mmap_size = 0")
        if sys.version_info >= (3, 11):
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    except sqlite3.Error as error:
        raise _in_words(error, path) from error
    return connection


def unmerged(path: Path) -> str | None:
    """Return a sentence about a log that a writer left next to the file, or ``None``."""
    for suffix, words in (("-wal", "a write-ahead log"), ("-journal", "a rollback journal")):
        log = path.with_name(path.name + suffix)
        if log.is_file() and log.stat().st_size:
            return f"{words} is next to the database: its newest rows may be missing"
    return None


def _in_words(error: sqlite3.Error, path: Path) -> KprofError:
    text = str(error)
    hint = None
    if "locked" in text or "busy" in text:
        text, hint = (
            "the database is locked by another program",
            "wait until the profiled program has ended, or copy the file",
        )
    elif "interrupted" in text:
        text = "reading takes too long and was stopped"
    elif "not authorized" in text or "prohibited" in text or "unsafe use" in text:
        text = f"reading the database would run code in it, so reading was stopped: {text}"
    elif "malformed" in text or "not a database" in text:
        text = f"the database is damaged or cut off: {text}"
    else:
        text = f"the database cannot be read: {text}"
    return InputError(text, path=str(path), hint=hint)
