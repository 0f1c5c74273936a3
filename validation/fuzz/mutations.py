"""Damage to files: bytes, numbers, texts, structure. The same seed gives the same damage."""

import json
import random
import re
import sqlite3
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

NUMBERS = (
    "0", "-1", "1", "2", "7", "65536", "1000000", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808",
    "18446744073709551615", "1e300", "-1e300", "1e11", "1e999", "nan", "NaN", "inf", "-Infinity", "0x7fffffffffffffff", "1.5",
    "-0.0", "", "9" * 40, "9" * 5000, "\u0663", "1_000", "null", "true", "[]", "{}", '"x"',
)  # fmt: skip
TEXTS = (
    "", " ", "x", "\0", "\n", "\x1b[31m", "\u202e", "\udcff", "=1+1", "::error::x", "../../../etc/passwd", "a" * 5000,
    "%s%n", "{}", "[", "]", "<", ">", '"', "\\", "#", "\u00e9", "null",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 1e300, float("nan"), float("inf"), 2**31, 2**53, 2**63, 2**64 - 1, 10**30, "", "x", "0",
    "\udcff", "a" * 3000, [], {}, [[]], [None], {"": None}, [1, 2, 3], [0] * 70,
)  # fmt: skip
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9.]{2,}")
_MARKS = re.compile(rb"[{}\[\]()<>,:;=\"'\n]")

Mutation = Callable[[random.Random, bytes], bytes]


def _at(chance: random.Random, data: bytes) -> int:
    return chance.randrange(len(data)) if data else 0


def _flip(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        if changed:
            changed[_at(chance, data)] = chance.choice((0, 255, 10, 34, 0x80, chance.randrange(256)))
    return bytes(changed)


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: _at(chance, data)]


def _remove(chance: random.Random, data: bytes) -> bytes:
    at = _at(chance, data)
    return data[:at] + data[at + chance.choice((1, 2, 4, 40, 400)) :]


def _repeat(chance: random.Random, data: bytes) -> bytes:
    at = _at(chance, data)
    piece = data[at : at + chance.choice((1, 10, 100, 1000))]
    return data[:at] + piece * chance.choice((2, 2, 3, 50)) + data[at:]


def _swap(chance: random.Random, data: bytes) -> bytes:
    one, two = sorted((_at(chance, data), _at(chance, data)))
    size = chance.choice((1, 4, 16, 100))
    return data[:one] + data[two : two + size] + data[one + size : two] + data[one : one + size] + data[two + size :]


def _field(chance: random.Random, data: bytes) -> bytes:
    """A 16, 32 or 64-bit field of a binary file."""
    size = chance.choice((2, 4, 8))
    at = _at(chance, data) // size * size
    value = chance.choice((0, 1, 2**15, 2 ** (8 * size - 1), 2 ** (8 * size) - 1, len(data), chance.randrange(1 << 16)))
    return data[:at] + (value % (1 << 8 * size)).to_bytes(size, "little") + data[at + size :]


def _found(chance: random.Random, data: bytes, what: "re.Pattern[bytes]") -> "re.Match[bytes] | None":
    """A match near a random place: of a large file only a part is looked at."""
    at = _at(chance, data)
    found = list(what.finditer(data, at, at + 4000)) or list(what.finditer(data, 0, 4000))
    return chance.choice(found) if found else None


def _replace(chance: random.Random, data: bytes, what: "re.Pattern[bytes]", by: str) -> bytes:
    found = _found(chance, data, what)
    return data if found is None else data[: found.start()] + by.encode(errors="replace") + data[found.end() :]


def _number(chance: random.Random, data: bytes) -> bytes:
    return _replace(chance, data, _NUMBER, chance.choice(NUMBERS))


def _word(chance: random.Random, data: bytes) -> bytes:
    other = _found(chance, data, _WORD)
    by = other[0].decode() if other is not None and chance.random() < 0.5 else chance.choice(TEXTS)
    return _replace(chance, data, _WORD, by)


def _mark(chance: random.Random, data: bytes) -> bytes:
    return _replace(chance, data, _MARKS, chance.choice(TEXTS))


