"""Read the YAML between ``.amdgpu_metadata`` and ``.end_amdgpu_metadata``.

LLVM writes a small subset of YAML: nested block mappings and sequences of plain or quoted scalars. This module parses
that subset itself, because importing a YAML library takes longer than reading the whole assembly. Text outside the
subset is parsed by PyYAML's safe loader.
"""

import re
from typing import Any

from kprof.errors import InputError
from kprof.inputs import boundary

_KEY = re.compile(r"('(?:[^']|'')*'|\"(?:[^\"\\]|\\.)*\"|[^\s'\"#\[{&*!|>%@`-][^:#]*?|-[^\s:#]+):(?:\s+(.*))?$")
_INTEGER = re.compile(r"[-+]?\d{1,19}$")
_STRING = "!str "
_MAX_DEPTH = 24
_MAX_LINES = 2_000_000
_MAX_UNUSUAL = 100_000


class _UnusualError(Exception):
    """The text uses YAML beyond the subset that LLVM writes."""


def _scalar(text: str) -> Any:
    text = text.strip()
    if _INTEGER.match(text):
        return int(text)
    if text in {"true", "false"}:
        return text == "true"
    if text in {"", "~", "null"}:
        return None
    if text == "[]":
        return []
    if text == "{}":
        return {}
    if text.startswith(_STRING):
        # LLVM marks a name that YAML would read as a boolean, such as an argument called n or y.
        return text.removeprefix(_STRING).strip().strip("'\"")
    first = text[0]
    if first == "'" and len(text) > 1 and text.endswith("'"):
        return text[1:-1].replace("''", "'")
    if first == '"' and len(text) > 1 and text.endswith('"') and "\\" not in text:
        return text[1:-1]
    if first in "'\"[{&*!|>%@`":
        raise _UnusualError
    return text


class _Reader:
    def __init__(self, lines: list[tuple[int, str]]) -> None:
        self.lines = lines
        self.at = 0

    def node(self, indent: int, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise _UnusualError
        text = self.lines[self.at][1]
        if text.startswith("- ") or text == "-":
            return self.sequence(indent, depth)
        return self.mapping(indent, depth)

    def sequence(self, indent: int, depth: int) -> list[Any]:
        items = []
        while self.at < len(self.lines):
            level, text = self.lines[self.at]
            if level != indent or not (text.startswith("- ") or text == "-"):
                break
            rest = text[1:].lstrip()
            if rest.startswith("- ") or rest == "-":
                raise _UnusualError
            if not rest:
                self.at += 1
                items.append(self.child(indent, depth))
            elif _KEY.match(rest):
                inner = indent + len(text) - len(rest)
                self.lines[self.at] = (inner, rest)
                items.append(self.mapping(inner, depth + 1))
            else:
                self.at += 1
                items.append(_scalar(rest))
        return items

    def child(self, indent: int, depth: int) -> Any:
        """Return the node nested under the previous line; a sequence may have the same indentation as its key."""
        if self.at >= len(self.lines):
            return None
        level, text = self.lines[self.at]
        if level > indent or (level == indent and text.startswith("- ")):
            return self.node(level, depth + 1)
        return None

    def mapping(self, indent: int, depth: int) -> dict[str, Any]:
        if depth > _MAX_DEPTH:
            raise _UnusualError
        items: dict[str, Any] = {}
        while self.at < len(self.lines):
            level, text = self.lines[self.at]
            if level != indent:
                if level > indent:
                    raise _UnusualError
                break
            match = _KEY.match(text)
            if match is None:
                raise _UnusualError
            self.at += 1
            key = str(_scalar(match[1]))
            items[key] = _scalar(match[2]) if match[2] else self.child(indent, depth)
        return items


def _with_library(text: str) -> Any:
    if len(text) > _MAX_UNUSUAL:
        return None
    try:
        return boundary.yaml_of(text, None)
    except InputError:
        return None


def read(lines: list[str]) -> dict[str, Any] | None:
    """Return the metadata as a mapping, or ``None`` if it cannot be read.

    Args:
        lines: lines between the two directives, possibly with document markers and blank lines.
    """
    kept: list[tuple[int, str]] = []
    for line in lines[:_MAX_LINES]:
        stripped = line.strip()
        if stripped and stripped not in {"---", "..."} and stripped[0] != "#":
            kept.append((len(line) - len(line.lstrip(" ")), stripped))
    if not kept:
        return None
    value: Any = None
    reader = _Reader(kept)
    try:
        value = reader.node(kept[0][0], 0)
        complete = reader.at == len(kept)
    except _UnusualError:
        complete = False
    if not complete:
        value = _with_library("\n".join(lines))
    return value if isinstance(value, dict) else None
