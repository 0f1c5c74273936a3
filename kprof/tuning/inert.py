"""Knobs that leave a kernel's time as it is, learnt from what was compiled, so that others need no compile.

The order in which workgroups take tiles is some arithmetic before the loop: the model gives the same time whatever it
is. How many wavefronts are asked for of a SIMD changes nothing as long as the registers allow them anyway. That this
holds for a kernel is not taken for granted: two values of a knob count as one once :data:`ENOUGH` tiles were compiled
with both and had the same time and resources, and no tile had not. Knobs that change what a loop does are not asked.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kprof.knobs import role_names, tile_of
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.order import identity

ENOUGH = 3
"""Tiles that have to agree before two values count as one."""

SAME = 0.01
"""Times count as the same within this share: a third of what a prediction can tell apart."""

_RESOURCES = ("vgpr_spills", "lds_bytes", "waves_per_simd", "num_warps")
_OCCUPANCY = "waves_per_eu"


@dataclass
class _Pair:
    """What is known of two values of a knob."""

    tiles: set[tuple[Any, ...]] = field(default_factory=set)
    differ: bool = False

    @property
    def one(self) -> bool:
        return not self.differ and len(self.tiles) >= ENOUGH


class Inert:
    """What one problem's configurations have shown of its finer knobs.

    Args:
        knobs: name to values of the space.
    """

    def __init__(self, knobs: Mapping[str, tuple[Any, ...]]) -> None:
        group = role_names(knobs).get("group")
        self._values = {
            name: values
            for name, values in knobs.items()
            if len(values) > 1 and (name in {group, _OCCUPANCY} or "XCD" in name.upper())
        }
        self._compiled: dict[str, Evaluation] = {}
        self._rests: dict[tuple[str, str], dict[Any, Evaluation]] = {}
        self._pairs: dict[tuple[str, frozenset[Any]], _Pair] = {}
        self._first: dict[str, dict[Any, Any]] = {}
        self._standing: dict[str, Evaluation] = {}

    @property
    def knobs(self) -> tuple[str, ...]:
        """Those of which two values at least count as one."""
        return tuple(name for name, first in self._first.items() if any(v != w for v, w in first.items()))

    def learn(self, one: Evaluation) -> None:
        """Take note of a configuration that was compiled and predicted."""
        key = identity(one.config)
        if key in self._compiled:
            return
        self._compiled[key] = one
        changed = False
        for name in self._values:
            rest = identity({n: v for n, v in one.config.items() if n != name})
            known = self._rests.setdefault((name, rest), {})
            value = one.config.get(name)
            for other, scored in known.items():
                changed |= self._compare(name, (value, one), (other, scored))
            known[value] = one
        if changed:
            self._first = {name: self._classes(name, values) for name, values in self._values.items()}
            self._standing = {}
            for scored in self._compiled.values():
                self._standing.setdefault(self._canonical(scored.config), scored)
        else:
            self._standing.setdefault(self._canonical(one.config), one)

    def _compare(self, name: str, mine: tuple[Any, Evaluation], its: tuple[Any, Evaluation]) -> bool:
        """Whether something new is known of two values now."""
        (value, one), (other, second) = mine, its
        if name == _OCCUPANCY and not (_allows(one, value, other) and _allows(second, value, other)):
            return False
        pair = self._pairs.setdefault((name, frozenset((value, other))), _Pair())
        before = pair.one
        if _alike(one, second):
            pair.tiles.add(tile_of(one.config))
        else:
            pair.differ = True
        return before != pair.one

    def _classes(self, name: str, values: Iterable[Any]) -> dict[Any, Any]:
        """Each value to the first one that it counts as one with."""
        first: dict[Any, Any] = {}
        for value in values:
            if value in first:
                continue
            first[value], waiting = value, [value]
            while waiting:
                here = waiting.pop()
                for (knob, both), pair in self._pairs.items():
                    if knob == name and here in both and pair.one:
                        for other in both - first.keys():
                            first[other] = value
                            waiting.append(other)
        return first

    def _canonical(self, config: Mapping[str, Any]) -> str:
        return identity({n: self._first[n].get(v, v) if n in self._first else v for n, v in config.items()})

    def stand_in(self, config: Mapping[str, Any]) -> Evaluation | None:
        """A compiled configuration that has the time of another one; ``None`` where that has to be compiled."""
        if not self._first:
            return None
        found = self._standing.get(self._canonical(config))
        if found is None or not _allows(found, found.config.get(_OCCUPANCY), config.get(_OCCUPANCY)):
            return None
        return found


def _allows(one: Evaluation, *asked: Any) -> bool:
    """Whether as many wavefronts a SIMD fit as are asked for, or more."""
    numbers = [value for value in asked if isinstance(value, int)]
    if not numbers or max(numbers) <= 1 or len(set(numbers)) == 1:
        return True
    waves = one.resources.get("waves_per_simd")
    return isinstance(waves, int | float) and waves >= max(numbers)


def _alike(one: Evaluation, other: Evaluation) -> bool:
    same = all(one.resources.get(name) == other.resources.get(name) for name in _RESOURCES)
    return same and abs(one.rank - other.rank) <= SAME * min(one.rank, other.rank)
