"""The order in which configurations are compiled: most promising first, so a stopped search is still useful.

Combinations of the decisive knobs, which determine legality and rough cost, are sorted by that cost. The cheapest
combination of every tile comes before the second of any tile. For each combination of decisive knobs, the combinations
of the other knobs are tried one by one, nearest to the kernel's defaults first. Neighbours of the best results so far
are inserted in between: often those with another tile size, occasionally those with another value of a finer knob (one
that is no tile size).
"""

import heapq
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, count, product
from math import log2, prod
from typing import Any, Protocol

from kprof.knobs import is_tile_name, role_names, tile_names, tile_of
from kprof.tuning.pruning import Pruned
from kprof.tuning.space import Space
from kprof.tuning.watched_knobs import Question, check_questions, decisive

Config = dict[str, Any]

BACK = 0.25
"""Relative cost increase for each doubling of the number of similar configurations that come before this one.

Similar configurations are cheaper ones of the same tile, and those that differ from it only in finer knobs nearer to
the kernel's own.
"""

FINE_EVERY = 8
"""Interval at which a neighbour is tried that differs from the best configuration in a finer knob.

Once all other configurations have been tried, all these neighbours are tried.
"""


def identity(config: Mapping[str, Any]) -> str:
    """Return a configuration as text that is equal for equal knobs."""
    return repr(sorted(config.items()))


class Order(Protocol):
    """The order in which a search tries configurations.

    Attributes:
        size: number of configurations.
        tiles: number of different tiles among them.
    """

    size: int
    tiles: int

    def __len__(self) -> int:
        """Return the number of configurations that were not handed out yet."""
        ...

    def __iter__(self) -> Iterator[Config]:
        """Return the object itself."""
        ...

    def __next__(self) -> Config:
        """Return the next complete configuration."""
        ...

    def claim(self, config: Mapping[str, Any]) -> bool:
        """Mark a configuration as handed out; return False if it is unknown or was already handed out."""
        ...

    def look_near(self, config: Mapping[str, Any], time: float) -> None:
        """Hand out the neighbours of a good configuration soon."""
        ...


class Queue:
    """Legal configurations of one problem, best first.

    Args:
        space: the knobs with values that the architecture supports.
        base: the kernel's own knobs, for knobs that the space does not name.
        ask: returns the reason against a configuration, or ``None``.
        cost: rough cost; smaller is better.
        pruned: collects the reasons against illegal configurations.
    """

    def __init__(
        self,
        space: Space,
        base: Mapping[str, Any],
        ask: Question,
        cost: Callable[[Mapping[str, Any]], float],
        pruned: Pruned,
    ) -> None:
        self._space, self._base, self._ask, self._cost = space, base, ask, cost
        self._given: set[str] = set()
        self._listed_keys: set[str] = set()
        self._near: list[tuple[float, int, Config]] = []
        self._fine: list[tuple[float, int, Config]] = []
        self._turn = 0
        # Entries: whether the tile was handed out before, cost including the delay, number, own cost, decisive knobs,
        # and the combinations of the other knobs.
        self._heap: list[tuple[bool, float, int, float, Config, Iterator[tuple[int, Config]]]] = []
        self._number = count()
        self.size = self._listed(pruned) if space.listed else self._combinations(pruned)
        self.tiles = self._delay_repeated_tiles()
        heapq.heapify(self._heap)

    def __len__(self) -> int:
        """Return the number of configurations that were not handed out yet."""
        return self.size - len(self._given)

    def __iter__(self) -> Iterator[Config]:
        return self

    def __next__(self) -> Config:
        """Return the next complete configuration, including the kernel's own knobs.

        Raises:
            StopIteration: if all were handed out.
        """
        while self._heap or self._near or self._fine:
            config = self._next()
            key = identity(config)
            if key not in self._given:
                self._turn += 1
                self._given.add(key)
                return config
        raise StopIteration

    def _next(self) -> Config:
        every = FINE_EVERY if self.tiles > 2 else 2
        if self._fine and (self._turn % every == every - 1 or not (self._near or self._heap)):
            return heapq.heappop(self._fine)[2]
        if self._near and (self._turn % 2 == 0 or not self._heap):
            return heapq.heappop(self._near)[2]
        return self._pop() if self._heap else heapq.heappop(self._fine)[2]

    def claim(self, config: Mapping[str, Any]) -> bool:
        """Mark a configuration as handed out; return False if it is not in the space or was already handed out."""
        key = identity(config)
        knobs = self._space.knobs
        known = key in self._listed_keys if self._space.listed else all(config.get(n) in v for n, v in knobs.items())
        if not known or key in self._given or self._ask(config) is not None:
            return False
        self._given.add(key)
        return True

    def look_near(self, config: Mapping[str, Any], time: float) -> None:
        """Hand out the neighbours of a good configuration soon, the neighbours of the fastest one first.

        Args:
            config: the configuration; a neighbour has one knob changed to an adjacent value.
            time: its time.
        """
        coarse = tile_names(config)
        for name, values in self._space.knobs.items():
            if len(values) < 2 or config.get(name) not in values:
                continue
            place = values.index(config[name])
            for other in {max(place - 1, 0), min(place + 1, len(values) - 1)} - {place}:
                neighbour = {**config, name: values[other]}
                if identity(neighbour) not in self._given and self._ask(neighbour) is None:
                    queue = self._near if name in coarse else self._fine
                    heapq.heappush(queue, (time, next(self._number), neighbour))

    def _pop(self) -> Config:
        _, _, number, cost, outer, inner = heapq.heappop(self._heap)
        _, rest = next(inner)
        following = next(inner, None)
        if following is not None:
            again = _chain(following, inner)
            heapq.heappush(self._heap, (True, cost * _delay_factor(following[0]), number, cost, outer, again))
        return {**self._base, **outer, **rest}

    def _delay_repeated_tiles(self) -> int:
        """Delay all but the first entry of each tile; return the number of tiles."""
        groups: dict[tuple[Any, ...], list[int]] = {}
        for place, entry in enumerate(self._heap):
            groups.setdefault(tile_of({**self._base, **entry[4]}), []).append(place)
        for places in groups.values():
            places.sort(key=lambda place: (self._heap[place][1], self._off(self._heap[place][4])))
            for behind, place in enumerate(places):
                _, _, number, cost, outer, inner = self._heap[place]
                cost *= _delay_factor(behind)
                self._heap[place] = (behind > 0, cost, number, cost, outer, inner)
        return len(groups)

    def _off(self, config: Mapping[str, Any]) -> int:
        """Return the number of knobs that differ from the kernel's own values."""
        return sum(name in self._base and value != self._base[name] for name, value in config.items())

    def _listed(self, pruned: Pruned) -> int:
        kept: dict[str, tuple[Config, float]] = {}
        for listed in self._space.listed:
            config = {**self._base, **listed}
            if (why := self._ask(config)) is not None:
                pruned.reasons[why] += 1
            else:
                kept.setdefault(identity(config), (config, self._cost(config)))
        for config, cost in kept.values():
            self._heap.append((False, cost, next(self._number), cost, config, iter([(0, {})])))
        self._listed_keys = set(kept)
        return len(kept)

    def _combinations(self, pruned: Pruned) -> int:
        knobs = self._space.knobs
        if not all(knobs.values()):
            return 0
        outer_names = decisive(self._ask, knobs, self._base) | set(_costly(knobs))
        check_questions(knobs, outer_names)
        inner = {name: values for name, values in knobs.items() if name not in outer_names}
        share = prod(len(values) for values in inner.values())
        first = {name: _default(values, self._base.get(name)) for name, values in inner.items()}
        total = 0
        for outer in self._space.over(tuple(outer_names)):
            config = {**self._base, **first, **outer}
            if (why := self._ask(config)) is not None:
                pruned.reasons[why] += share
                continue
            total += share
            cost = self._cost(config)
            self._heap.append((False, cost, next(self._number), cost, outer, _by_distance(inner, first)))
        return total


