"""A time after which nothing more is begun."""

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from math import inf
from typing import TypeVar

_Item = TypeVar("_Item")


class Deadline:
    """A budget of seconds, counted from when it is made.

    Args:
        seconds: the budget; ``None``: no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._began = time.monotonic()
        self._seconds = inf if seconds is None else seconds

    @property
    def spent(self) -> float:
        """Seconds since it was made, or since the first of its shares."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Seconds until it is over, 0 from then on; infinite without a limit."""
        return max(0.0, self._seconds - self.spent)

    def over(self) -> bool:
        """Return whether nothing more may be begun."""
        return self.left <= 0

    def share(self, among: int) -> float:
        """Return the seconds for one of so many that share what is left; what it does not need is left for the rest."""
        return self.left / among

    def shares(self, count: int, at_least: float = 0.0) -> Iterator[float]:
        """Yield the seconds for each of so many tasks in turn, counted from the moment the first task asks.

        What the tasks so far took beyond their shares is expected of the next ones, too, so that the last has no less.

        Args:
            count: number of tasks.
            at_least: seconds that each has whatever the time.
        """
        self._began = time.monotonic()
        given = 0.0
        for place in range(count):
            beyond = max(0.0, self.spent - given) / max(1, place)
            share = max(at_least, self.share(count - place) - beyond)
            given += share
            yield share

    def taking(self, items: Iterable[_Item], at_least: int = 0) -> Iterator[_Item]:
        """Yield items as long as there is time; the next one is not asked for afterwards.

        Args:
            items: what is to be done, the most important first.
            at_least: how many of them are yielded even if the time is over.
        """
        iterator = iter(items)
        yield from islice(iterator, at_least)
        while not self.over():
            try:
                yield next(iterator)
            except StopIteration:
                return
