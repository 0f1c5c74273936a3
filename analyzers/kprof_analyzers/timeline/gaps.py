"""When a GPU stood still, why, and what the CPU did meanwhile."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from typing import Literal

import msgspec

from kprof.inputs.torch_profiler.model import Activity, Launch, Operator, Trace
from kprof_analyzers.timeline.breakdown import occupations
from kprof_analyzers.timeline.categories import Categories
from kprof_analyzers.timeline.intervals import gaps as gaps_between
from kprof_analyzers.timeline.intervals import merged

Cause = Literal["launch-bound", "synchronisation", "queued", "unknown"]

_SYNCHRONISING = ("Synchronize", "MemcpyWithStream", "StreamWaitValue", "hipMemcpy(", "cudaMemcpy(")
_BLOCKING = frozenset({"hipMemcpy", "cudaMemcpy", "hipFree", "cudaFree", "hipMalloc", "cudaMalloc"})


class Gap(msgspec.Struct, frozen=True):
    """One stretch in which a device ran nothing, in ns.

    Attributes:
        cause: ``launch-bound``: the call that launched the next activity had not returned when the gap began;
            ``synchronisation``: and before it the CPU waited for the GPU or for memory inside the gap;
            ``queued``: it had been launched before the gap began, and the GPU waited for something else;
            ``unknown``: the next activity has no launch in the trace.
        before, after: names of the activities around it.
        launch: the call that launched the next activity.
        cpu: what the launching thread did, innermost operator or call, to ns inside the gap, largest first;
            ``(no operator)`` is time in plain Python.
        stack: operators around the next launch, outermost first.
    """

    rank: int
    device: int | None
    start_ns: int
    duration_ns: int
    cause: Cause
    before: str
    after: str
    launch: str | None = None
    cpu: dict[str, int] = {}
    stack: list[str] = []


class GapReport(msgspec.Struct, frozen=True):
    """The largest gaps, and the sums over all of them: count and ns by cause."""

    path: str
    gaps: list[Gap]
    total_ns: int
    count: int
    by_cause: dict[str, int]
    cpu: dict[str, int]


def find_gaps(trace: Trace, categories: Categories, *, at_least_ns: int = 0, limit: int = 20) -> GapReport:
    """Every gap of every device, the ``limit`` largest in detail."""
    threads = _Threads(trace)
    found: list[Gap] = []
    for occupation in occupations(trace, categories):
        busy = merged(*(occupation.lane(n) for n in ("compute", "communication", "memory")))
        mine = sorted(
            (a for a in trace.activities if a.rank == occupation.rank and a.device == occupation.device),
            key=lambda a: a.start_ns,
        )
        starts = [a.start_ns for a in mine]
        for begin, end in gaps_between(busy):
            if end - begin >= at_least_ns:
                index = bisect_left(starts, end)
                found.append(_gap(trace, threads, mine[index - 1], mine[index], begin, end))
    by_cause: Counter[str] = Counter()
    cpu: Counter[str] = Counter()
    for gap in found:
        by_cause[gap.cause] += gap.duration_ns
        cpu.update(gap.cpu)
    total = sum(g.duration_ns for g in found)
    largest = sorted(found, key=lambda g: (-g.duration_ns, g.start_ns))[:limit]
    return GapReport(
        trace.info.path, largest, total, len(found), dict(by_cause.most_common()), dict(cpu.most_common(20))
    )


def _gap(  # noqa: PLR0917 - all of one gap
    trace: Trace, threads: "_Threads", before: Activity, after: Activity, begin: int, end: int
) -> Gap:
    launch = trace.launches[after.launch] if after.launch >= 0 else None
    cause: Cause = "unknown"
    cpu: dict[str, int] = {}
    if launch is not None:
        cpu = threads.inside(launch.rank, launch.thread, begin, end)
        if launch.start_ns + launch.duration_ns <= begin:
            cause = "queued"
        elif any(_waits(name) for name in cpu):
            cause = "synchronisation"
        else:
            cause = "launch-bound"
    stack = [o.name for o in reversed(trace.operator_chain(after.operator))]
    return Gap(
        after.rank,
        after.device,
        begin,
        end - begin,
        cause,
        before.name,
        after.name,
        launch.name if launch is not None else None,
        cpu,
        stack,
    )


def _waits(name: str) -> bool:
    return name in _BLOCKING or any(part in name for part in _SYNCHRONISING)


class _Threads:
    """Each thread's operators and calls, flattened: at any moment the innermost one counts."""

    def __init__(self, trace: Trace) -> None:
        records: defaultdict[tuple[int, int | None], list[Operator | Launch]] = defaultdict(list)
        for operator in trace.operators:
            if operator.kind == "operator":
                records[operator.rank, operator.thread].append(operator)
        for launch in trace.launches:
            records[launch.rank, launch.thread].append(launch)
        self._flat = {key: _flatten(found) for key, found in records.items()}

    def inside(self, rank: int, thread: int | None, begin: int, end: int) -> dict[str, int]:
        """Name to ns between two moments, largest first."""
        starts, segments = self._flat.get((rank, thread), ([], []))
        times: Counter[str] = Counter()
        covered = 0
        for index in range(max(0, bisect_right(starts, begin) - 1), len(starts)):
            start, stop, name = segments[index]
            if start >= end:
                break
            inside = min(stop, end) - max(start, begin)
            if inside > 0:
                times[name] += inside
                covered += inside
        if end - begin > covered:
            times["(no operator)"] += end - begin - covered
        return dict(times.most_common())


def _flatten(records: list[Operator | Launch]) -> tuple[list[int], list[tuple[int, int, str]]]:
    """Disjoint segments, in order, each with the name of the innermost record over it."""
    records.sort(key=lambda r: (r.start_ns, -r.duration_ns))
    segments: list[tuple[int, int, str]] = []
    stack: list[tuple[int, str]] = []
    at = 0
    for record in [*records, None]:
        start = record.start_ns if record is not None else None
        while stack and (start is None or stack[-1][0] <= start):
            end, name = stack.pop()
            if end > at:
                segments.append((at, end, name))
                at = end
        if record is None or start is None:
            break
        if stack and start > at:
            segments.append((at, start, stack[-1][1]))
        at = max(at, start)
        stack.append((record.start_ns + record.duration_ns, record.name))
    return [s[0] for s in segments], segments