class ShortOrder:
    """Another order, cut off after a maximum number of configurations.

    Args:
        order: the other order.
        most: maximum number of configurations.
    """

    def __init__(self, order: Order, most: int) -> None:
        self._order, self._left = order, most
        self.size, self.tiles = min(order.size, most), order.tiles

    def __len__(self) -> int:
        return min(self._left, len(self._order))

    def __iter__(self) -> Iterator[Config]:
        return self

    def __next__(self) -> Config:
        if self._left <= 0:
            raise StopIteration
        self._left -= 1
        return next(self._order)

    def claim(self, config: Mapping[str, Any]) -> bool:
        """See :meth:`Order.claim`."""
        return self._order.claim(config)

    def look_near(self, config: Mapping[str, Any], time: float) -> None:
        """See :meth:`Order.look_near`."""
        self._order.look_near(config, time)


def _costly(knobs: Mapping[str, Any]) -> Iterator[str]:
    """Yield the knobs that the rough cost depends on."""
    roles = role_names(knobs)
    yield from (roles[role] for role in ("m", "n", "k", "split") if role in roles)
    yield from (name for name in knobs if is_tile_name(name))
    yield from (name for name in ("num_warps", "num_stages") if name in knobs)


def _default(values: tuple[Any, ...], own: Any) -> Any:
    return own if own in values else values[0]


def _delay_factor(before: int) -> float:
    """Return the factor on the cost of a configuration with this number of configurations before it."""
    return 1 + BACK * log2(1 + before)


def _by_distance(knobs: Mapping[str, tuple[Any, ...]], first: Config) -> Iterator[tuple[int, Config]]:
    """Return all combinations of knobs, numbered, sorted by the number of knobs that differ from their defaults."""
    return enumerate(_combinations_by_distance(knobs, first))


def _combinations_by_distance(knobs: Mapping[str, tuple[Any, ...]], first: Config) -> Iterator[Config]:
    others = {name: [v for v in values if v != first[name]] for name, values in knobs.items()}
    free = [name for name, values in others.items() if values]
    for off in range(len(free) + 1):
        for names in combinations(free, off):
            for values in product(*(others[name] for name in names)):
                yield {**first, **dict(zip(names, values, strict=True))}


def _chain(head: tuple[int, Config], rest: Iterator[tuple[int, Config]]) -> Iterator[tuple[int, Config]]:
    yield head
    yield from rest