def _deep(chance: random.Random, data: bytes) -> bytes:
    at, (left, right) = _at(chance, data), chance.choice(((b"[", b"]"), (b"(", b")"), (b'{"a":', b"}"), (b"<{", b"}>")))
    times = chance.choice((50, 1200, 20_000))
    return data[:at] + left * times + right * (times if chance.random() < 0.7 else 0) + data[at:]


def _lines(chance: random.Random, data: bytes) -> bytes:
    """Lines out of order, gone or doubled."""
    lines = data.split(b"\n")
    one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
    if chance.random() < 0.5:
        lines[one], lines[two] = lines[two], lines[one]
    else:
        lines[one : one + chance.choice((0, 1, 5))] = [lines[two]] * chance.choice((0, 1, 2))
    return b"\n".join(lines)


def _json(chance: random.Random, data: bytes) -> bytes:
    """A value of a JSON document, or of one line of it, by another, of another kind mostly."""
    lines = data.split(b"\n") if data.count(b"\n{") > 1 and data.startswith(b"{") else [data]
    at = chance.randrange(len(lines))
    try:
        document = json.loads(lines[at])
    except (ValueError, RecursionError):
        return _number(chance, data)
    lines[at] = json.dumps(_inside(chance, document)).encode(errors="replace")
    return b"\n".join(lines)


def _inside(chance: random.Random, value: Any) -> Any:
    places: list[Any] = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    if not places or chance.random() < 0.2:
        return chance.choice(VALUES)
    place = chance.choice(places)
    how = chance.random()
    if how < 0.1:
        del value[place]
    elif how < 0.15 and isinstance(value, dict):
        value[chance.choice(TEXTS)] = value.pop(place)
    else:
        value[place] = _inside(chance, value[place])
    return value


def _database(chance: random.Random, data: bytes, scratch: Path) -> bytes:
    """A cell, or a column's name, of a SQLite database."""
    path = scratch / "mutated.db"
    path.write_bytes(data)
    connection = sqlite3.connect(path)
    try:
        tables = [r[0] for r in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = chance.choice(tables)
        columns = [r[1] for r in connection.execute(f'PRAGMA table_info("{table}")')]
        column = chance.choice(columns)
        value = chance.choice([v for v in VALUES if not isinstance(v, (list, dict))] + [b"\xff\x00", "text", -(2**63)])
        value = None if isinstance(value, int) and abs(value) >= 2**63 else value
        if isinstance(value, str):
            value = value.encode(errors="replace").decode()
        if chance.random() < 0.1:
            connection.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "other"')
        elif chance.random() < 0.1:
            connection.execute(f'DELETE FROM "{table}"')
        else:
            row = chance.choice(["", " WHERE rowid % 3 = 1"])
            connection.execute(f'UPDATE "{table}" SET "{column}" = ?{row}', (value,))
        connection.commit()
    except (sqlite3.Error, IndexError, OverflowError, UnicodeDecodeError):
        return _flip(chance, data)
    finally:
        connection.close()
    return path.read_bytes()


def _zip(chance: random.Random, data: bytes) -> bytes:
    """The file in a zip archive, which is then damaged."""
    held = BytesIO()
    with zipfile.ZipFile(held, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name in ("one", "two"):
            # Without a time, which would be now.
            archive.writestr(zipfile.ZipInfo(name), data, archive.compression)
    return chance.choice((_flip, _field, _cut))(chance, held.getvalue())


_TEXT: tuple[Mutation, ...] = (
    _flip, _cut, _remove, _repeat, _swap, _number, _number, _number, _word, _word, _mark, _deep, _lines, _json, _json, _json,
)  # fmt: skip
_BINARY: tuple[Mutation, ...] = (_flip, _cut, _remove, _repeat, _swap, _field, _field, _field, _zip)


def damaged(chance: random.Random, data: bytes, scratch: Path) -> bytes:
    """The content of a file, damaged once, or up to three times."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        if data.startswith(b"SQLite format 3\0") and chance.random() < 0.7:
            data = _database(chance, data, scratch)
        else:
            binary = b"\0" in data[:512]
            data = chance.choice(_BINARY if binary else _TEXT)(chance, data)
    return data
