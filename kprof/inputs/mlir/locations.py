"""Resolve MLIR source positions (``loc(...)`` and aliases) to source frames."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from kprof.inputs.mlir.text import closing, split
from kprof.inputs.source_path import from_mlir, normalised

_FILE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d{1,9}):(\d{1,9})(?:\s+to\s+(?:\d+)?:\d+)?')
_NAMED = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(\()?')
_LIBRARY = re.compile(
    r"/(?:site-packages|dist-packages)/triton/|(?:^|/)triton/(?:language|experimental|tools|runtime|compiler|backends)/"
)
_MAX_DEPTH = 128


@dataclass(frozen=True)
class MlirFrame:
    """One source position. Line and column are 1-based as Triton writes them, 0 if unknown.

    Attributes:
        file: path as written.
        line: line in the file.
        column: column in the line.
        name: variable or function that the compiler names at this position.
        in_library: whether the file is part of Triton itself.
    """

    file: str
    line: int
    column: int = 0
    name: str | None = None
    in_library: bool = False


Frames = tuple[MlirFrame, ...]


@lru_cache(maxsize=1024)
def is_library(path: str) -> bool:
    """Return whether a source file is part of Triton itself."""
    return _LIBRARY.search(path.replace("\\", "/")) is not None


class Locations:
    """Resolves the positions of one module; each alias is resolved once."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self._aliases = aliases
        self._known: dict[str, Frames] = {}
        self._busy: set[str] = set()

    def frames(self, text: str, depth: int = 0) -> Frames:
        """Return the frames for the text inside ``loc(...)``, innermost first; empty if unknown."""
        text = text.strip()
        known = self._known.get(text)
        if known is not None:
            return known
        if depth > _MAX_DEPTH or text in self._busy:
            return ()
        self._busy.add(text)
        try:
            found = self._read(text, depth + 1)
        finally:
            self._busy.discard(text)
        self._known[text] = found
        return found

    def _read(self, text: str, depth: int) -> Frames:
        if text.startswith("#"):
            target = self._aliases.get(text)
            return self.frames(target, depth) if target is not None else ()
        file = _FILE.fullmatch(text)
        if file:
            path = normalised(from_mlir(file[1]))
            return (MlirFrame(path, int(file[2]), int(file[3]), None, is_library(path)),)
        if text.startswith("callsite(") and text.endswith(")"):
            callee, at, caller = _split_at(text[9:-1])
            return self.frames(callee, depth) + (self.frames(caller, depth) if at else ())
        if text.startswith("fused"):
            start = text.rfind("[") if not text.endswith("]") else _bracket(text)
            parts = split(text[start + 1 : -1]) if start >= 0 else []
            return next((frames for part in parts if (frames := self.frames(part, depth))), ())
        named = _NAMED.match(text)
        if named and named[2]:
            end = closing(text, named.end() - 1)
            inner = self.frames(text[named.end() : end], depth) if end > 0 else ()
            return (replace(inner[0], name=from_mlir(named[1])), *inner[1:]) if inner else ()
        return ()


def _bracket(text: str) -> int:
    """Return the position of the list in ``fused<...>[...]``."""
    start = 5
    if text[start : start + 1] == "<":
        end = closing(text, start)
        start = end + 1 if end > 0 else start
    return text.find("[", start)


def _split_at(text: str) -> tuple[str, str, str]:
    """Split ``A at B`` outside brackets and strings into A, the separator and B."""
    start = 0
    while True:
        at = text.find(" at ", start)
        if at < 0:
            return text, "", ""
        left = text[:at]
        if left.count("(") == left.count(")") and left.count('"') % 2 == 0:
            return left, " at ", text[at + 4 :]
        start = at + 4
