"""GPU time by device: busy, idle, and what communication and copies cost beyond computing."""

from typing import Literal

import msgspec

from kprof.inputs.torch_profiler.times import DAY_NS
from kprof_analyzers.profiles.timeline.intervals import Disjoint, IntervalSet, merged, subtract

Lane = Literal["compute", "communication", "memory"]


class DeviceTime(msgspec.Struct, frozen=True):
    """How one device of one rank spent its time, in ns, by exact union of intervals.

    Attributes:
        first_ns, last_ns: start of its first and end of its last activity; their distance is the span.
        compute_ns, communication_ns, memory_ns: time in which anything of the kind ran; they overlap.
        busy_ns: time in which anything ran; ``idle_ns`` is the rest of the span.
        exposed_communication_ns: communication while nothing computed.
        exposed_memory_ns: copies and memsets while nothing computed or communicated.
        kernel_ns: sum of all kernel durations, overlaps counted twice.
        activities: how many.
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
        """From the first start to the last end."""
        return self.last_ns - self.first_ns

    @property
    def idle_ns(self) -> int:
        """Idle time: the span minus the busy time."""
        return self.span_ns - self.busy_ns


class Occupation:
    """Collects the activities of one device."""

    def __init__(self, rank: int, device: int | None) -> None:
        self.rank = rank
        self.device = device
        self.kernel_ns = 0
        self.activities = 0
        self._sets: dict[Lane, IntervalSet] = {}

    def add(self, lane: Lane, starts: list[int], ends: list[int]) -> None:
        """Activities of one kind; kernels' durations are summed by the caller in :attr:`kernel_ns`."""
        self.activities += len(starts)
        lanes = self._sets.get(lane)
        if lanes is None:
            lanes = self._sets[lane] = IntervalSet()
        lanes.add_many(starts, ends)

    def absorb(self, other: "Occupation") -> None:
        """Take in what another one of the same device has collected."""
        self.activities += other.activities
        self.kernel_ns += other.kernel_ns
        for lane, lanes in other._sets.items():  # noqa: SLF001 - of the same class
            own = self._sets.setdefault(lane, IntervalSet())
            own.add_disjoint(lanes.disjoint())

    def pause(self) -> None:
        """Merge what has come in: called between blocks, where events of all names have been added."""
        for lanes in self._sets.values():
            lanes.settle()

    def lane(self, lane: Lane) -> Disjoint:
        """The union of one kind."""
        return self._sets[lane].disjoint() if lane in self._sets else Disjoint()

    def settle(self) -> tuple[DeviceTime | None, int]:
        """The times, and how many separate intervals were left out for lying a day or more from the others."""
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
    """Range of the largest group without a day's gap, and how many intervals lie outside it."""
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
