"""A hill-climbing order of configurations: the neighbours of the fastest configuration so far come first.

A search uses :class:`Neighbourhood` instead of :class:`kprof.tuning.order.Queue`. Each of the best configurations so
far adds its neighbours to the queue. The queue is ordered by the time of the configuration that added an entry, then
by how promising the change is. The neighbours of an improvement are therefore tried at once.
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
"""Number of configurations without an improvement after which the climb ends.

The climb only ends once every single change of the fastest configuration was tried.
"""

STEP = 0.04
"""Delay of a neighbour in the queue: relative increase of its sort key per position after the first neighbour."""

TRUST = 0.5
"""Weight of the rough cost: the exponent of the ratio between a neighbour's cost and the configuration's cost."""

SEED_EVERY = 3
"""Interval at which a seed far from the start is tried, as long as there are seeds."""

BETTER = 0.995
"""A time below this share of the best time so far counts as an improvement."""


class Neighbourhood:
    """The queue of a hill-climbing search.

    Args:
        start: the starting point with all knobs.
        changes: returns the legal changes around a configuration, most promising first.
        seeds: configurations far from the start that are worth trying, such as the kernel's own one. One in
            :data:`SEED_EVERY` configurations is a seed as long as there are any.
        most: maximum number of configurations; ``None``: no limit.
        cost: rough cost of a configuration, used only to decide the order.

    Attributes:
        size: number of configurations known so far.
        tiles: always 0, because tiles are not counted.
        settled: True if the climb ended without an improvement while configurations were left. A later improvement
            resets it.
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
        # Single changes of the fastest configuration that were not returned yet, by their identity.
        self._singles: dict[str, Config] = {}
        self.tiles = 0
        self.settled = False
        # Until the start has a time, its neighbours come in the order of the changes.
        self._push(dict(start), inf, of_best=True)
        self.size = 1 + len(self._waiting) + len(self._seeds)

    def __len__(self) -> int:
        """Return the number of configurations that will still be handed out."""
        return 0 if self.settled or self._turn == self._most else self.left

    @property
    def left(self) -> int:
        """Number of known configurations that were never returned."""
        waiting = (*(config for _, _, config in self._waiting), *self._seeds)
        return len({identity(config) for config in waiting} - self._given)

    def __iter__(self) -> Iterator[Config]:
        return self

    def __next__(self) -> Config:
        """Return the next configuration.

        Raises:
            StopIteration: if none is left, or there was no improvement for a while.
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
            # After the patience is used up, only single changes of the fastest configuration are still tried.
            return next(iter(self._singles.values()))
        return heapq.heappop(self._waiting)[2]

    def claim(self, config: Mapping[str, Any]) -> bool:
        """Mark a configuration as handed out; return False if it was already handed out."""
        key = identity(config)
        if key in self._given:
            return False
        self._given.add(key)
        self._singles.pop(key, None)
        return True

    def look_near(self, config: Mapping[str, Any], time: float) -> None:
        """Queue the neighbours of a good configuration.

        Args:
            config: the configuration.
            time: its time.
        """
        better = time < BETTER * self._best
        if better:
            # A late result may still be an improvement, so the search continues.
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
