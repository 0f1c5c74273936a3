"""What a file of another tool holds, as rows; what a format is; lines and numbers of text."""

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
"""Bytes by which a file is recognised: logs begin with what the program says of itself."""

LARGEST = 256 << 20
"""Bytes of a text file; the largest published find-db has 40 MB."""
_NUMBER = re.compile(r"[+-]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_LONGEST = 1 << 20

Row = Mapping[str, Any]
"""A record: texts, whole numbers, floats, and ``None`` for what is not known."""

SHOWN = 20
"""Complaints about single lines that are kept in words; the rest is counted."""


@dataclass(frozen=True)
class ToolResults:
    """The content of one file.

    Attributes:
        path: the file.
        tool: who wrote it, for people.
        what: what a row is: ``GEMM``, ``timed solver``, ``collective``, ``call``, ``region``.
        facts: what the file says of itself: versions, GPU, metric.
        rows: in the order of the file. Names end in their unit: ``_us``, ``_ms``, ``_bytes``, ``_gbs``.
        issues: lines that were not used, and what is doubtful, in words with their place.
        cost: the column by which rows are shown, the largest first; ``None`` keeps their order.
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
    """Rows and complaints while a file is read."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    _issues: list[str] = field(default_factory=list)
    _more: int = 0

    def complain(self, line: int | None, message: str) -> None:
        """Note what was not used; after :data:`SHOWN` only how many more there are."""
        if len(self._issues) < SHOWN:
            self._issues.append(f"line {line}: {message}" if line else message)
        else:
            self._more += 1

    def results(self, path: str, tool: str, what: str, cost: str | None = None) -> ToolResults:
        """What was found."""
        more = [f"{self._more:,} more lines were not used"] if self._more else []
        return ToolResults(path, tool, what, self.facts, tuple(self.rows), (*self._issues, *more), cost)


def lines_of(path: Path, shown: str, found: RowCollector) -> list[str]:
    """The lines of a text; a last one without an end, and lines too long to be a record, are reported.

    Raises:
        KprofError: the file is missing, is no plain file, or has more than :data:`LARGEST` bytes.
    """
    text = boundary.read_bytes(path, most=LARGEST, shown=shown).decode("utf-8-sig", "replace")
    if text and not text.endswith("\n"):
        found.complain(
            None, "the last line has no line end: if the file was cut there, its last value may be too short"
        )
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > _LONGEST:
            found.complain(number, f"{len(line):,} characters, longer than any record")
            lines[number - 1] = ""
    return lines


def number(text: str) -> float | None:
    """A finite number from its digits, or ``None``."""
    stripped = text.strip()
    if _NUMBER.fullmatch(stripped) is None:
        return None
    value = float(stripped)
    return value if math.isfinite(value) else None


def positive(text: str) -> float | None:
    """A finite number above zero, or ``None``: times and rates."""
    value = number(text)
    return value if value is not None and value > 0 else None


def whole(text: str) -> int | None:
    """A whole number that is not negative, or ``None``."""
    return boundary.whole(text.strip())


def value_of(text: str) -> int | float | str:
    """A number where the text is one, else the text."""
    stripped = text.strip()
    size = boundary.whole(stripped)
    if size is not None:
        return size
    found = number(stripped)
    return stripped if found is None else found


def gemm_tflops(m: object, n: object, k: object, batch: object, microseconds: object) -> float | None:
    """``2 m n k batch`` operations over the time, in TFLOP/s; ``None`` where one of them is not known."""
    sizes = (m, n, k, batch)
    if not all(isinstance(size, int) for size in sizes) or not isinstance(microseconds, float) or microseconds <= 0:
        return None
    return 2.0 * math.prod(size for size in sizes if isinstance(size, int)) / (microseconds * 1e6)


@dataclass(frozen=True)
class ResultFormat:
    """A kind of file.

    Attributes:
        name: what it is, for people.
        recognise: whether the first bytes of a file are of this format.
        read: the whole file; the second argument is what messages call it.
    """

    name: str
    recognise: Callable[[bytes], bool]
    read: Callable[[Path, str], ToolResults]


@cache
def formats() -> tuple[ResultFormat, ...]:
    """All formats, in the order of their files' names."""
    from kprof.inputs.results import formats as folder

    names = sorted(module.name for module in iter_modules(folder.__path__) if not module.name.startswith("_"))
    modules = [vars(import_module(f"{folder.__name__}.{name}")) for name in names]
    return tuple(each for module in modules for each in module.get("FORMATS") or (module["FORMAT"],))
