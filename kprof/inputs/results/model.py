"""Classes for formats of result files and their rows, and helpers that parse lines and numbers."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from kprof.inputs import boundary

HEAD = 1 << 17
"""Number of leading bytes that are checked to recognise a format; logs may begin with a long description."""

LARGEST = 256 << 20
"""Maximum bytes of a text file; the largest published find-db has 40 MB."""
_NUMBER = re.compile(r"[+-]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_MAX_LINE_LENGTH = 1 << 20

Row = Mapping[str, Any]
"""One row of a result file by column name: strings, integers, floats, and ``None`` for unknown values."""

SHOWN = 20
"""Maximum number of problems of single lines that are reported with their text; further problems are only counted."""


@dataclass(frozen=True)
class ToolResults:
    """Content of one result file.

    Attributes:
        path: path of the file.
        tool: name of the tool that wrote the file, for display.
        what: what a row describes: ``GEMM``, ``timed solver``, ``collective``, ``call``, ``region``.
        facts: facts stated in the file, such as versions, GPU and metric.
        rows: rows in file order. Column names end in their unit: ``_us``, ``_ms``, ``_bytes``, ``_gbs``.
        issues: sentences about skipped lines and doubtful values, with their place.
        cost: column by which rows are sorted for display, largest first; ``None`` keeps the file order.
    """

    path: str
    tool: str
    what: str
    facts: Mapping[str, str]
    rows: tuple[Row, ...]
    issues: tuple[str, ...]
    cost: str | None = None


@dataclass
class RowCollector:
    """Collects rows and problems while a file is read."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    _issues: list[str] = field(default_factory=list)
    _more: int = 0

    def complain(self, line: int | None, message: str) -> None:
        """Record a problem with a line; after :data:`SHOWN` problems, only count them."""
        if len(self._issues) < SHOWN:
            self._issues.append(f"line {line}: {message}" if line else message)
        else:
            self._more += 1

    def results(self, path: str, tool: str, what: str, cost: str | None = None) -> ToolResults:
        """Return the collected rows and problems as results."""
        more = [f"{self._more:,} more problems with lines"] if self._more else []
        return ToolResults(path, tool, what, self.facts, tuple(self.rows), (*self._issues, *more), cost)


def lines_of(path: Path, shown: str, found: RowCollector) -> list[str]:
    """Return the lines of a text; report a last line without a newline, and lines that are too long for a record.

    Raises:
        KprofError: if the file is missing, is not a plain file, or has more than :data:`LARGEST` bytes.
    """
    text = boundary.read_bytes(path, most=LARGEST, shown=shown).decode("utf-8-sig", "replace")
    if text and not text.endswith("\n"):
        found.complain(
            None, "the last line has no line end: if the file was cut there, its last value may be too short"
        )
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > _MAX_LINE_LENGTH:
            found.complain(number, f"{len(line):,} characters, longer than any record")
            lines[number - 1] = ""
    return lines


def number(text: str) -> float | None:
    """Parse a finite number; return ``None`` for any other text."""
    stripped = text.strip()
    if _NUMBER.fullmatch(stripped) is None:
        return None
    value = float(stripped)
    return value if math.isfinite(value) else None


def positive(text: str) -> float | None:
    """Parse a finite number above zero, such as a time or rate; return ``None`` for any other text."""
    value = number(text)
    return value if value is not None and value > 0 else None


def whole_number(text: str) -> int | None:
    """Parse a non-negative integer; return ``None`` for any other text."""
    return boundary.whole_number(text.strip())


def value_of(text: str) -> int | float | str:
    """Return the number that a text contains, else the stripped text."""
    stripped = text.strip()
    size = boundary.whole_number(stripped)
    if size is not None:
        return size
    found = number(stripped)
    return stripped if found is None else found


def gemm_tflops(m: object, n: object, k: object, batch: object, microseconds: object) -> float | None:
    """Return ``2 m n k batch`` operations divided by the time, in TFLOP/s; ``None`` if a value is unknown."""
    sizes = (m, n, k, batch)
    if not all(isinstance(size, int) for size in sizes) or not isinstance(microseconds, float) or microseconds <= 0:
        return None
    return 2.0 * math.prod(size for size in sizes if isinstance(size, int)) / (microseconds * 1e6)


@dataclass(frozen=True)
class ResultFormat:
    """A format of result files.

    Attributes:
        name: name of the format, for display.
        recognise: function that returns whether the first bytes of a file are of this format.
        read: function that reads the complete file; its second argument is the file's name in messages.
    """

    name: str
    recognise: Callable[[bytes], bool]
    read: Callable[[Path, str], ToolResults]


@cache
def formats() -> tuple[ResultFormat, ...]:
    """Return all formats, in the order of their module names."""
    from kprof.inputs.results import formats as folder

    names = sorted(module.name for module in iter_modules(folder.__path__) if not module.name.startswith("_"))
    modules = [vars(import_module(f"{folder.__name__}.{name}")) for name in names]
    return tuple(each for module in modules for each in module.get("FORMATS") or (module["FORMAT"],))
