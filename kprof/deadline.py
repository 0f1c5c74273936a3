"""Time budgets: after a deadline, running work is finished but no further work is started."""

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from math import inf
from typing import TypeVar

_Item = TypeVar("_Item")


class Deadline:
    """A time budget in seconds, counted from its creation.

    Args:
        seconds: the budget; ``None``: no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._began = time.monotonic()
        self._seconds = inf if seconds is None else seconds

    @property
    def spent(self) -> float:
        """Seconds since the deadline was created, or since :meth:`shares` began to distribute the time."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Seconds until the deadline, 0 after it; infinite without a limit."""
        return max(0.0, self._seconds - self.spent)

    def over(self) -> bool:
        """Return whether the deadline has passed, so that no further work may start."""
        return self.left <= 0

    def share(self, among: int) -> float:
        """Return the seconds for one of ``among`` tasks that share the remaining time."""
        return self.left / among

    def shares(self, count: int, at_least: float = 0.0) -> Iterator[float]:
        """Yield the seconds for each of ``count`` tasks that run one after the other.

        The budget begins when the first task asks for its share.

        If earlier tasks overran their shares, later tasks are expected to overrun as much. Each share is reduced by the
        mean overrun, so that the last task does not get less than the others.

        Args:
            count: number of tasks.
            at_least: minimum seconds per task, even if less time remains.
        """
        self._began = time.monotonic()
        given = 0.0
        for place in range(count):
            beyond = max(0.0, self.spent - given) / max(1, place)
            share = max(at_least, self.share(count - place) - beyond)
            given += share
            yield share

    def taking(self, items: Iterable[_Item], at_least: int = 0) -> Iterator[_Item]:
        """Yield items until the deadline; after it no further item is requested.

        Args:
            items: items to process, the most important first.
            at_least: number of items to yield even after the deadline.
        """
        iterator = iter(items)
        yield from islice(iterator, at_least)
        while not self.over():
            try:
                yield next(iterator)
            except StopIteration:
                return
