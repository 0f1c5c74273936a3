"""Find the gaps in which a GPU was idle, their causes, and what the CPU did during them."""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappush, heappushpop, merge
from operator import itemgetter
from typing import Any, Literal, NamedTuple

import msgspec

from kprof.inputs.torch_profiler.columns import Records, by_start
from kprof.inputs.torch_profiler.model import LinkedTrace
from kprof_analyzers.profiles.timeline.breakdown import occupations
from kprof_analyzers.profiles.timeline.categories import Categories
from kprof_analyzers.profiles.timeline.intervals import gaps as gaps_between
from kprof_analyzers.profiles.timeline.intervals import merged
from kprof_analyzers.profiles.timeline.tree import BACKWARD, NOWHERE, Paths, class_of

Cause = Literal["launch-bound", "synchronisation", "queued", "unknown"]
_Item = tuple[int, int, int, int]

_SYNCHRONISING = ("Synchronize", "MemcpyWithStream", "StreamWaitValue", "hipMemcpy(", "cudaMemcpy(")
_BLOCKING = frozenset({"hipMemcpy", "cudaMemcpy", "hipFree", "cudaFree", "hipMalloc", "cudaMalloc"})


class Gap(msgspec.Struct, frozen=True):
    """One period in which a device ran no activity; times are in ns.

    Attributes:
        cause: ``launch-bound``: the call that launched the next activity had not returned when the gap began;
            ``synchronisation``: in addition, the CPU waited for the GPU or for memory inside the gap before the call;
            ``queued``: the next activity had been launched before the gap began, and the GPU waited for something else;
            ``unknown``: the next activity has no launch in the trace.
        before, after: names of the activities before and after the gap.
        launch: call that launched the next activity.
        cpu: ns inside the gap by innermost operator or call of the launching thread, largest first; ``(no operator)``
            is time in plain Python.
        stack: operators around the next launch, outermost first.
        functions: Python functions that the launching thread executed for most of the gap, outermost first, as
            ``file(line of the function): name``; empty if the trace has no frames.
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
    functions: list[str] = []


class GapReport(msgspec.Struct, frozen=True):
    """The largest gaps, and for all gaps their number and the ns by cause.

    ``span_ns`` is the time from the first to the last activity, summed over devices. ``modules`` has the ns of
    launch-bound gaps, by class of the outermost module in which the next activity was launched; gaps outside of modules
    are not included.
    """

    path: str
    gaps: list[Gap]
    total_ns: int
    count: int
    by_cause: dict[str, int]
    cpu: dict[str, int]
    span_ns: int = 0
    modules: dict[str, int] = {}


def find_gaps(trace: LinkedTrace, categories: Categories, *, at_least_ns: int = 0, limit: int = 20) -> GapReport:
    """Return sums over all gaps of all devices, and the details of the ``limit`` largest gaps."""
    threads, functions, launched_by = ThreadTimes(trace), _Functions(trace), Paths(trace, "modules")
    ranks, devices = trace.activities.numbers("rank").data, trace.activities.numbers("device")
    starts = trace.activities.numbers("start_ns").data
    by_cause: Counter[str] = Counter()
    cpu: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    launches, operators = (trace.activities.numbers(field).data for field in ("launch", "operator"))
    largest: list[tuple[int, int, _Place]] = []
    count = total = span = 0
    for occupation in occupations(trace, categories):
        busy = merged(*(occupation.lane(n) for n in ("compute", "communication", "memory")))
        owner = (occupation.rank, occupation.device)
        mine = [row for row, rank in enumerate(ranks) if (rank, devices[row]) == owner]
        mine.sort(key=starts.__getitem__)
        moments = array("q", map(starts.__getitem__, mine))
        span += busy.ends[-1] - busy.starts[0] if busy else 0
        for begin, end in gaps_between(busy):
            if end - begin < at_least_ns:
                continue
            index = bisect_left(moments, end)
            place = _Place(mine[index - 1], mine[index], begin, end)
            cause, doing = _cause(trace, threads, place)
            count += 1
            total += end - begin
            by_cause[cause] += end - begin
            if cause == "launch-bound":
                module = _outermost(launched_by.of(launches[place.after], operators[place.after]))
                modules[module] += end - begin
            for name, time in doing.items():
                cpu[name] += time
            # The start is negated so that the heap drops the later of two equally long gaps.
            entry = (end - begin, -begin, place)
            (heappush if len(largest) < limit else heappushpop)(largest, entry)
    shown = [_gap(trace, threads, functions, place) for _, _, place in sorted(largest, reverse=True)]
    causes, doing = dict(by_cause.most_common()), dict(cpu.most_common(20))
    modules.pop("", None)
    return GapReport(trace.info.path, shown, total, count, causes, doing, span, dict(modules.most_common(20)))


def _outermost(path: Sequence[str]) -> str:
    """Return the class of the outermost module of a path, or "" if the path has no module."""
    name = path[1] if path[0] == BACKWARD and len(path) > 1 else path[0]
    return "" if name == NOWHERE else class_of(name)


class _Place(NamedTuple):
    """A gap: rows of the activities before and after it, and its start and end in ns."""

    before: int
    after: int
    begin: int
    end: int


def _cause(trace: LinkedTrace, threads: "ThreadTimes", place: _Place) -> tuple[Cause, dict[str, int]]:
    row = trace.activities.numbers("launch").data[place.after]
    if row < 0:
        return "unknown", {}
    launches = trace.launches
    rank, thread = launches.numbers("rank").data[row], launches.numbers("thread")[row]
    cpu = threads.inside(rank, thread, place.begin, place.end)
    if launches.numbers("start_ns").data[row] + launches.numbers("duration_ns").data[row] <= place.begin:
        return "queued", cpu
    return ("synchronisation" if any(waits_for_gpu(name) for name in cpu) else "launch-bound"), cpu


def _gap(trace: LinkedTrace, threads: "ThreadTimes", functions: "_Functions", place: _Place) -> Gap:
    cause, cpu = _cause(trace, threads, place)
    after = trace.activities[place.after]
    return Gap(
        after.rank,
        after.device,
        place.begin,
        place.end - place.begin,
        cause,
        trace.activities.words("name")[place.before],
        after.name,
        trace.launches.words("name")[after.launch] if after.launch >= 0 else None,
        cpu,
        trace.operator_names(after.operator)[::-1],
        functions.around(after.launch, place.begin, place.end),
    )


def waits_for_gpu(name: str) -> bool:
    """Return whether a runtime call waits for the GPU."""
    return name in _BLOCKING or any(part in name for part in _SYNCHRONISING)


class _Functions:
    """Python functions of each thread, ordered by time."""

    def __init__(self, trace: LinkedTrace) -> None:
        self._trace = trace
        self._names = trace.frames.words("name")
        self._starts, self._durations, self._parents = (
            trace.frames.numbers(field).data for field in ("start_ns", "duration_ns", "parent")
        )
        rows: dict[tuple[int, int | None], list[int]] = {}
        threads = trace.frames.numbers("thread")
        for row, rank in enumerate(trace.frames.numbers("rank").data):
            rows.setdefault((rank, threads[row]), []).append(row)
        self._rows = {key: by_start(trace.frames, found) for key, found in rows.items()}

    def around(self, launch: int, begin: int, end: int) -> list[str]:
        """Return the functions that the launching thread executed for most of the time from ``begin`` to ``end``."""
        if launch < 0:
            return []
        launches = self._trace.launches
        rows = self._rows.get((launches.numbers("rank").data[launch], launches.numbers("thread")[launch]), [])
        at = bisect_right(rows, (begin + end) // 2, key=self._starts.__getitem__) - 1
        frame = rows[at] if at >= 0 else -1
        names: list[str] = []
        while frame >= 0:
            start, stop = self._starts[frame], self._starts[frame] + self._durations[frame]
            if 2 * (min(stop, end) - max(start, begin)) > end - begin:
                names.append(self._names[frame])
            frame = self._parents[frame]
        return names[::-1]


class ThreadTimes:
    """Timeline of each thread, in which every moment belongs to the innermost operator or call only."""

    def __init__(self, trace: LinkedTrace) -> None:
        tables: tuple[Records[Any], ...] = (trace.operators, trace.launches)
        kinds = trace.operators.words("kind")
        self._names = tuple(table.words("name").words for table in tables)
        rows: dict[tuple[int, int | None], tuple[array[int], array[int]]] = {}
        for table, place in zip(tables, (0, 1), strict=True):
            threads = table.numbers("thread")
            for row, rank in enumerate(table.numbers("rank").data):
                if place or kinds[row] == "operator":
                    key = (rank, threads[row])
                    if key not in rows:
                        rows[key] = (array("q"), array("q"))
                    rows[key][place].append(row)
        self._none = _Segments()
        self._flat = {
            key: _flatten(tables, merge(*(_items(table, found[i], i) for i, table in enumerate(tables))))
            for key, found in rows.items()
        }

    def inside(self, rank: int, thread: int | None, begin: int, end: int) -> dict[str, int]:
        """Return the ns between two times by name of operator or call, largest first."""
        segments = self._flat.get((rank, thread), self._none)
        times: dict[str, int] = {}
        covered = 0
        for index in range(max(0, bisect_right(segments.starts, begin) - 1), len(segments.starts)):
            start, stop = segments.starts[index], segments.ends[index]
            if start >= end:
                break
            inside = min(stop, end) - max(start, begin)
            if inside > 0:
                name = self._names[segments.tables[index]][segments.names[index]]
                times[name] = times.get(name, 0) + inside
                covered += inside
        if end - begin > covered:
            times["(no operator)"] = times.get("(no operator)", 0) + end - begin - covered
        return dict(sorted(times.items(), key=itemgetter(1), reverse=True))


class _Segments:
    """Disjoint stretches of time, in order. Each has the table and name code of its innermost operator or call."""

    def __init__(self) -> None:
        self.starts, self.ends, self.names, self.tables = array("q"), array("q"), array("i"), array("b")

    def add(self, start: int, end: int, name: tuple[int, int]) -> None:
        """Add a stretch."""
        self.starts.append(start)
        self.ends.append(end)
        self.tables.append(name[0])
        self.names.append(name[1])


def _items(table: Records[Any], rows: Iterable[int], kind: int) -> Iterator[_Item]:
    """Yield a tuple (start, negative duration, kind, row) for each event. It sorts outer events before inner ones."""
    starts, durations = table.numbers("start_ns").data, table.numbers("duration_ns").data
    for row in by_start(table, rows):
        yield starts[row], -durations[row], kind, row


def _flatten(tables: "tuple[Records[Any], ...]", found: Iterable[_Item]) -> _Segments:
    codes = [table.words("name").data for table in tables]
    segments = _Segments()
    stack: list[tuple[int, tuple[int, int]]] = []
    at = 0

    def close(until: int | None) -> None:
        nonlocal at
        while stack and (until is None or stack[-1][0] <= until):
            end, name = stack.pop()
            if end > at:
                segments.add(at, end, name)
                at = end

    for start, minus_duration, table, row in found:
        close(start)
        if stack and start > at:
            segments.add(at, start, stack[-1][1])
        at = max(at, start)
        stack.append((start - minus_duration, (table, codes[table][row])))
    close(None)
    return segments
