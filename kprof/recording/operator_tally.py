"""Count the operators that ran as on a GPU, those that launched nothing, and those whose GPU code did not run."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kprof.recording.device_memory import MEMORY

ZEROS = "zeros"
"""Way of answering an operator: with zeros of the right shape, because no implementation can run here."""
CPU = "cpu kernel"
"""Way of answering an operator: by a library's CPU implementation instead of its GPU implementation."""
RECURSION = "recursion"
"""Way of answering an operator whose implementation calls it endlessly: by the CPU in the innermost call."""
SHAPE = "shape"
"""Way of answering an operator: without computing; the result has its true shape, but no values."""


class OperatorTally:
    """Counts a process's operators by how they were answered.

    Args:
        first: called when an operator is answered for the first time in one of the ways (:data:`ZEROS`, ...), with its
            name and the way; returns the journal's number for this pair.
        launched: returns the number of launches of the current thread, including autotuners' trials.
    """

    def __init__(self, first: Callable[[str, str], int], launched: Callable[[], int]) -> None:
        self._first = first
        self._launched = launched
        self._lock = threading.Lock()
        self._numbers: dict[tuple[str, str], int] = {}
        self._counts: Counter[int] = Counter()
        self._ran: Counter[str] = Counter()
        self._silent: Counter[str] = Counter()
        self._torch: Counter[str] = Counter()

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        """Count a run of an implementation that the program registered for the GPU, and whether it launches kernels."""
        before = self._launched()
        try:
            yield
        finally:
            launched = self._launched() != before
            with self._lock:
                self._ran[name] += 1
                self._silent[name] += not launched

    def torchs(self, name: str) -> None:
        """Count one of torch's own operators, which a GPU would compute with torch's own kernels."""
        with self._lock:
            self._torch[name] += 1

    def unrun(self, name: str, how: str) -> None:
        """Count an operator on GPU tensors that is answered without the GPU's implementation.

        Args:
            name: ``library::operator.overload``.
            how: way of answering: :data:`ZEROS`, :data:`CPU`, :data:`RECURSION` or :data:`SHAPE`.
        """
        number = self._numbers.get((name, how))
        if number is None:
            number = self._numbers[name, how] = self._first(name, how)
        with self._lock:
            self._counts[number] += 1

    def totals(self) -> dict[str, Any] | None:
        """Return the fields of the journal's final entry on operators; ``None`` if there were none."""
        with self._lock:
            if not self._ran and not self._counts and not self._torch:
                return None
            return {
                "ran": dict(self._ran),
                "silent": dict(+self._silent),
                "torch": dict(self._torch),
                "unrun": sorted(self._counts.items()),
                "memory": MEMORY.totals(),
            }
