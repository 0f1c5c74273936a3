"""Text, numbers and sizes of the files of other tools."""

import math
import re
from pathlib import Path

from kprof.inputs import boundary
from kprof.inputs.results.model import RowCollector

LARGEST = 256 << 20
"""Bytes of a text file; the largest published find-db has 40 MB."""

_NUMBER = re.compile(r"[+-]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_LONGEST = 1 << 20


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
