"""Find the source positions, including inlined calls, of the lines of LLVM IR text."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from kprof.inputs.mlir.locations import Frames, MlirFrame, is_library
from kprof.inputs.source_path import from_mlir, joined

_NODE = re.compile(r"^!(\d{1,9}) = (?:distinct )?!(DI\w+)\((.*)\)\s*$")
_FIELD = re.compile(r'\b(line|column|scope|inlinedAt|file|filename|directory): (?:"((?:[^"\\]|\\.)*)"|!?(\d{1,9}))')
_POSITION = re.compile(r", !dbg !(\d{1,9})")
_MAX_DEPTH = 64


def positions(lines: Sequence[str]) -> list[Frames]:
    """Return the source frames of each line, innermost first; empty if the compiler recorded no position.

    Args:
        lines: lines of one module.
    """
    nodes = _nodes(lines)

    @cache
    def frames(node: str) -> Frames:
        return tuple(_chain(node, nodes))

    found = []
    for line in lines:
        # The !dbg of a function definition names the function, not a position.
        match = None if line.startswith(("!", "define")) else _POSITION.search(line)
        found.append(() if match is None else frames(match[1]))
    return found


def without_positions(line: str) -> str:
    """Return a line without its ``!dbg`` reference."""
    return _POSITION.sub("", line)


def _nodes(lines: Sequence[str]) -> dict[str, Mapping[str, str]]:
    nodes: dict[str, Mapping[str, str]] = {}
    for line in lines:
        node = _NODE.match(line) if line.startswith("!") else None
        if node is not None:
            nodes[node[1]] = {name: text or number for name, text, number in _FIELD.findall(node[3])}
    return nodes


def _chain(node: str, nodes: Mapping[str, Mapping[str, str]]) -> list[MlirFrame]:
    found: list[MlirFrame] = []
    at: str | None = node
    while at is not None and len(found) < _MAX_DEPTH:
        fields = nodes.get(at, {})
        path = _file(fields.get("scope"), nodes)
        if path is None or "line" not in fields:
            break
        found.append(MlirFrame(path, int(fields["line"]), int(fields.get("column", 0)), None, is_library(path)))
        at = fields.get("inlinedAt")
    return found


def _file(scope: str | None, nodes: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return the path of the file named by a scope or by the nearest enclosing scope."""
    for _ in range(_MAX_DEPTH):
        fields = nodes.get(scope or "", {})
        file = nodes.get(fields.get("file", ""), {})
        if "filename" in file:
            return joined(from_mlir(file.get("directory", "")), from_mlir(file["filename"]))
        scope = fields.get("scope")
    return None
