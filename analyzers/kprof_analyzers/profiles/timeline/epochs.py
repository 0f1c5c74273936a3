"""Sum up GPU activities while reading a file, before it is known which activities must be excluded.

A faulty clock may put activities a day or more away from the others. They are excluded, as
:func:`kprof.inputs.torch_profiler.plausible.drop_implausible` excludes them from linked tables. Groups of activities
that are more than a day apart have separate sums; at the end of the file, the group with the most activities is used.
"""

from bisect import insort
from operator import attrgetter
from typing import NamedTuple

from kprof.inputs.torch_profiler.times import DAY_NS
from kprof_analyzers.profiles.timeline.names import Names
from kprof_analyzers.profiles.timeline.occupation import Lane, Occupation

MAX_EPOCHS = 200
"""Maximum number of groups. Once it is reached, activities that would start another group are excluded immediately."""

Key = tuple[int | None, int | None]
"""Rank, if known, and device."""


class ActivityGroup(NamedTuple):
    """Key of activities that are added together: kind, name, lane (compute, memory or communication) and device."""

    kind: str
    name: str
    lane: Lane
    device: Key


class Epoch:
    """Sums over activities near in time. :attr:`low` and :attr:`high` are their first and last start in ns."""

    def __init__(self, low: int, high: int) -> None:
        self.low = low
        self.high = high
        self.count = 0
        self.zero = 0
        self.kernels = Names()
        self.transfers = Names()
        self.devices: dict[Key, Occupation] = {}

    def add(self, group: ActivityGroup, starts: list[int], lengths: list[int]) -> None:
        """Add activities by start and duration, in ns."""
        self.low, self.high = min(self.low, *starts), max(self.high, *starts)
        self.count += len(starts)
        device = self.devices.get(group.device)
        if device is None:
            device = self.devices[group.device] = Occupation(group.device[0] or 0, group.device[1])
        total = (self.kernels if group.kind == "kernel" else self.transfers).add(group.name, lengths)
        if group.kind == "kernel":
            device.kernel_ns += total
            self.zero += lengths.count(0)
        device.add(group.lane, starts, [start + length for start, length in zip(starts, lengths, strict=True)])

    def absorb(self, other: "Epoch") -> None:
        """Merge another group, after new activities have closed the gap between the two groups."""
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.count += other.count
        self.zero += other.zero
        self.kernels.absorb(other.kernels)
        self.transfers.absorb(other.transfers)
        for key, device in other.devices.items():
            if key in self.devices:
                self.devices[key].absorb(device)
            else:
                self.devices[key] = device


class Epochs:
    """All groups of a file, sorted by start; at most :data:`MAX_EPOCHS`."""

    def __init__(self) -> None:
        self._found: list[Epoch] = []
        self._refused = 0

    def add(self, group: ActivityGroup, starts: list[int], lengths: list[int]) -> None:
        """Add activities by start and duration, in ns, in any order."""
        if max(starts) - min(starts) < DAY_NS:
            self._add_together(group, starts, lengths)
            return
        pairs = sorted(zip(starts, lengths, strict=True))
        begin = 0
        for index in range(1, len(pairs) + 1):
            if index == len(pairs) or pairs[index][0] - pairs[index - 1][0] >= DAY_NS:
                part = pairs[begin:index]
                self._add_together(group, [s for s, _ in part], [n for _, n in part])
                begin = index

    def _add_together(self, group: ActivityGroup, starts: list[int], lengths: list[int]) -> None:
        low, high = min(starts), max(starts)
        near = [e for e in self._found if low - e.high < DAY_NS and e.low - high < DAY_NS]
        if not near:
            if len(self._found) >= MAX_EPOCHS:
                self._refused += len(starts)
                return
            near = [Epoch(low, high)]
            insort(self._found, near[0], key=attrgetter("low"))
        epoch = near[0]
        epoch.add(group, starts, lengths)
        for other in near[1:]:
            epoch.absorb(other)
            self._found.remove(other)

    def pause(self) -> None:
        """Merge pending intervals. Call this between blocks of the file, after activities of all names were added."""
        for epoch in self._found:
            for device in epoch.devices.values():
                device.pause()

    def settle(self) -> tuple[Epoch, int]:
        """Return the group with the most activities (of several, the earliest), and the number of other activities."""
        if not self._found:
            return Epoch(0, 0), self._refused
        best = max(self._found, key=attrgetter("count"))
        return best, sum(e.count for e in self._found) - best.count + self._refused
