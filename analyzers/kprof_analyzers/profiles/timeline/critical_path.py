"""Find the critical path: the chain of kernels, launches and CPU work that determines how long a run takes."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Generator, Iterator
from typing import Literal

import msgspec

from kprof.inputs.torch_profiler.issues import TraceIssue
from kprof.inputs.torch_profiler.model import LinkedTrace, TraceInfo
from kprof_analyzers.profiles.timeline.gaps import ThreadTimes, waits_for_gpu

Kind = Literal["kernel", "copy", "launch", "cpu", "synchronisation", "gap"]


class PathPart(msgspec.Struct, frozen=True):
    """One part of a critical path; times are in ns.

    Attributes:
        kind: ``kernel`` or ``copy``: execution on the GPU; ``launch``: from the call to the start of the launched
            activity; ``cpu``: the launching thread's work before the call; ``synchronisation``: from the end of the
            awaited activity to the return of the waiting call; ``gap``: everything was ready, but the GPU had not
            started.
        name: name of the activity or call; "" for ``cpu`` and ``gap``.
        doing: for ``cpu``, the ns in the thread's innermost operators and calls, by name.
    """

    kind: Kind
    name: str
    start_ns: int
    duration_ns: int
    doing: dict[str, int] = {}


class PathTime(msgspec.Struct, frozen=True):
    """All parts of one kind and name.

    Attributes:
        total_ns: time on the path. Removing these parts would make the run shorter by at most this time.
        count: number of parts.
    """

    kind: Kind
    name: str
    total_ns: int
    count: int


class CriticalPath(msgspec.Struct, frozen=True):
    """Critical path of one rank of a trace.

    Attributes:
        parts: parts in order, without gaps between them.
        span_ns: sum of the parts. The path ends with the last activity, and begins with the first call that launched
            an activity, or later.
        kinds: time by kind, largest first.
        times: times by kind and name, largest first; CPU work is listed by the innermost operator or call.
        assumed: number of waits for another stream or thread. Traces do not record them, so the activity that ended
            last is assumed to be the awaited one.
    """

    info: TraceInfo
    rank: int
    parts: list[PathPart]
    span_ns: int
    kinds: dict[str, int]
    times: list[PathTime]
    assumed: int
    issues: tuple[TraceIssue, ...]


def critical_paths(trace: LinkedTrace) -> list[CriticalPath]:
    """Return the critical path of each rank; a trace without activities has one empty path.

    The path is followed backwards from the end of the rank's last activity.
    """
    threads = ThreadTimes(trace)
    ranks = sorted(set(trace.activities.numbers("rank").data))
    if not ranks:
        # The problems found while reading the trace are kept, because they may explain why it is empty.
        return [CriticalPath(trace.info, 0, [], 0, {}, [], 0, trace.issues)]
    return [_path(trace, rank, threads) for rank in ranks]


def _path(trace: LinkedTrace, rank: int, threads: ThreadTimes) -> CriticalPath:
    walk = _Walk(trace, rank, threads)
    parts = list(walk.back())[::-1]
    kinds: Counter[str] = Counter()
    times: Counter[tuple[Kind, str]] = Counter()
    counts: Counter[tuple[Kind, str]] = Counter()
    for part in parts:
        kinds[part.kind] += part.duration_ns
        for name, duration in part.doing.items() if part.kind == "cpu" else [(part.name, part.duration_ns)]:
            times[part.kind, name] += duration
            counts[part.kind, name] += 1
    found = [PathTime(*key, total, counts[key]) for key, total in times.most_common()]
    span = sum(kinds.values())
    return CriticalPath(trace.info, rank, parts, span, dict(kinds.most_common()), found, walk.assumed, trace.issues)


class _Walk:
    """Backward walk through one rank's activities and calls."""

    def __init__(self, trace: LinkedTrace, rank: int, threads: ThreadTimes) -> None:
        self._trace, self._rank, self._threads = trace, rank, threads
        activities, launches = trace.activities, trace.launches
        self._starts = activities.numbers("start_ns").data
        durations = activities.numbers("duration_ns").data
        self._ends = [start + duration for start, duration in zip(self._starts, durations, strict=True)]
        self._launch = activities.numbers("launch").data
        self._names, self._kinds = activities.words("name"), activities.words("kind")
        ranks = activities.numbers("rank").data
        mine = [row for row, one in enumerate(ranks) if one == rank]
        self._by_end = sorted(mine, key=lambda row: (self._ends[row], self._starts[row]))
        self._moments = [self._ends[row] for row in self._by_end]
        self._before = self._on_streams(mine)
        self._called = launches.numbers("start_ns").data
        lasted = launches.numbers("duration_ns").data
        self._returned = [start + duration for start, duration in zip(self._called, lasted, strict=True)]
        self._calls, self._thread_of = launches.words("name"), launches.numbers("thread")
        waiting = [waits_for_gpu(name) for name in self._calls.words]
        self._waits = sorted(
            (self._returned[row], row)
            for row, (code, one) in enumerate(zip(self._calls.data, launches.numbers("rank").data, strict=True))
            if one == rank and waiting[code]
        )
        self._began = min((self._called[self._launch[row]] for row in mine if self._launch[row] >= 0), default=0)
        self._seen: set[int] = set()
        self.assumed = 0

    def _on_streams(self, mine: list[int]) -> dict[int, int]:
        """Return each activity's predecessor on its stream."""
        devices, streams = (self._trace.activities.numbers(field) for field in ("device", "stream"))
        last: dict[tuple[int | None, int | None], int] = {}
        before: dict[int, int] = {}
        for row in sorted(mine, key=lambda one: (self._starts[one], self._ends[one])):
            lane = devices[row], streams[row]
            if lane in last:
                before[row] = last[lane]
            last[lane] = row
        return before

    def back(self) -> Iterator[PathPart]:
        """Yield the parts of the path in reverse order, from the last to the first."""
        row, until = self._by_end[-1], self._moments[-1]
        while True:
            self._seen.add(row)
            start = min(self._starts[row], until)
            kind: Kind = "kernel" if self._kinds[row] == "kernel" else "copy"
            yield PathPart(kind, self._names[row], start, until - start)
            launch, before = self._launch[row], self._before.get(row, -1)
            called = -1 if launch < 0 else self._ready(launch, start)
            freed = -1 if before < 0 or before in self._seen else min(self._ends[before], start)
            if max(called, freed) < 0:
                return
            other = self._ended_in(max(called, freed), start)
            if other >= 0:
                self.assumed += 1
                before, freed = other, self._ends[other]
            if freed >= called:
                if start > freed:
                    yield PathPart("gap", "", freed, start - freed)
                row, until = before, freed
                continue
            if start > called:
                yield PathPart("launch", self._calls[launch], called, start - called)
            row, until = yield from self._cpu(launch, called)
            if row < 0:
                return

    def _ready(self, launch: int, start: int) -> int:
        """Return the time in ns when a call had launched its activity.

        This is the end of the call or, if the activity started before it, the start of the call.
        """
        return self._returned[launch] if self._returned[launch] <= start else min(self._called[launch], start)

    def _ended_in(self, after: int, until: int) -> int:
        """Return the activity that ended last in ``(after, until]``, or -1 if there is none."""
        place = bisect_right(self._moments, until) - 1
        while place >= 0 and self._moments[place] > after:
            if self._by_end[place] not in self._seen:
                return self._by_end[place]
            place -= 1
        return -1

    def _cpu(self, launch: int, until: int) -> Generator[PathPart, None, tuple[int, int]]:
        """Yield the CPU's work before a call, backwards until a call that waited for the GPU.

        Return the activity that was awaited, and the end of the wait. Waits of all threads count, because the launching
        thread may wait for another thread that waits for the GPU, as with autograd's threads.
        """
        thread = self._thread_of[launch]
        place = bisect_right(self._waits, (until, len(self._called))) - 1
        while place >= 0:
            returned, call = self._waits[place]
            row = self._ended_in(self._called[call], returned) if call != launch else -1
            if row >= 0:
                self.assumed += self._thread_of[call] != thread
                yield from self._working(thread, returned, until)
                yield PathPart("synchronisation", self._calls[call], self._ends[row], returned - self._ends[row])
                return row, self._ends[row]
            place -= 1
        yield from self._working(thread, min(self._began, until), until)
        return -1, 0

    def _working(self, thread: int | None, begin: int, end: int) -> Iterator[PathPart]:
        if end > begin:
            yield PathPart("cpu", "", begin, end - begin, self._threads.inside(self._rank, thread, begin, end))
