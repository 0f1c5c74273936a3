"""Where bytes from outside come in: how many there may be, and what they may hold.

Every reader takes its bytes, its text, its JSON and its TOML from here. What is refused here is one
:class:`kprof.errors.InputError` with file and place; what only looks wrong is left to the reader, which takes it out
of its sums and counts it.
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
"""Bytes that one file may have, or unpack to, where it is held in memory as a whole; ``KPROF_INPUT_LIMIT`` sets
another limit: bytes, or as 500M, 4G, 4GiB."""
RATIO = 100
"""Times its own size that a compressed file may unpack to. Profiles pack 5 to 50 times; deflate's own ceiling is 1032,
and only repetition without content comes near it. ``KPROF_INPUT_RATIO`` sets another."""
FREE = 64 << 20
"""Bytes that any file may unpack to, whatever its size."""
TEXT_LIMIT = 64 << 20
"""Bytes of a file that a person writes, or that describes others."""

JSON_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError)
"""What a decoder of JSON raises for what is damaged, of another form, nested too deep or beyond any number."""

_SIZE = re.compile(r"([0-9]{1,15})\s*([KMGT]?)(?:i?B)?", re.ASCII | re.IGNORECASE)
_KEY = re.compile(rb'"([^"\\]*)"\s*:')
_CHUNK = 1 << 20
_DEEPEST = 50
_HINT = "KPROF_INPUT_LIMIT=4G reads larger ones"


def limit(default: int = LIMIT) -> int:
    """Bytes that one file may take: what ``KPROF_INPUT_LIMIT`` says, else ``default``.

    Raises:
        KprofError: ``KPROF_INPUT_LIMIT`` is no size.
    """
    text = os.environ.get("KPROF_INPUT_LIMIT")
    if not text:
        return default
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise KprofError(f"KPROF_INPUT_LIMIT is no size: {text!r}", hint="Bytes, or as in 500M or 4G.")
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[match[2].upper()]


def ratio() -> int:
    """Times its own size that a compressed file may unpack to.

    Raises:
        KprofError: ``KPROF_INPUT_RATIO`` is no number.
    """
    text = os.environ.get("KPROF_INPUT_RATIO")
    if not text:
        return RATIO
    if not (text.isascii() and text.isdigit() and len(text) < 7 and int(text)):
        raise KprofError(f"KPROF_INPUT_RATIO is no number: {text[:40]!r}", hint="A whole number, such as 1000.")
    return int(text)


def content_of(path: str | Path, most: int) -> bytes | None:
    """The bytes of a plain file; ``None`` where there is none, it cannot be read, or has more than ``most``.

    It is for files that are named in other files, such as sources: to be without them is no error.
    """
    try:
        return read_bytes(path, most=most)
    except InputError:
        return None


def read_bytes(path: str | Path, *, most: int | None = None, shown: str | None = None) -> bytes:
    """The bytes of a plain file.

    Args:
        path: the file.
        most: bytes that it may have; :func:`limit` by default.
        shown: what a message calls it.

    Raises:
        KprofError: it is missing, is no plain file (opening a pipe would wait for a writer), is too large, or cannot
            be read.
    """
    name = str(path) if shown is None else shown
    allowed = limit() if most is None else most
    try:
        with opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            data = b""
            if size <= allowed:
                # As much as it has, and what it may have grown by: room for all that is allowed would be taken at once.
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
        # All that a path's text can be refused for; Python's words differ from version to version.
        raise InputError("cannot be read: there is a null byte in its name", path=name) from None
    if size > allowed:
        raise InputError(
            f"too large: {size:,} bytes, and {allowed:,} are read at most",
            path=name,
            hint=_HINT if most is None else None,
        )
    return data


def text_of(data: bytes, path: str | None) -> str:
    """Text in UTF-8, without a byte order mark.

    Raises:
        KprofError: it is not UTF-8; the place is the offset of the first byte that is not.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", path=path, place=f"byte {error.start}") from None


def read_text(path: str | Path, *, most: int = TEXT_LIMIT) -> str:
    """The text of a file that a person writes: what is not UTF-8 is refused.

    Raises:
        KprofError: as :func:`read_bytes` and :func:`text_of`.
    """
    return text_of(read_bytes(path, most=most), str(path))


def whole(text: str | None, most: int = (1 << 63) - 1) -> int | None:
    """A whole number, not negative and of at most ``most``, from its decimal digits; ``None`` for anything else.

    Python refuses to read thousands of digits, and reads digits of every script.
    """
    if text is None or not (len(text) < 20 and text.isascii() and text.isdigit()):
        return None
    number = int(text)
    return number if number <= most else None


def json_of(
    data: bytes, kind: type[T], path: str | None, what: str, *, hint: str | None = None, unique: bool = False
) -> T:
    """A JSON document of a known form.

    Args:
        data: the document.
        kind: its type.
        path: where it came from.
        what: begins the message, as in "is not a baseline".
        hint: what to do about it.
        unique: refuse an object with a key twice, of which a decoder takes the last one: for what a verdict rests on.

    Raises:
        KprofError: it is cut off, not JSON or of another form, nested too deep, or not UTF-8.
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
    """Why text is not UTF-8; msgspec's own words for it differ from version to version."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8 ({error.reason})"
    return None


