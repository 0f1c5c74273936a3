"""Open a stranger's SQLite file so that reading it is all that can happen.

The file is opened read-only and no file is written next to it. Views and triggers are the file's own code: only plain
tables are read, extensions cannot be loaded, the schema is not trusted, an authorizer refuses everything but
reading columns and a few harmless functions, and a clock stops what takes too long.
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
"""A query that takes longer is stopped."""

_FUNCTIONS = {"count", "sum", "min", "max", "total", "coalesce", "ifnull", "typeof", "abs"}
_READING = {sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT}
_MAGIC = b"SQLite format 3\0"
_WAL = 2
_LONGEST_VALUE = 64 << 20


def is_database(head: bytes) -> bool:
    """SQLite's magic at the start of a file."""
    return head[: len(_MAGIC)] == _MAGIC


def tables_in(path: Path) -> dict[str, list[str]]:
    """Plain tables and their columns. Views, virtual tables and names that need quoting are left out.

    Raises:
        KprofError: as :func:`opened`.
    """
    with opened(path) as connection:
        return plain_tables(connection)


def plain_tables(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """As :func:`tables_in`, of an open connection."""
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
    """A guarded connection.

    Raises:
        KprofError: not a database, damaged, locked by a writer, refused by the guard or too slow. Errors inside
            the ``with`` block become the same.
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
        # Values are read whatever they hold; names of columns are not ours to decode.
        raise InputError("the database is damaged: a name in it is not UTF-8", path=str(path)) from error
    finally:
        connection.close()


def _connect(path: Path) -> sqlite3.Connection:
    try:
        with opened_file(path) as file:
            head = file.read(100)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=str(path)) from error
    # A database in WAL mode wants to make files beside itself, which reading must not: it is read as it lies.
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
    """What a writer left beside the file, in words; ``None`` when nothing."""
    for suffix, words in (("-wal", "a write-ahead log"), ("-journal", "a rollback journal")):
        log = path.with_name(path.name + suffix)
        if log.is_file() and log.stat().st_size:
            return f"{words} lies beside the database: its newest rows may be missing"
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
        text = f"the database wants to run code of its own and was not read further: {text}"
    elif "malformed" in text or "not a database" in text:
        text = f"the database is damaged or cut off: {text}"
    else:
        text = f"the database cannot be read: {text}"
    return InputError(text, path=str(path), hint=hint)
