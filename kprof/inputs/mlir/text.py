"""Parse the basic parts of MLIR syntax: brackets, lists and attribute values."""

import re
from collections.abc import Iterator
from typing import Any

from kprof.inputs.source_path import from_mlir

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|->|=>|[()\[\]{}<>,]')
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_OPEN, _CLOSE = frozenset("([{<"), frozenset(")]}>")
_NUMBER = re.compile(r"[+-]?(?:0x[0-9a-fA-F]+|\d+\.\d*(?:[eE][+-]?\d+)?|\d+)")
_TYPED = re.compile(r"\s*:\s*[\w!.<>]+$")
_MAX_DEPTH = 64
"""Maximum nesting of parsed values. Deeper text, which no compiler writes, stays as it is to protect the stack."""


def top_level(text: str) -> Iterator[tuple[int, str]]:
    """Yield the positions of commas and arrows outside all brackets and strings."""
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in _OPEN:
            depth += 1
        elif token in _CLOSE:
            depth -= 1
        elif depth == 0 and token in {",", "->"}:
            yield match.start(), token


def split(text: str, separator: str = ",") -> list[str]:
    """Return the non-empty, stripped parts between separators outside brackets and strings."""
    parts, start = [], 0
    for at, token in top_level(text):
        if token == separator:
            parts.append(text[start:at].strip())
            start = at + len(token)
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def closing(text: str, start: int) -> int:
    """Return the position of the bracket that closes the bracket at ``start``, or -1."""
    if text[start : start + 1] not in _OPEN:
        return -1
    depth = 0
    for match in _TOKEN.finditer(text, start):
        token = match[0]
        if token in _OPEN:
            depth += 1
        elif token in _CLOSE:
            depth -= 1
            if depth == 0:
                return match.start()
    return -1


def without_location(line: str) -> str:
    """Remove the ``loc(...)`` of an operation and of a function's arguments from a line."""
    start = 0
    while (start := line.find(" loc(", start)) >= 0:
        end = closing(line, start + 4)
        if end < 0:
            break
        line = line[:start] + line[end + 1 :]
    return line


def value(text: str, depth: int = 0) -> Any:
    """Parse an attribute value: number, bool, string, list, ``array<i32: 1, 0>``, dictionary; other text stays text."""
    text = text.strip()
    if not text or depth > _MAX_DEPTH:
        return text
    first = text[0]
    if first == '"' and text[-1] == '"' and len(text) > 1:
        return from_mlir(text[1:-1])
    if first == "[" and text[-1] == "]":
        return [value(item, depth + 1) for item in split(text[1:-1])]
    if first == "{" and text[-1] == "}":
        return fields(text[1:-1], depth + 1)
    if text.startswith("array<") and text[-1] == ">":
        return [value(item, depth + 1) for item in split(text[len("array<") : -1].partition(":")[2])]
    if text in {"true", "false"}:
        return text == "true"
    if first.isdigit() or first in "+-":
        return _number(text)
    if first == '"':
        end = _TYPED.search(text)
        return value(text[: end.start()], depth + 1) if end else text
    return text


def _number(text: str) -> Any:
    match = _NUMBER.match(text)
    if match is None or (match.end() < len(text) and not _TYPED.fullmatch(text, match.end())):
        return text
    number = match[0]
    try:
        if number.lower().lstrip("+-").startswith("0x"):
            return int(number, 16)
        return float(number) if "." in number else int(number)
    except ValueError:
        return text


def fields(text: str, depth: int = 0) -> dict[str, Any]:
    """Parse ``a = 1 : i32, "b" = [1], c`` into a dictionary; a name without a value becomes ``True``."""
    found: dict[str, Any] = {}
    for part in split(text):
        name, equals, right = part.partition("=")
        found[name.strip().strip('"')] = value(right, depth) if equals else True
    return found


def integers(item: Any) -> tuple[int, ...]:
    """Return a list of integers as a tuple, or an empty tuple for any other value."""
    if isinstance(item, list) and all(isinstance(number, int) for number in item):
        return tuple(item)
    return ()
