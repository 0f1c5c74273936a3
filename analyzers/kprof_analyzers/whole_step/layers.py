"""The calls of a model with many layers, from those of two runs with fewer."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from kprof_analyzers.whole_step.timing import StepCall


@dataclass(frozen=True)
class ScaledCalls:
    """The calls of a model.

    Attributes:
        calls: in the order of the second run, what a layer adds as often as there are layers.
        shrunk: names of what the second run has less of than the first; it counts as in the second.
        stretched: names of calls of which there is one in both runs, and that take longer in the second.
    """

    calls: Sequence[StepCall]
    shrunk: Sequence[str]
    stretched: Sequence[str]


_Place = tuple[str, ...]
"""What a call is, and where in the model: calls of it may differ in their shapes."""


def continued(few: Sequence[StepCall], more: Sequence[StepCall], steps: int) -> ScaledCalls:
    """Continue the line through two runs: the second run's surplus comes ``steps`` times on top of the first.

    Of equal calls the last ones are taken for the surplus, and neighbours among it are repeated together. Where both
    runs have a call and only its size differs, as that of an optimizer which updates all parameters at once, its time
    is continued instead.

    Args:
        few: calls of the run with few layers.
        more: of the run with more.
        steps: how often the surplus comes on top; 1 gives the second run.
    """
    before, after = Counter(map(_alike, few)), Counter(map(_alike, more))
    smaller = _surplus(few, before - after)
    larger = _surplus(more, after - before)
    paired, single, gone = _paired([few[at] for at in smaller], {at: more[at] for at in larger}, steps)
    calls = list(_repeated(more, paired, single, steps))
    longer = dict.fromkeys(call.timed.name for call in paired.values())
    return ScaledCalls(calls, list(dict.fromkeys(call.timed.name for call in gone)), list(longer))


def _place(call: StepCall) -> _Place:
    scope = call.scope
    where = (scope.module, scope.phase, scope.range) if scope else ("", "", "")
    kind = "triton" if call.timed.kind == "triton" else ""
    return kind, call.timed.name, call.timed.why, *where


def _alike(call: StepCall) -> tuple[_Place, str, float | None]:
    return _place(call), call.timed.shapes, call.timed.us


def _surplus(calls: Sequence[StepCall], counts: "Counter[tuple[_Place, str, float | None]]") -> list[int]:
    """Places of the last calls of each sort, in order."""
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
    """Calls of both runs that differ in size alone, at the size of the model; what is left of either run."""
    waiting: defaultdict[_Place, deque[StepCall]] = defaultdict(deque)
    for call in smaller:
        waiting[_place(call)].append(call)
    paired, single = {}, set()
    gone: list[StepCall] = []
    for at, call in larger.items():
        same = waiting[_place(call)]
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
