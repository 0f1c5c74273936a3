"""Read files from outside kprof: limit their size, and decode text, JSON, TOML, YAML and gzip data.

Every reader gets its bytes, text, JSON and TOML through this module. Rejected input raises a
:class:`kprof.errors.InputError` with file and place. This module accepts implausible values; the reader of each format
reports how many there are and excludes them from its sums.
"""

import json
import os
import re
import sys
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from kprof.errors import InputError, KprofError
from kprof.inputs.opening import opened

T = TypeVar("T")

LIMIT = 1 << 30
"""Maximum number of bytes of a file, or of its unpacked content, that is held in memory as a whole.

``KPROF_INPUT_LIMIT`` overrides it, in bytes or as 500M, 4G, 4GiB.
"""
RATIO = 100
"""Maximum ratio of a compressed file's unpacked size to its own size.

Profiles compress by a factor of 5 to 50. Deflate's maximum is 1032, which only data that repeats one byte approaches.
``KPROF_INPUT_RATIO`` overrides it.
"""
FREE = 64 << 20
"""Number of bytes that any compressed file may unpack to, even if :data:`RATIO` allows less."""
TEXT_LIMIT = 64 << 20
"""Maximum number of bytes of a file that a person writes or that describes other files."""

JSON_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError)
"""Errors that a JSON decoder raises for damaged, wrongly structured or too deeply nested data, or huge numbers."""

_SIZE = re.compile(r"([0-9]{1,15})\s*([KMGT]?)(?:i?B)?", re.ASCII | re.IGNORECASE)
_KEY = re.compile(rb'"([^"\\]*)"\s*:')
_CHUNK = 1 << 20
_MAX_NESTING = 50
_HINT = "set KPROF_INPUT_LIMIT=4G to read larger files"


def limit(default: int = LIMIT) -> int:
    """Return the maximum size of an input file in bytes: ``KPROF_INPUT_LIMIT`` if set, else ``default``.

    Raises:
        KprofError: if ``KPROF_INPUT_LIMIT`` is not a size.
    """
    text = os.environ.get("KPROF_INPUT_LIMIT")
    if not text:
        return default
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise KprofError(f"KPROF_INPUT_LIMIT is not a size: {text!r}", hint="Use bytes, or a size such as 500M or 4G.")
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[match[2].upper()]


def ratio() -> int:
    """Return the maximum ratio of a compressed file's unpacked size to its own size.

    Raises:
        KprofError: if ``KPROF_INPUT_RATIO`` is not a number.
    """
    text = os.environ.get("KPROF_INPUT_RATIO")
    if not text:
        return RATIO
    if not (text.isascii() and text.isdigit() and len(text) < 7 and int(text)):
        raise KprofError(f"KPROF_INPUT_RATIO is not a number: {text[:40]!r}", hint="Use an integer such as 1000.")
    return int(text)


def content_of(path: str | Path, most: int) -> bytes | None:
    """Return the bytes of a plain file, or ``None`` if it is missing, unreadable or has more than ``most`` bytes.

    Use it for files that other files name, such as sources: their absence is not an error.
    """
    try:
        return read_bytes(path, most=most)
    except InputError:
        return None


def read_bytes(path: str | Path, *, most: int | None = None, shown: str | None = None) -> bytes:
    """Return the bytes of a plain file.

    Args:
        path: the file.
        most: maximum number of bytes; :func:`limit` by default.
        shown: name of the file in messages; its path by default.

    Raises:
        KprofError: if the file is missing, is not a plain file (opening a pipe would wait for a writer), is too large,
            or cannot be read.
    """
    name = str(path) if shown is None else shown
    allowed = limit() if most is None else most
    try:
        with opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            data = b""
            if size <= allowed:
                # Read the file's current size first, then the bytes that were appended meanwhile. Reading up to the
                # limit in one call would allocate that much memory at once.
                data = file.read(size)
                while len(data) <= allowed and (more := file.read(_CHUNK)):
                    data += more
                size = len(data)
    except InputError as error:
        raise InputError(error.message, path=name) from None
    except FileNotFoundError:
        raise InputError("no such file", path=name) from None
    except IsADirectoryError:
        raise InputError("this is a directory", path=name) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=name) from None
    except ValueError:
        # A null byte is the only reason for which Python rejects a path's text; the wording of its error varies by
        # version.
        raise InputError("cannot be read: there is a null byte in its name", path=name) from None
    if size > allowed:
        raise InputError(
            f"too large: {size:,} bytes; the limit is {allowed:,}",
            path=name,
            hint=_HINT if most is None else None,
        )
    return data


