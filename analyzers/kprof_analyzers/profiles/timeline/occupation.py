"""Compute each device's busy and idle time, and the time of communication and copies without computation."""

from typing import Literal

import msgspec

from kprof.inputs.torch_profiler.times import DAY_NS
from kprof_analyzers.profiles.timeline.intervals import Disjoint, IntervalSet, merged, subtract

Lane = Literal["compute", "communication", "memory"]


class DeviceTime(msgspec.Struct, frozen=True):
    """Times of one device of one rank in ns, from exact unions of intervals.

    Attributes:
        first_ns, last_ns: start of the first and end of the last activity; their difference is the span.
        compute_ns, communication_ns, memory_ns: time in which any activity of this kind ran; kinds may overlap.
        busy_ns: time in which any activity ran; ``idle_ns`` is the rest of the span.
        exposed_communication_ns: communication time without overlapping computation.
        exposed_memory_ns: time of copies and memsets without overlapping computation or communication.
        kernel_ns: sum of all kernel durations, in which overlaps count several times.
        activities: number of activities.
    """

    rank: int
    device: int | None
    first_ns: int
    last_ns: int
    compute_ns: int
    communication_ns: int
    memory_ns: int
    busy_ns: int
    exposed_communication_ns: int
    exposed_memory_ns: int
    kernel_ns: int
    activities: int

    @property
    def span_ns(self) -> int:
        """Time from the first start to the last end."""
        return self.last_ns - self.first_ns

    @property
    def idle_ns(self) -> int:
        """Idle time: the span minus the busy time."""
        return self.span_ns - self.busy_ns


class Occupation:
    """Collector of one device's activities."""

    def __init__(self, rank: int, device: int | None) -> None:
        self.rank = rank
        self.device = device
        self.kernel_ns = 0
        self.activities = 0
        self._sets: dict[Lane, IntervalSet] = {}

    def add(self, lane: Lane, starts: list[int], ends: list[int]) -> None:
        """Add activities of one kind; the caller adds the durations of kernels to :attr:`kernel_ns`."""
        self.activities += len(starts)
        lanes = self._sets.get(lane)
        if lanes is None:
            lanes = self._sets[lane] = IntervalSet()
        lanes.add_many(starts, ends)

    def absorb(self, other: "Occupation") -> None:
        """Add the activities of another collector of the same device."""
        self.activities += other.activities
        self.kernel_ns += other.kernel_ns
        for lane, lanes in other._sets.items():  # noqa: SLF001 - of the same class
            own = self._sets.setdefault(lane, IntervalSet())
            own.add_disjoint(lanes.disjoint())

    def pause(self) -> None:
        """Merge pending intervals. Call this between blocks of the file, when events of all names have been added."""
        for lanes in self._sets.values():
            lanes.settle()

    def lane(self, lane: Lane) -> Disjoint:
        """Return the union of one kind's intervals."""
        return self._sets[lane].disjoint() if lane in self._sets else Disjoint()

    def settle(self) -> tuple[DeviceTime | None, int]:
        """Return the times, and the number of intervals that were excluded.

        Intervals a day or more away from the others are excluded.
        """
        compute, communication, memory = (self.lane(n) for n in ("compute", "communication", "memory"))
        working = merged(compute, communication)
        busy = merged(working, memory)
        dropped = 0
        if len(busy) and busy.ends[-1] - busy.starts[0] >= DAY_NS:
            low, high, dropped = _bulk(busy)
            compute, communication, memory, working, busy = (
                _within(s, low, high) for s in (compute, communication, memory, working, busy)
            )
        if not len(busy):
            return None, dropped
        return DeviceTime(
            rank=self.rank,
            device=self.device,
            first_ns=busy.starts[0],
            last_ns=busy.ends[-1],
            compute_ns=compute.length(),
            communication_ns=communication.length(),
            memory_ns=memory.length(),
            busy_ns=busy.length(),
            exposed_communication_ns=subtract(communication, compute).length(),
            exposed_memory_ns=subtract(memory, working).length(),
            kernel_ns=self.kernel_ns,
            activities=self.activities,
        ), dropped


def _bulk(busy: Disjoint) -> tuple[int, int, int]:
    """Return the range of the largest group of intervals without a gap of a day, and the number of other intervals."""
    best = (0, 0)
    begin = 0
    for index in range(1, len(busy) + 1):
        if index == len(busy) or busy.starts[index] - busy.ends[index - 1] >= DAY_NS:
            if index - begin > best[1] - best[0]:
                best = (begin, index)
            begin = index
    return busy.starts[best[0]], busy.ends[best[1] - 1], len(busy) - (best[1] - best[0])


def _within(lanes: Disjoint, low: int, high: int) -> Disjoint:
    result = Disjoint()
    for start, end in lanes:
        if low <= start and end <= high:
            result.starts.append(start)
            result.ends.append(end)
    return result
