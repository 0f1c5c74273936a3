"""Extrapolate the calls of a model with many layers from two runs with fewer layers."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from kprof_analyzers.whole_step.timing import StepCall


@dataclass(frozen=True)
class ScaledCalls:
    """Calls of a model with all its layers, extrapolated from runs with fewer layers.

    Attributes:
        calls: calls in the order of the second run; the calls of the additional layers are repeated.
        shrunk: names of calls that occur less often, or take less time, in the second run than in the first; they
            count as in the second run.
        stretched: names of calls that occur in both runs and take longer in the second; their time is extrapolated.
    """

    calls: Sequence[StepCall]
    shrunk: Sequence[str]
    stretched: Sequence[str]


_Place = tuple[str, ...]
"""Identity of a call and its position in the model; calls with the same identity may differ in their shapes."""


def continued(few: Sequence[StepCall], more: Sequence[StepCall], steps: int) -> ScaledCalls:
    """Extrapolate linearly from two runs: add the calls that the second run has in addition ``steps`` times.

    If equal calls occur more often in the second run, the last of them are the additional ones. Adjacent additional
    calls are repeated together. If both runs have a call that differs only in its size, such as an optimizer that
    updates all parameters at once, its time is extrapolated instead.

    Args:
        few: calls of the run with few layers.
        more: calls of the run with more layers.
        steps: number of times that the additional calls occur; 1 gives the second run.
    """
    before, after = Counter(map(_alike, few)), Counter(map(_alike, more))
    smaller = _surplus(few, before - after)
    larger = _surplus(more, after - before)
    paired, single, gone = _paired([few[at] for at in smaller], {at: more[at] for at in larger}, steps)
    calls = list(_repeated(more, paired, single, steps))
    longer = dict.fromkeys(call.timed.name for call in paired.values())
    return ScaledCalls(calls, list(dict.fromkeys(call.timed.name for call in gone)), list(longer))


def _place_of(call: StepCall) -> _Place:
    scope = call.scope
    where = (scope.module, scope.phase, scope.range) if scope else ("", "", "")
    kind = "triton" if call.timed.kind == "triton" else ""
    return kind, call.timed.name, call.timed.why, *where


def _alike(call: StepCall) -> tuple[_Place, str, float | None]:
    return _place_of(call), call.timed.shapes, call.timed.us


def _surplus(calls: Sequence[StepCall], counts: "Counter[tuple[_Place, str, float | None]]") -> list[int]:
    """Return the positions of the additional calls, in order; ``counts`` has their number for each kind of call."""
    left, found = Counter(counts), []
    for at in range(len(calls) - 1, -1, -1):
        sort = _alike(calls[at])
        if left[sort]:
            left[sort] -= 1
            found.append(at)
    return found[::-1]


def _paired(
    smaller: Sequence[StepCall], larger: Mapping[int, StepCall], steps: int
) -> tuple[dict[int, StepCall], set[int], list[StepCall]]:
    """Pair calls of both runs that differ only in size.

    Returns:
        The paired calls of the second run by position, with extrapolated times; the positions of its calls without
        a partner; and the calls that are fewer or shorter in the second run.
    """
    waiting: defaultdict[_Place, deque[StepCall]] = defaultdict(deque)
    for call in smaller:
        waiting[_place_of(call)].append(call)
    paired, single = {}, set()
    gone: list[StepCall] = []
    for at, call in larger.items():
        same = waiting[_place_of(call)]
        if not same:
            single.add(at)
            continue
        own = same.popleft()
        if (call.timed.us or 0.0) < (own.timed.us or 0.0):
            gone.append(call)
            paired[at] = call
        else:
            paired[at] = _stretched(own, call, steps)
    return paired, single, [*gone, *(call for left in waiting.values() for call in left)]


def _stretched(own: StepCall, call: StepCall, steps: int) -> StepCall:
    def line(name: str) -> float | None:
        first, second = getattr(own.timed, name), getattr(call.timed, name)
        return None if first is None or second is None else first + (second - first) * steps

    timed = replace(call.timed, us=line("us"), low_us=line("low_us"), high_us=line("high_us"), limit_us=None)
    return replace(call, timed=timed, stretched=True)


def _repeated(
    more: Sequence[StepCall], paired: Mapping[int, StepCall], single: "set[int]", steps: int
) -> Iterator[StepCall]:
    for surplus, places in groupby(range(len(more)), key=single.__contains__):
        some = [paired.get(at, more[at]) for at in places]
        yield from some
        if surplus:
            for copy in range(1, steps):
                yield from (replace(call, copy=copy) for call in some)