def text_of(data: bytes, path: str | None) -> str:
    """Decode UTF-8 text, removing a byte order mark.

    Raises:
        KprofError: if the data is not UTF-8; the place is the offset of the first invalid byte.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", path=path, place=f"byte {error.start}") from None


def read_text(path: str | Path, *, most: int = TEXT_LIMIT) -> str:
    """Return the text of a file that a person writes, which must be UTF-8.

    Raises:
        KprofError: under the conditions of :func:`read_bytes` and :func:`text_of`.
    """
    return text_of(read_bytes(path, most=most), str(path))


def whole_number(text: str | None, most: int = (1 << 63) - 1) -> int | None:
    """Parse a non-negative integer of at most ``most`` from decimal digits; return ``None`` for any other text.

    The text is checked before it is converted, because Python's ``int`` raises an error for thousands of digits and
    accepts the digits of every script.
    """
    if text is None or not (len(text) < 20 and text.isascii() and text.isdigit()):
        return None
    number = int(text)
    return number if number <= most else None


def json_of(
    data: bytes, kind: type[T], path: str | None, what: str, *, hint: str | None = None, unique: bool = False
) -> T:
    """Decode a JSON document of a known structure.

    Args:
        data: bytes of the document.
        kind: type to decode into.
        path: path of the document, for messages.
        what: beginning of the message, such as "is not a baseline".
        hint: advice for the user.
        unique: whether to reject objects in which a key occurs twice; otherwise the last value is used. Set it for data
            from which a verdict is computed.

    Raises:
        KprofError: if the document is cut off, not JSON, differently structured, nested too deep, or not UTF-8.
    """
    try:
        if unique:
            refuse_repeated_keys(data, path, what, hint=hint)
        return msgspec.json.decode(data, type=kind)
    except RecursionError:
        raise InputError(f"{what}: nested too deep", path=path, hint=hint) from None
    except (msgspec.DecodeError, ValueError, OverflowError) as error:
        raise InputError(f"{what}: {_not_utf8(data) or error}", path=path, hint=hint) from None


def _not_utf8(data: bytes) -> str | None:
    """Return why data is not UTF-8, or ``None`` if it is; msgspec's own message varies by version."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8 ({error.reason})"
    return None


def refuse_repeated_keys(data: bytes, path: str | None, what: str, *, hint: str | None = None) -> None:
    """Raise an error if an object of a JSON document has a key twice; a decoder would use the last value.

    Args:
        data: bytes of the document.
        path: path of the document, for messages.
        what: beginning of the message.
        hint: advice for the user.

    Raises:
        InputError: if an object has a key twice.
        ValueError: if the document is not JSON.
        RecursionError: if it is nested too deep.
    """
    keys = _KEY.findall(data)
    # Most lines of a journal have each key once, so this check is usually enough. With a backslash, an escape could
    # spell the same key in another way.
    if len(set(keys)) < len(keys) or b"\\" in data:
        json.loads(data, object_pairs_hook=partial(_unique, data, path, what, hint))


