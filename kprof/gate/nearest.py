"""Find the baseline entry with which a kernel with changed knobs is compared."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from kprof.gate.baseline import Baseline, BaselineEntry
from kprof.gate.subject import CheckSubject


@dataclass(frozen=True)
class Near:
    """The baseline entry that is nearest to a kernel.

    Attributes:
        state: the entry.
        change: the knobs that differ, as text: ``BK 32 → 256, num_warps 4 → 8``.
        specialization: specialisation of the entry.
    """

    state: BaselineEntry
    change: str
    specialization: str


def nearest(baseline: Baseline, subject: CheckSubject, taken: Collection[str] = ()) -> Near | None:
    """Return the entry with the fewest and smallest differences of knobs; ``None`` if no entry is comparable.

    Only entries of the same kernel, architecture, compiler and argument types are comparable.

    Args:
        baseline: the accepted state.
        subject: the current kernel.
        taken: specialisations of this kernel that are not available, because they still exist and are compared with
            their own entries.
    """
    knobs, found = subject.knobs, []
    for specialization, archs in baseline.kernels.get(subject.kernel, {}).items():
        state = archs.get(subject.report.arch, {}).get(subject.compiler)
        if state is None or specialization in taken or not state.knobs or state.types != subject.types:
            continue
        changed = _changed(state.knobs, knobs)
        if changed:
            distance = sum(_distance(before, after) for before, after in changed.values())
            found.append((len(changed), distance, specialization, Near(state, _words(changed), specialization)))
    return min(found, key=lambda entry: entry[:3])[3] if found else None


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the old and the new value of each knob that differs; ``None`` for a side without the knob."""
    names = [*after, *(name for name in before if name not in after)]
    pairs = {name: (before.get(name), after.get(name)) for name in names}
    return {name: (old, new) for name, (old, new) in pairs.items() if old != new}


def _distance(before: Any, after: Any) -> float:
    """Return the distance of two knob values: for numbers the number of doublings between them, else a large value."""
    if all(isinstance(value, int | float) and value > 0 for value in (before, after)):
        return abs(math.log2(after / before))
    return 8.0


def _words(changed: Mapping[str, tuple[Any, Any]]) -> str:
    return ", ".join(f"{name} {_value(old)} → {_value(new)}" for name, (old, new) in changed.items())


def _value(value: Any) -> str:
    return "unset" if value is None else str(value)
