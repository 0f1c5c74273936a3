"""Which operators ran as they would on the GPU, and which were answered without running."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

ZEROS = "zeros"
"""No implementation can run here: the result has the right shape and is zero."""
CPU = "cpu kernel"
"""A library's implementation for the CPU answered for the one that the GPU would run."""
RECURSION = "recursion"
"""An implementation that calls its own operator without end: the CPU's answered in the innermost call."""


class Answers:
    """Counts of one process.

    Args:
        first: is told of the first answer of a kind, with the operator's name; gives its number in the journal.
    """

    def __init__(self, first: Callable[[str, str], int]) -> None:
        self._first = first
        self._lock = threading.Lock()
        self._numbers: dict[tuple[str, str], int] = {}
        self._counts: Counter[int] = Counter()
        self._ran: Counter[str] = Counter()

    def ran(self, name: str) -> None:
        """An implementation that the program registered for the GPU runs."""
        with self._lock:
            self._ran[name] += 1

    def unrun(self, name: str, how: str) -> None:
        """An operator on tensors of the GPU is answered without what the GPU would run.

        Args:
            name: ``library::operator.overload``.
            how: :data:`ZEROS`, :data:`CPU` or :data:`RECURSION`.
        """
        number = self._numbers.get((name, how))
        if number is None:
            number = self._numbers[name, how] = self._first(name, how)
        with self._lock:
            self._counts[number] += 1

    def totals(self) -> dict[str, Any] | None:
        """The fields of the journal's last word on operators; ``None`` when there is nothing to say."""
        with self._lock:
            if not self._ran and not self._counts:
                return None
            return {"ran": dict(self._ran), "unrun": sorted(self._counts.items())}
