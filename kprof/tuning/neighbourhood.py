"""Configurations around a starting point, those nearest to the fastest so far first: a search that climbs.

It stands in for :class:`kprof.tuning.order.Queue` in a search. Every configuration that is among the best so far gives
its own neighbours; they come after those of faster ones, and the farther a change goes the later. So a step that helps
is followed at once, and small changes that only help together are found one behind the other.
"""

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from math import inf
from typing import Any

from kprof.tuning.order import identity

Config = dict[str, Any]

PATIENCE = 28
"""So many configurations after the last one that was faster, and after all single changes of the fastest, end it."""

STEP = 0.04
"""A neighbour comes as late as a configuration that is slower by this share for each place behind the first one."""

TRUST = 0.5
"""How much of the rough cost is believed: the power of its ratio."""

SEED_EVERY = 3
"""One in so many is far from the start, while there are such."""

BETTER = 0.995
"""Less than this share of the best time so far is an improvement."""


class Neighbourhood:
    """The queue of a search that climbs.

    Args:
        start: the starting point: all knobs.
        changes: the changes around a configuration, most promising first; they are legal.
        seeds: configurations far from it that are worth a look, such as a kernel's own one: one in
            :data:`SEED_EVERY` is one of them while there are any.
        most: so many are given out; ``None``: no limit.
        cost: a rough cost of a configuration, for what is looked at first; no prediction.

    Attributes:
        size: how many there are, as far as is known.
        tiles: not counted: 0.
        settled: whether it ended because nothing better came, with configurations left. A better one that comes
            later takes that back.
    """

    def __init__(
        self,
        start: Mapping[str, Any],
        changes: Callable[[Config], Iterable[Mapping[str, Any]]],
        cost: Callable[[Config], float] = lambda _config: 1.0,
        seeds: Iterable[Mapping[str, Any]] = (),
        *,
        most: int | None = None,
    ) -> None:
        self._changes, self._cost, self._most = changes, cost, most
        self._seeds = deque(dict(seed) for seed in seeds)
        self._given: set[str] = set()
        self._waiting: list[tuple[float, int, Config]] = []
        self._number = count()
        self._best, self._since, self._turn = inf, 0, 0
        # Single changes of the fastest that were not given out, by their text.
        self._singles: dict[str, Config] = {}
        self.tiles = 0
        self.settled = False
        # Until the start has a time, its neighbours come in the order of the changes.
        self._push(dict(start), inf, of_best=True)
        self.size = 1 + len(self._waiting) + len(self._seeds)

    def __len__(self) -> int:
        """How many are still to be given out."""
        return 0 if self.settled or self._turn == self._most else self.left

    @property
    def left(self) -> int:
        """How many were never given out."""
        waiting = (*(config for _, _, config in self._waiting), *self._seeds)
        return len({identity(config) for config in waiting} - self._given)

    def __iter__(self) -> Iterator[Config]:
        return self

    def __next__(self) -> Config:
        """The next configuration.

        Raises:
            StopIteration: none is left, or nothing better has come for a while.
        """
        while (self._waiting or self._seeds) and not self.settled and self._turn != self._most:
            if self._since >= PATIENCE and not self._singles and not self._seeds:
                self.settled = True
                break
            config = self._next()
            if self.claim(config):
                self._since += 1
                self._turn += 1
                return config
        raise StopIteration

    def _next(self) -> Config:
        if self._seeds and (self._turn % SEED_EVERY == 0 or not self._waiting):
            return self._seeds.popleft()
        if self._since >= PATIENCE and self._singles:
            # Only these are waited for.
            return next(iter(self._singles.values()))
        return heapq.heappop(self._waiting)[2]

    def claim(self, config: Mapping[str, Any]) -> bool:
        """Take a configuration out of order; false when it was given out."""
        key = identity(config)
        if key in self._given:
            return False
        self._given.add(key)
        self._singles.pop(key, None)
        return True

    def look_near(self, config: Mapping[str, Any], time: float) -> None:
        """Give out the neighbours of a good configuration.

        Args:
            config: the configuration.
            time: what it takes.
        """
        better = time < BETTER * self._best
        if better:
            # Answers may come after what was asked for last.
            self._best, self._since, self.settled = time, 0, False
        self._push(dict(config), time, of_best=better)

    def _push(self, config: Config, time: float, *, of_best: bool) -> None:
        singles, here = dict[str, Config](), self._cost(config)
        for place, change in enumerate(self._changes(config)):
            neighbour = {**config, **change}
            key = identity(neighbour)
            if key not in self._given:
                if len(change) == 1:
                    singles[key] = neighbour
                rough = (self._cost(neighbour) / here) ** TRUST
                heapq.heappush(self._waiting, (time * rough * (1 + STEP * place), next(self._number), neighbour))
        if of_best:
            self._singles = singles
