"""Detect knobs that do not change a kernel's time, so that configurations which differ only in them need no compile.

A knob that only sets the order in which workgroups process tiles changes a little arithmetic before the loop, so the
model predicts the same time for each of its values. The requested number of wavefronts per SIMD has no effect as
long as the registers allow that number anyway. This is verified for each kernel: two values of a knob are equivalent
once :data:`ENOUGH` tiles were compiled with both, all with the same time and resources. Knobs that change a loop are
not considered.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kprof.knobs import role_names, tile_of
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.order import identity

ENOUGH = 3
"""Number of tiles that have to agree before two values are equivalent."""

SAME = 0.01
"""Relative difference up to which times are equal: a third of what a prediction can distinguish."""

_RESOURCES = ("vgpr_spills", "lds_bytes", "waves_per_simd", "num_warps")
_OCCUPANCY = "waves_per_eu"


@dataclass
class _Pair:
    """The comparisons of two values of a knob."""

    tiles: set[tuple[Any, ...]] = field(default_factory=set)
    differ: bool = False

    @property
    def one(self) -> bool:
        return not self.differ and len(self.tiles) >= ENOUGH


class Inert:
    """Equivalent knob values, learnt from one problem's configurations.

    Args:
        knobs: values of the space by knob name.
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
        """Knobs with at least two equivalent values."""
        return tuple(name for name, first in self._first.items() if any(v != w for v, w in first.items()))

    def learn(self, one: Evaluation) -> None:
        """Compare a compiled and predicted configuration with the known ones."""
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
        """Compare two configurations that differ in one knob. Return True if the equivalence of its values changed."""
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
        """Map each value to the first value of its equivalence class."""
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
        """Return a compiled configuration with the same time, or ``None`` if the configuration has to be compiled."""
        if not self._first:
            return None
        found = self._standing.get(self._canonical(config))
        if found is None or not _allows(found, found.config.get(_OCCUPANCY), config.get(_OCCUPANCY)):
            return None
        return found


def _allows(one: Evaluation, *asked: Any) -> bool:
    """Whether different requested numbers of wavefronts per SIMD have no effect, because all of them fit anyway."""
    numbers = [value for value in asked if isinstance(value, int)]
    if not numbers or max(numbers) <= 1 or len(set(numbers)) == 1:
        return True
    waves = one.resources.get("waves_per_simd")
    return isinstance(waves, int | float) and waves >= max(numbers)


def _alike(one: Evaluation, other: Evaluation) -> bool:
    same = all(one.resources.get(name) == other.resources.get(name) for name in _RESOURCES)
    return same and abs(one.rank - other.rank) <= SAME * min(one.rank, other.rank)