def _unique(data: bytes, path: str | None, what: str, hint: str | None, items: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the items of a JSON object as a dictionary.

    Raises:
        InputError: if a key occurs twice, for example after two versions of a file were merged.
    """
    found = dict(items)
    if len(found) < len(items):
        twice = next(key for number, (key, _) in enumerate(items) if key in dict(items[:number]))
        lines = [data.count(b"\n", 0, match.start()) + 1 for match in _key_places(data, twice)]
        place = f"lines {lines[0]} and {lines[1]}" if len(lines) == 2 else None
        text = f"{what}: the key {twice[:80]!r} occurs twice in one object"
        raise InputError(text, path=path, place=place, hint=hint)
    return found


def _key_places(data: bytes, key: str) -> list[re.Match[bytes]]:
    return list(re.finditer(re.escape(json.dumps(key, ensure_ascii=False).encode()) + rb"\s*:", data))


def brackets(text: str, kinds: str = "[]{}") -> int:
    """Return the maximum nesting depth of brackets in a text, counting brackets inside strings.

    PyYAML scans all open brackets for each further one, so deep nesting is slow.
    """
    depth = deepest = 0
    for mark in re.findall(f"[{re.escape(kinds)}]", text):
        depth += 1 if mark in kinds[::2] else -1
        deepest = max(deepest, depth)
    return deepest


def toml_of(text: str, path: str | None) -> dict[str, Any]:
    """Parse a TOML document.

    Raises:
        KprofError: if the text is not TOML, is nested too deep, or contains a number that is too long.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError("is not valid TOML: nested too deep", path=path) from None
    except ValueError as error:
        raise InputError(f"is not valid TOML: {error}", path=path) from None


def yaml_of(text: str, path: str | None) -> Any:
    """Parse a YAML document without aliases; nested aliases let a small file expand to billions of values.

    Raises:
        KprofError: if the text is not YAML, has aliases, is nested too deep, or has a value that Python cannot
            represent.
    """
    import yaml

    if brackets(text) > _MAX_NESTING:
        raise InputError("is not valid YAML: nested too deep", path=path)
    try:
        if any(isinstance(token, yaml.tokens.AliasToken) for token in yaml.scan(text, Loader=yaml.SafeLoader)):
            raise InputError("is not valid YAML: aliases are not allowed", path=path)
        # PyYAML's C loader would overflow the process's stack on deep nesting; its Python loader raises an error. The
        # loader's constructors do not catch errors of Python's own conversions.
        return yaml.load(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        lines = " ".join(line.strip() for line in str(error).strip().splitlines()[:3])
        raise InputError(f"is not valid YAML: {lines}", path=path) from None
    except RecursionError:
        raise InputError("is not valid YAML: nested too deep", path=path) from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"is not valid YAML: {error}", path=path) from None


def gunzipped(packed: bytes | memoryview, path: str, *, most: int | None = None) -> Iterator[bytes]:
    """Yield the unpacked contents of gzip data piece by piece; zero bytes after its end are ignored as padding.

    Args:
        packed: bytes of the complete file.
        path: path of the file, for messages.
        most: maximum number of unpacked bytes; by default :func:`limit`, and at most :func:`ratio` times the packed
            size.

    Raises:
        KprofError: if the data unpacks to more than the maximum.
        zlib.error: if the data is damaged.
        EOFError: if the data is cut off.
    """
    body = memoryview(packed)
    times = ratio()
    allowed = min(limit(), max(FREE, times * len(body))) if most is None else most
    position = size = 0
    unpacker = zlib.decompressobj(wbits=31)
    rest, ended = b"", False
    while True:
        if not rest:
            rest = bytes(body[position : position + _CHUNK])
            position += len(rest)
            if not rest:
                break
        if ended:
            # The bytes after the end are another gzip member or padding.
            rest = rest.lstrip(b"\0")
            if rest:
                unpacker, ended = zlib.decompressobj(wbits=31), False
            continue
        piece = unpacker.decompress(rest, _CHUNK)
        size += len(piece)
        if size > allowed:
            raise _unpacked_size_error(path, allowed, times, packed=len(body), own=most is None)
        yield piece
        ended = unpacker.eof
        rest = unpacker.unused_data if ended else unpacker.unconsumed_tail
    # Flush the data that did not fit into the last piece.
    yield unpacker.flush()
    if not unpacker.eof:
        raise EOFError


def _unpacked_size_error(path: str, allowed: int, times: int, *, packed: int, own: bool) -> InputError:
    if own and allowed < limit():
        return InputError(
            f"unpacks to more than {allowed >> 20} MiB, {times} times its packed size of {packed:,} bytes",
            path=path,
            hint=f"set KPROF_INPUT_RATIO={10 * times} if this size is intended, or unpack the file yourself",
        )
    return InputError(
        f"unpacks to more than {allowed >> 20} MiB",
        path=path,
        hint=f"{_HINT}; or unpack it yourself and read the plain file",
    )
