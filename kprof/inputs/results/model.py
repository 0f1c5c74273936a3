"""What a file of another tool holds, as rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
