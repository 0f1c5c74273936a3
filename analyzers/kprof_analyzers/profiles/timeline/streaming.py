"""Sums over a trace of any size in bounded memory: one pass, nothing kept but names and merged intervals."""

import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import cast

import msgspec

from kprof.errors import InputError
from kprof.inputs.torch_profiler.events import Loose, SlimEvent
from kprof.inputs.torch_profiler.issues import Issue
from kprof.inputs.torch_profiler.model import TraceInfo, info_from
from kprof.inputs.torch_profiler.normalise import (
    GPU_KINDS,
    MAX_MICROSECONDS,
    PRE_KINETO,
    Kind,
    integer,
    kind_of,
    nanoseconds,
    rank_of_file,
    rank_of_process,
)
from kprof.inputs.torch_profiler.quick import AnyQuick, QuickEvent
from kprof.inputs.torch_profiler.reader import TraceReader
from kprof_analyzers.profiles.timeline.categories import COMMUNICATION, MEMORY, Categories, load_categories
from kprof_analyzers.profiles.timeline.occupation import DeviceTime, Lane, Occupation

# More distinct names than any program has; beyond it the rest is summed under one name, and that is reported.
MAX_NAMES = 100_000
OTHER_NAMES = "(further names)"
MAX_CATEGORIES = 10_000
# Below this many microseconds a double still holds whole nanoseconds.
_EXACT = 1 << 43
# Events of a kind that are summed at a time: names then come in groups.
_TOGETHER = 1 << 14


class NameTime(msgspec.Struct, frozen=True):
    """All events of one name: how many, and their durations in ns. Operators include what runs inside them."""

    name: str
    category: str
    count: int
    total_ns: int
    min_ns: int
    max_ns: int


class TraceSummary(msgspec.Struct, frozen=True):
    """What one pass over one file tells. Each list is sorted by total time, largest first.

    Attributes:
        kernels: kernels by name.
        transfers: copies and memsets by name.
        operators: CPU operators by name, inclusive times.
        launches: HIP or CUDA API calls by name.
        devices: one entry a rank and device.
        categories: kernel, copy and memset time by category of the name, in ns, largest first.
    """

    info: TraceInfo
    kernels: list[NameTime]
    transfers: list[NameTime]
    operators: list[NameTime]
    launches: list[NameTime]
    devices: list[DeviceTime]
    categories: dict[str, int]
    issues: tuple[Issue, ...]

    @property
    def kernel_ns(self) -> int:
        """Sum of all kernel durations."""
        return sum(k.total_ns for k in self.kernels)


def summarise(path: Path | str, categories: Categories | None = None, rank: int | None = None) -> TraceSummary:
    """One pass over a Kineto trace.

    Raises:
        KprofError: unreadable, or not a trace. Damage inside is in ``TraceSummary.issues``.
    """
    summing = _Summing(path, categories or load_categories(), rank)
    for events in summing.reader.batches():
        if isinstance(events[0], SlimEvent):
            summing.take(events)
        else:
            summing.take_quick(events)
    return summing.finish()


