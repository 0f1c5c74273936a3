"""Find the operations of a module and their nesting, line by line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kprof.errors import InputError
from kprof.inputs.boundary import whole_number
from kprof.inputs.mlir.model import LOOPS, Module, Operation
from kprof.inputs.mlir.text import closing, fields

_OPERATION = re.compile(
    r"(?:(%[\w$.-]+(?::\d+)?(?:\s*,\s*%[\w$.-]+(?::\d+)?)*)\s*=\s*)?(\"?)([A-Za-z_][\w$]*(?:\.[\w$-]+)*)\2(?=[\s(<{\[@%#\"]|$)"
)
_BLOCK_ARGUMENT = re.compile(r"[(,]\s*(%[\w$.-]+):\s")
_DIALECTS = frozenset(
    {
        *("tt", "ttg", "triton_gpu", "ttng", "triton_nvidia_gpu", "amdg", "amdgpu", "triton", "gluon", "proton"),
        *("proton_gpu", "arith", "scf", "cf", "math", "builtin", "func", "gpu", "rocdl", "nvgpu", "nvvm", "ub"),
        *("index", "vector", "memref", "tensor", "affine", "llvm"),
    }
)
_SPELLINGS = (("triton_gpu.", "ttg."), ("amdgpu.", "amdg."), ("triton_nvidia_gpu.", "ttng."))
_BEFORE_BREAK = ("->", " =", " to", " :", ",")
_AFTER_BREAK = re.compile(r"\s*(?:->|: |= |to |loc\()")
_MAX_JOINED_LINES = 64
"""Maximum number of lines of one operation; the compiler prints each operation on one line."""


def parse(text: str, path: str | None = None) -> Module:
    """Parse a TTIR or TTGIR module as printed by Triton 3.0 to 3.9.

    Unsupported operations, types and layouts are kept as text. A truncated text is read as far as possible, and the
    module's ``notes`` mention it.

    Args:
        text: text of the module; headers of MLIR dumps may precede it.
        path: path of the file, for messages.

    Raises:
        KprofError: if the text is not MLIR.
    """
    if "\0" in text[:4096]:
        raise InputError("is a binary file, not MLIR text", path=path)
    scan = _Scan()
    for number, line in _logical_lines(text):
        scan.line(number, line)
    if not scan.dialects:
        place = f"line {scan.strange[0]}" if scan.strange else None
        what = "is empty" if not text.strip() else "is not MLIR: it has no operation of Triton's or MLIR's dialects"
        raise InputError(what, path=path, place=place)
    return scan.module(path)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield stripped lines with their numbers, joining lines that end inside brackets with the next ones."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        at += 1
        if not line or line.startswith("//"):
            continue
        start = at
        if _continues(line, lines, at):
            parts = [line]
            while at < len(lines) and at - start < _MAX_JOINED_LINES and _continues(line, lines, at):
                parts.append(lines[at].strip())
                line = " ".join(parts)
                at += 1
            if _open(line):
                # The text is truncated rather than an operation on several lines, so each line is read separately.
                line, at = parts[0], start
        yield start, line


def _continues(line: str, lines: list[str], at: int) -> bool:
    """Return whether an operation continues on the next line: a bracket is open, or a document wrapped a long line."""
    if _open(line) or line.endswith(_BEFORE_BREAK):
        return True
    return line[0] in '%"' and at < len(lines) and _AFTER_BREAK.match(lines[at]) is not None


def _open(line: str) -> bool:
    balance = line.count("(") - line.count(")")
    return (balance > 0 and not line.endswith("({")) or line.count("<{") > line.count("}>")


@dataclass
class _Scan:
    """State of the parser: open regions, and the operations, aliases and locations found so far."""

    operations: list[dict[str, Any]] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    locations: dict[str, str] = field(default_factory=dict)
    regions: list[int] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)
    loops: list[int] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    block_arguments: dict[tuple[int | None, str], tuple[str, ...]] = field(default_factory=dict)
    strange: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    dialects: bool = False

    def line(self, number: int, line: str) -> None:
        first = line[0]
        if first in '%"' or first.isalpha():
            self._operation(number, line)
        elif first == "}":
            self._close(number, line)
        elif first in "#!":
            self._alias(line)
        elif first == "^":
            if self.blocks:
                self._block(line)
        elif first != "{":
            self.strange.append(number)

    def _block(self, line: str) -> None:
        label = self.blocks[-1] = line.partition(":")[0].partition("(")[0]
        arguments = tuple(_BLOCK_ARGUMENT.findall(line))
        if arguments:
            self.block_arguments[self.regions[-1], label] = arguments

    def _alias(self, line: str) -> None:
        name, equals, right = line.partition("=")
        right = right.strip()
        if not equals:
            return
        if right.startswith("loc("):
            self.locations[name.strip()] = right[4:-1] if right.endswith(")") else right[4:]
        else:
            self.aliases[name.strip()] = right

    def _operation(self, number: int, line: str) -> None:
        match = _OPERATION.match(line)
        if match is None:
            self.strange.append(number)
            return
        name = spelling = match[3]
        dialect, dot, _ = name.partition(".")
        if (dot and dialect in _DIALECTS) or name == "module":
            self.dialects = True
        elif not dot and not self.operations:
            self.strange.append(number)
            return
        for old, new in _SPELLINGS:
            if name.startswith(old):
                name = new + name[len(old) :]
        index = len(self.operations)
        opens = line.endswith("{")
        self.operations.append(
            {
                "index": index,
                "name": "builtin.module" if name == "module" else name,
                "spelling": spelling,
                "results": _results(match[1]),
                "line": number,
                "parent": self.regions[-1] if self.regions else None,
                "region": self.parts[-1] if self.parts else 0,
                "block": self.blocks[-1] if self.blocks else "",
                "depth": len(self.regions),
                "loop": self.loops[-1] if self.loops else None,
                "loop_depth": len(self.loops),
                "text": line[match.end() :],
            }
        )
        if opens:
            self.regions.append(index)
            self.parts.append(0)
            self.blocks.append("")
            if name in LOOPS:
                self.loops.append(index)

    def _close(self, number: int, line: str) -> None:
        if not self.regions:
            self.strange.append(number)
            return
        index = self.regions[-1]
        if line.endswith("{"):
            # This line begins the next region of the same operation: else, do or a partition.
            self.parts[-1] += 1
            self.blocks[-1] = ""
            return
        self.regions.pop()
        self.parts.pop()
        self.blocks.pop()
        if self.loops and self.loops[-1] == index:
            self.loops.pop()
        self.operations[index]["tail"] = line[1:]

    def module(self, path: str | None) -> Module:
        if self.regions:
            last = self.operations[self.regions[-1]]
            self.notes.append(f"cut off: {last['spelling']} of line {last['line']} is not closed")
        if self.strange:
            lines = ", ".join(map(str, self.strange[:5]))
            self.notes.append(f"{len(self.strange)} lines are not MLIR as Triton prints it: {lines}")
        operations: list[Operation] = []
        module = Module(
            operations=operations,
            attributes=self._attributes(),
            aliases=self.aliases,
            locations=self.locations,
            path=path,
            notes=tuple(self.notes),
            block_arguments=self.block_arguments,
        )
        operations.extend(Operation(module=module, **found) for found in self.operations)
        return module

    def _attributes(self) -> dict[str, Any]:
        for found in self.operations:
            if found["name"] == "builtin.module":
                return module_attributes(found["text"])
        return {}


def module_attributes(text: str) -> dict[str, Any]:
    """Parse ``attributes {"ttg.num-warps" = 4 : i32}`` into a dictionary, renaming ``triton_gpu.`` to ``ttg.``."""
    start = text.find("attributes {")
    if start < 0:
        return {}
    start += len("attributes ")
    end = closing(text, start)
    found = fields(text[start + 1 : end]) if end > 0 else {}
    return {name.replace("triton_gpu.", "ttg.", 1): value for name, value in found.items()}


def _results(text: str | None) -> tuple[str, ...]:
    """Expand ``%a:2, %b`` into ``%a#0``, ``%a#1``, ``%b``."""
    if not text:
        return ()
    if ":" not in text and "," not in text:
        return (text,)
    names: list[str] = []
    for part in text.split(","):
        name, colon, count = part.strip().partition(":")
        # A file with more than 4096 results of an operation is damaged; the limit keeps it from filling the memory.
        number = min(whole_number(count) or 0, 4096) if colon else 1
        names.extend(f"{name}#{n}" for n in range(number)) if colon else names.append(name)
    return tuple(names)
