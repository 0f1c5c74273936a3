"""Sums of GPU activities that are known to count only when the whole file has been read.

A clock that went wrong puts activities a day or more away from the others. Those are left out, as
:func:`kprof.inputs.torch_profiler.plausible.drop_implausible` leaves them out of the linked tables; which are the
others is known at the end. Until then each stretch without a day's gap has sums of its own.
"""

from bisect import insort
from operator import attrgetter
from typing import NamedTuple

from kprof.inputs.torch_profiler.times import DAY_NS
from kprof_analyzers.profiles.timeline.names import Names
from kprof_analyzers.profiles.timeline.occupation import Lane, Occupation

MAX_EPOCHS = 200
"""Stretches that are kept apart. What lies outside of so many is left out at once."""

Key = tuple[int | None, int | None]
"""Rank, where it is known, and device."""


class ActivityGroup(NamedTuple):
    """What activities have in common."""

    kind: str
    name: str
    lane: Lane
    device: Key


class Epoch:
    """The activities of one stretch of time, from :attr:`low` to :attr:`high`: its first and its last start, in ns."""

    def __init__(self, low: int, high: int) -> None:
        self.low = low
        self.high = high
        self.count = 0
        self.zero = 0
        self.kernels = Names()
        self.transfers = Names()
        self.devices: dict[Key, Occupation] = {}

    def add(self, group: ActivityGroup, starts: list[int], lengths: list[int]) -> None:
        """Activities by start and duration, in ns."""
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
        """Take in another one, between which and this one no gap is left."""
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
    """All of a file, by start; never more than :data:`MAX_EPOCHS`."""

    def __init__(self) -> None:
        self._found: list[Epoch] = []
        self._refused = 0

    def add(self, group: ActivityGroup, starts: list[int], lengths: list[int]) -> None:
        """Activities by start and duration, in ns, in any order."""
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
        """Merge what has come in: called between blocks, where activities of all names have been added."""
        for epoch in self._found:
            for device in epoch.devices.values():
                device.pause()

    def settle(self) -> tuple[Epoch, int]:
        """The stretch with most activities, the earliest of several; and how many lie outside of it."""
        if not self._found:
            return Epoch(0, 0), self._refused
        best = max(self._found, key=attrgetter("count"))
        return best, sum(e.count for e in self._found) - best.count + self._refused