class _Names:
    """Count, total, least and largest by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[int]] = {}
        self.overflowed = 0

    def add(self, name: str, durations: list[float]) -> int:
        """Durations in microseconds, none of them negative; returns their sum in ns."""
        entry = self.by_name.get(name)
        # The sum of a block is exact: fsum does not round on the way, and a block is far below 2**53 ns.
        total = round(math.fsum(durations) * 1000)
        low, high = round(min(durations) * 1000), round(max(durations) * 1000)
        if entry is None:
            if len(self.by_name) >= MAX_NAMES:
                self.overflowed += len(durations)
                name = OTHER_NAMES
            entry = self.by_name.setdefault(name, [0, 0, low, high])
        entry[0] += len(durations)
        entry[1] += total
        entry[2] = min(entry[2], low)
        entry[3] = max(entry[3], high)
        return total

    def table(self, category: "Categories | str") -> list[NameTime]:
        rows = [
            NameTime(name, category if isinstance(category, str) else category.of_name(name), *numbers)
            for name, numbers in self.by_name.items()
        ]
        return sorted(rows, key=lambda r: (-r.total_ns, r.name))


class _Summing:
    def __init__(self, path: Path | str, categories: Categories, rank: int | None) -> None:
        self.reader = TraceReader(path, SlimEvent)
        self._log = self.reader.log
        self._categories = categories
        self._rank = rank
        self._counts: Counter[str] = Counter()
        self._names: dict[str, _Names] = {k: _Names() for k in ("kernel", "transfer", "operator", "launch")}
        self._devices: dict[tuple[int | None, int | None], Occupation] = {}
        self._lanes: dict[str, Lane] = {}
        self._zero = 0
        self._profiled = False
        self._kinds: dict[str, Kind] = {}
        self._waiting: dict[Kind, list[SlimEvent]] = {
            "kernel": [],
            "copy": [],
            "memset": [],
            "operator": [],
            "launch": [],
        }

    def take(self, events: list[SlimEvent]) -> None:
        """Add one block of events."""
        by_category: defaultdict[str, list[SlimEvent]] = defaultdict(list)
        for event in events:
            by_category[event.cat].append(event)
        for category, found in by_category.items():
            kind = self._kinds.get(category)
            if kind is None:
                kind = kind_of(category)
                if len(self._kinds) < MAX_CATEGORIES:
                    self._kinds[category] = kind
                if kind == "unknown":
                    self._log.add("unknown-category", f"events of an unknown category, first {category!r}")
            self._counts[category if category in self._kinds else OTHER_NAMES] += len(found)
            if kind in self._waiting:
                self._waiting[kind] += found
            elif not category:
                self._without_category(found)
        for kind, waiting in self._waiting.items():
            if len(waiting) >= _TOGETHER:
                self._sum(kind)

    def take_quick(self, events: "list[AnyQuick]") -> None:
        """Add one block of events whose class is their category."""
        kept = set()
        classes: Counter[type[AnyQuick]] = Counter(map(type, events))
        for kind, count in classes.items():
            self._counts[kind.category] += count
            if not issubclass(kind, QuickEvent):
                kept.add(kind)
        self._profiled = True
        if not kept:
            return
        # Most events are Python frames and flow arrows: one quick pass leaves them out.
        wanted = [e for e in events if type(e) in kept]
        for kind in kept:
            # They have what the sums of their kind ask for.
            self._waiting[kind.kind] += cast("list[SlimEvent]", [e for e in wanted if type(e) is kind])
        for name, waiting in self._waiting.items():
            if len(waiting) >= _TOGETHER:
                self._sum(name)

    def _without_category(self, events: list[SlimEvent]) -> None:
        """Metadata; or, in 2020's traces, everything, the GPU and the CPU told apart by process."""
        for event in events:
            if event.ph:
                self._profiled = True
            if event.pid in PRE_KINETO:
                self._waiting[kind_of("", event.pid)].append(event)

    def _sum(self, kind: Kind) -> None:
        events = self._waiting[kind]
        self._waiting[kind] = []
        if kind in GPU_KINDS:
            self._gpu(kind, events)
        else:
            self._host(kind, events)

    def _host(self, kind: str, events: list[SlimEvent]) -> None:
        """Operators and API calls: sums by name."""
        durations: defaultdict[str, list[float | None]] = defaultdict(list)
        for event in events:
            durations[event.name].append(event.dur if event.ph == "X" else math.inf)
        names = self._names[kind]
        for name, found in durations.items():
            sound = found if _sound(found) else self._mended(name, found)
            if sound:
                names.add(name, sound)  # type: ignore[arg-type]

    def _gpu(self, kind: str, events: list[SlimEvent]) -> None:
        """Kernels, copies and memsets: sums by name, and when they ran on which device."""
        groups: defaultdict[tuple[Loose, Loose, Loose, str], list[SlimEvent]] = defaultdict(list)
        for event in events:
            args = event.args
            if args is None:
                groups[event.pid, None, None, event.name].append(event)
            else:
                groups[event.pid, args.device, args.rank, event.name].append(event)
        for (pid, device, rank, name), group in groups.items():
            durations = [e.dur if e.ph == "X" else math.inf for e in group]
            times = [e.ts for e in group]
            if not _sound(durations) or not _timed(times):
                group = [e for e in group if self._mend(e)]  # noqa: PLW2901 - the mended group
                if not group:
                    continue
                durations, times = [e.dur for e in group], [e.ts for e in group]
            occupation = self._device(pid, device, rank)
            self._activities(kind, name, occupation, times, durations)  # type: ignore[arg-type]
        for occupation in self._devices.values():
            occupation.pause()

    def _activities(self, kind: str, name: str, device: Occupation, times: list[float], durations: list[float]) -> None:
        total = self._names["kernel" if kind == "kernel" else "transfer"].add(name, durations)
        lane: Lane = "memory"
        if kind == "kernel":
            device.kernel_ns += total
            lane = self._lanes.get(name) or self._lane(name)
            self._zero += durations.count(0)
        if max(times) < _EXACT and min(times) > -_EXACT:
            starts = [round(t * 1000) for t in times]
        else:
            starts = [nanoseconds(t) for t in times]
        device.add(lane, starts, [s + round(d * 1000) for s, d in zip(starts, durations, strict=True)])

    def _mended(self, name: str, durations: list[float | None]) -> list[float | None]:
        events = [SlimEvent(ph="X", name=name, ts=0, dur=d) for d in durations if d != math.inf]
        self._unpaired(len(durations) - len(events))
        return [e.dur for e in events if self._mend(e)]

    def _unpaired(self, count: int) -> None:
        self._log.add("unpaired-phase", "only complete events are read", count=count, lost=count)

    def _mend(self, event: SlimEvent) -> bool:
        """Make an event countable in place; ``False`` (reported as lost) when it cannot be."""
        if event.ph != "X":
            self._unpaired(1)
            return False
        if event.dur is None or event.dur < 0:
            what = "no-duration" if event.dur is None else "negative-duration"
            self._log.add(what, "a missing or negative duration was counted as 0", place=event.name[:80])
            event.dur = 0
        if event.ts is None or abs(event.ts) > MAX_MICROSECONDS or event.dur > MAX_MICROSECONDS:
            self._log.add("absurd-time", "an event without a usable time was left out", place=event.name[:80], lost=1)
            return False
        return True

    def _lane(self, name: str) -> Lane:
        category = self._categories.of_name(name)
        lane: Lane = "communication" if category == COMMUNICATION else "memory" if category == MEMORY else "compute"
        if len(self._lanes) < MAX_NAMES:
            self._lanes[name] = lane
        return lane

    def _device(self, pid: Loose, device: Loose, rank: Loose) -> Occupation:
        number = integer(device)
        key = (
            integer(rank) if rank is not None else rank_of_process(pid),
            number if number is not None else integer(pid),
        )
        found = self._devices.get(key)
        if found is None:
            found = self._devices[key] = Occupation(key[0] or 0, key[1])
        return found

    def finish(self) -> TraceSummary:
        """Everything that needs the end of the file."""
        for kind in self._waiting:
            self._sum(kind)
        reader, log = self.reader, self._log
        info = info_from(reader.metadata, str(reader.path))
        own = self._rank if self._rank is not None else rank_of_file(reader.metadata, reader.path.name)
        devices: list[DeviceTime] = []
        for (rank, _), occupation in self._devices.items():
            occupation.rank = rank if rank is not None else own or 0
            times, dropped = occupation.settle()
            if dropped:
                log.add(
                    "absurd-time",
                    "a GPU activity lies a day or more from the others: counted in sums, not in busy and idle time",
                    count=dropped,
                )
            if times is not None:
                devices.append(times)
                if times.error_ns:
                    log.add("coarse-union", f"busy time may be too long by up to {times.error_ns} ns")
        self._note_oddities(info)
        info.ranks = sorted({d.rank for d in devices}) or [own or 0]
        info.events = reader.events_read
        info.categories = dict(self._counts)
        info.bytes_read = reader.bytes_read
        kernels = self._names["kernel"].table(self._categories)
        transfers = self._names["transfer"].table(MEMORY)
        by_category: Counter[str] = Counter()
        for row in (*kernels, *transfers):
            by_category[row.category] += row.total_ns
        return TraceSummary(
            info,
            kernels,
            transfers,
            self._names["operator"].table("operator"),
            self._names["launch"].table("launch"),
            sorted(devices, key=lambda d: (d.rank, d.device is None, d.device)),
            dict(by_category.most_common()),
            log.all(),
        )

    def _note_oddities(self, info: TraceInfo) -> None:
        if self.reader.events_read == 0:
            self.reader.refuse_other_lists()
            self._log.add("no-events", "the trace holds no events")
        elif not self._profiled and not any(self._counts):
            raise InputError("the list holds no profiler events", path=str(self.reader.path))
        elif not any(self._devices):
            self._log.add("no-gpu", "the trace holds no GPU activity")
        if self._zero:
            self._log.add(
                "zero-duration",
                f"{self._zero:,} kernels have a duration of 0: the clock was coarser than the kernel",
            )
        overflowed = sum(n.overflowed for n in self._names.values())
        if overflowed:
            self._log.add("many-names", f"more than {MAX_NAMES:,} names: the rest is summed as {OTHER_NAMES}")
        if info.vendor is None:
            calls = self._names["launch"].by_name
            info.vendor = (
                "amd"
                if any(n.startswith("hip") for n in calls)
                else "nvidia"
                if any(n.startswith("cuda") for n in calls)
                else None
            )


def _sound(durations: list[float | None]) -> bool:
    """Whether every duration is there, not negative and not absurd; C speed, for it runs on everything."""
    if None in durations:
        return False
    known: list[float] = durations  # type: ignore[assignment]
    return min(known) >= 0 and max(known) <= MAX_MICROSECONDS


def _timed(times: list[int | float | None]) -> bool:
    if None in times:
        return False
    known: list[float] = times  # type: ignore[assignment]
    return min(known) >= -MAX_MICROSECONDS and max(known) <= MAX_MICROSECONDS