def refuse_repeated_keys(data: bytes, path: str | None, what: str, *, hint: str | None = None) -> None:
    """Refuse a document of JSON in which an object has a key twice: a decoder would take the last one.

    Args:
        data: the document.
        path: where it came from.
        what: begins the message.
        hint: what to do about it.

    Raises:
        InputError: there is such an object.
        ValueError: the document is not JSON.
        RecursionError: it is nested too deep.
    """
    keys = _KEY.findall(data)
    # Most lines of a journal have each key once; an escape could spell the same key in another way.
    if len(set(keys)) < len(keys) or b"\\" in data:
        json.loads(data, object_pairs_hook=partial(_unique, data, path, what, hint))


def _unique(data: bytes, path: str | None, what: str, hint: str | None, items: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, unless it has a key twice, as a merge of two versions of a file leaves it.

    Raises:
        InputError: there is such a key.
    """
    found = dict(items)
    if len(found) < len(items):
        twice = next(key for number, (key, _) in enumerate(items) if key in dict(items[:number]))
        lines = [data.count(b"\n", 0, match.start()) + 1 for match in _key_places(data, twice)]
        place = f"lines {lines[0]} and {lines[1]}" if len(lines) == 2 else None
        text = f"{what}: the key {twice[:80]!r} is there twice in one object"
        raise InputError(text, path=path, place=place, hint=hint)
    return found


def _key_places(data: bytes, key: str) -> list[re.Match[bytes]]:
    return list(re.finditer(re.escape(json.dumps(key, ensure_ascii=False).encode()) + rb"\s*:", data))


def brackets(text: str, kinds: str = "[]{}") -> int:
    """How deep brackets of these kinds are nested in a text, those in its strings included.

    PyYAML looks at all that are open for each further one.
    """
    depth = deepest = 0
    for mark in re.findall(f"[{re.escape(kinds)}]", text):
        depth += 1 if mark in kinds[::2] else -1
        deepest = max(deepest, depth)
    return deepest


def toml_of(text: str, path: str | None) -> dict[str, Any]:
    """A TOML document.

    Raises:
        KprofError: it is not TOML, is nested too deep or has a number that is too long.
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
    """A YAML document without aliases: aliases of aliases make a small file hold billions of values.

    Raises:
        KprofError: it is not YAML, has aliases, is nested too deep, or has a value that Python cannot hold.
    """
    import yaml

    if brackets(text) > _DEEPEST:
        raise InputError("is not valid YAML: nested too deep", path=path)
    try:
        if any(isinstance(token, yaml.tokens.AliasToken) for token in yaml.scan(text, Loader=yaml.SafeLoader)):
            raise InputError("is not valid YAML: aliases are not allowed", path=path)
        # The loader in C would overflow the stack of the process on deep nesting; the one in Python raises. Its
        # constructors let errors of Python's own conversions through.
        return yaml.load(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        lines = " ".join(line.strip() for line in str(error).strip().splitlines()[:3])
        raise InputError(f"is not valid YAML: {lines}", path=path) from None
    except RecursionError:
        raise InputError("is not valid YAML: nested too deep", path=path) from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"is not valid YAML: {error}", path=path) from None


def gunzipped(packed: bytes | memoryview, path: str, *, most: int | None = None) -> Iterator[bytes]:
    """What gzip data unpacks to, piece by piece; zero bytes behind its end are padding.

    Args:
        packed: the whole file.
        path: where it came from.
        most: bytes that it may unpack to; by default :func:`limit`, and no more than :func:`ratio` times its size.

    Raises:
        KprofError: it unpacks to more.
        zlib.error: it is damaged.
        EOFError: it is cut off.
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
            # Another member, or padding.
            rest = rest.lstrip(b"\0")
            if rest:
                unpacker, ended = zlib.decompressobj(wbits=31), False
            continue
        piece = unpacker.decompress(rest, _CHUNK)
        size += len(piece)
        if size > allowed:
            raise _too_much(path, allowed, times, packed=len(body), own=most is None)
        yield piece
        ended = unpacker.eof
        rest = unpacker.unused_data if ended else unpacker.unconsumed_tail
    # What did not fit the last piece.
    yield unpacker.flush()
    if not unpacker.eof:
        raise EOFError


def _too_much(path: str, allowed: int, times: int, *, packed: int, own: bool) -> InputError:
    if own and allowed < limit():
        return InputError(
            f"unpacks to more than {allowed >> 20} MiB, {times} times its own {packed:,} bytes",
            path=path,
            hint=f"KPROF_INPUT_RATIO={10 * times} reads it, or unpack it yourself, if it is meant to be that large",
        )
    return InputError(
        f"unpacks to more than {allowed >> 20} MiB",
        path=path,
        hint=f"{_HINT}; or unpack it yourself and read the plain file",
    )
