"""Summarise a trace of any size with bounded memory, in one pass that keeps only names and merged intervals."""

import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import cast

import msgspec

from kprof.errors import InputError
from kprof.inputs.completeness import judge_sums
from kprof.inputs.torch_profiler.events import Loose, SlimEvent
from kprof.inputs.torch_profiler.issues import TraceIssue
from kprof.inputs.torch_profiler.model import TraceInfo, info_from
from kprof.inputs.torch_profiler.normalise import (
    GPU_KINDS,
    PRE_KINETO,
    Kind,
    integer,
    kind_of,
    rank_of,
    rank_of_file,
)
from kprof.inputs.torch_profiler.reader import TraceReader
from kprof.inputs.torch_profiler.summary_events import CountedEvent, SummaryEvent
from kprof.inputs.torch_profiler.times import all_nanoseconds, all_usable, usable
from kprof_analyzers.profiles.timeline.categories import COMMUNICATION, MEMORY, Categories, load_categories
from kprof_analyzers.profiles.timeline.epochs import ActivityGroup, Epoch, Epochs
from kprof_analyzers.profiles.timeline.names import MAX_NAMES, OTHER_NAMES, Names, NameTime
from kprof_analyzers.profiles.timeline.occupation import DeviceTime, Lane, Occupation

MAX_CATEGORIES = 10_000
# Number of events of a kind that are collected before they are added, so that events of the same name can be grouped.
_TOGETHER = 1 << 14


class FileSummary(msgspec.Struct, frozen=True):
    """Result of one pass over one file. Each list is sorted by total time, largest first.

    Attributes:
        kernels: kernels by name.
        transfers: copies and memsets by name.
        operators: CPU operators by name; times include nested operators.
        launches: HIP or CUDA API calls by name.
        devices: one entry per rank and device.
        categories: ns of kernels, copies and memsets by category, largest first; names alone determine the category.
    """

    info: TraceInfo
    kernels: list[NameTime]
    transfers: list[NameTime]
    operators: list[NameTime]
    launches: list[NameTime]
    devices: list[DeviceTime]
    categories: dict[str, int]
    issues: tuple[TraceIssue, ...]

    @property
    def kernel_ns(self) -> int:
        """Sum of all kernel durations in ns."""
        return sum(k.total_ns for k in self.kernels)


def summarise(path: Path | str, categories: Categories | None = None, rank: int | None = None) -> FileSummary:
    """Summarise a Kineto trace in one pass.

    Raises:
        KprofError: if the file is unreadable or not a trace. Damage inside a trace is in ``FileSummary.issues``.
    """
    summing = _Summing(path, categories or load_categories(), rank)
    for events in summing.reader.batches():
        if isinstance(events[0], SlimEvent):
            summing.take(events)
        else:
            summing.take_batch(events)
    return summing.finish()


class _Summing:
    def __init__(self, path: Path | str, categories: Categories, rank: int | None) -> None:
        self.reader = TraceReader(path, SlimEvent)
        self._log = self.reader.log
        self._categories = categories
        self._rank = rank
        self._counts: Counter[str] = Counter()
        self._names: dict[str, Names] = {k: Names() for k in ("operator", "launch")}
        self._epochs = Epochs()
        self._lanes: dict[str, Lane] = {}
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
        self._profiled = self._profiled or any(event.ph for event in events)
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

    def take_batch(self, events: "list[SummaryEvent]") -> None:
        """Add one block of events that were parsed into one class per trace category."""
        kept = set()
        classes: Counter[type[SummaryEvent]] = Counter(map(type, events))
        for kind, count in classes.items():
            self._counts[kind.cat] += count
            if not issubclass(kind, CountedEvent):
                kept.add(kind)
        self._profiled = True
        if not kept:
            return
        # Most events are Python frames and flow arrows, which are filtered out in one pass.
        wanted = [e for e in events if type(e) in kept]
        for kind in kept:
            # The cast is safe: events of this class have all attributes that its sums use.
            self._waiting[kind.kind] += cast("list[SlimEvent]", [e for e in wanted if type(e) is kind])
        for name, waiting in self._waiting.items():
            if len(waiting) >= _TOGETHER:
                self._sum(name)

    def _without_category(self, events: list[SlimEvent]) -> None:
        """Add events without a category: metadata, or events of traces from 2020, whose process id gives the kind."""
        for event in events:
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
        """Add operators and API calls to the sums by name."""
        groups: defaultdict[str, list[SlimEvent]] = defaultdict(list)
        for event in events:
            groups[event.name].append(event)
        for name, group in groups.items():
            _, durations = self._times(group, on_gpu=False)
            if durations:
                self._names[kind].add(name, all_nanoseconds(durations))

    def _gpu(self, kind: str, events: list[SlimEvent]) -> None:
        """Add kernels, copies and memsets to the sums by name, and to the busy time of their device."""
        groups: defaultdict[tuple[Loose, Loose, Loose, str], list[SlimEvent]] = defaultdict(list)
        for event in events:
            args = event.args
            if args is None:
                groups[event.pid, None, None, event.name].append(event)
            else:
                groups[event.pid, args.device, args.rank, event.name].append(event)
        for (pid, device, rank, name), group in groups.items():
            starts, durations = self._times(group, on_gpu=True)
            if durations:
                lane: Lane = "memory" if kind != "kernel" else self._lanes.get(name) or self._lane(name)
                number = integer(device)
                key = rank_of(rank, pid), number if number is not None else integer(pid)
                self._epochs.add(
                    ActivityGroup(kind, name, lane, key), all_nanoseconds(starts), all_nanoseconds(durations)
                )
        self._epochs.pause()

    def _times(self, events: list[SlimEvent], *, on_gpu: bool) -> tuple[list[float], list[float]]:
        """Return starts and durations of valid events in microseconds; the other events are reported as lost."""
        starts = [e.ts for e in events]
        durations = [e.dur if e.ph == "X" else math.inf for e in events]
        if all_usable(starts, durations):
            return starts, durations  # type: ignore[return-value]
        complete = [e for e in events if e.ph == "X"]
        unpaired = len(events) - len(complete)
        self._log.add("unpaired-phase", "only complete events are read", count=unpaired, lost=unpaired)
        found = (usable(e.name, e.ts, e.dur, self._log, on_gpu=on_gpu) for e in complete)
        times = [each for each in found if each is not None]
        return [start for start, _ in times], [duration for _, duration in times]

    def _lane(self, name: str) -> Lane:
        category = self._categories.of_name(name)
        lane: Lane = "communication" if category == COMMUNICATION else "memory" if category == MEMORY else "compute"
        if len(self._lanes) < MAX_NAMES:
            self._lanes[name] = lane
        return lane

    def finish(self) -> FileSummary:
        """Return the results, after the end of the file."""
        for kind in self._waiting:
            self._sum(kind)
        reader, log = self.reader, self._log
        info = info_from(reader.metadata, str(reader.path))
        own = self._rank if self._rank is not None else rank_of_file(reader.metadata, reader.path.name)
        epoch, lost = self._epochs.settle()
        if lost:
            words = "a GPU activity lies a day or more from the others: left out"
            log.add("absurd-time", words, count=lost, lost=lost)
        devices: list[DeviceTime] = []
        for occupation in _by_rank(epoch, own or 0):
            times, dropped = occupation.settle()
            if dropped:
                log.add(
                    "absurd-time",
                    "a GPU activity lies a day or more from the others: counted in sums, not in busy and idle time",
                    count=dropped,
                )
            if times is not None:
                devices.append(times)
        self._note_oddities(info, epoch)
        info.ranks = sorted({d.rank for d in devices}) or [own or 0]
        info.events = reader.events_read
        info.categories = dict(self._counts)
        info.bytes_read = reader.bytes_read
        kernels = epoch.kernels.table(self._categories)
        transfers = epoch.transfers.table(MEMORY)
        by_category: Counter[str] = Counter()
        for row in (*kernels, *transfers):
            by_category[row.category] += row.total_ns
        return FileSummary(
            info,
            kernels,
            transfers,
            self._names["operator"].table("operator"),
            self._names["launch"].table("launch"),
            sorted(devices, key=lambda d: (d.rank, d.device is None, d.device)),
            dict(by_category.most_common()),
            log.all(),
        )

    def _judge(self, epoch: Epoch) -> None:
        """Report launches without kernels, as far as this can be seen from the sums."""
        kernels = sum(numbers[0] for numbers in epoch.kernels.by_name.values())
        calls = {name: numbers[0] for name, numbers in self._names["launch"].by_name.items()}
        judge_sums(kernels, calls, self._log, other_activities=bool(epoch.transfers.by_name))

    def _note_oddities(self, info: TraceInfo, epoch: Epoch) -> None:
        if self.reader.events_read == 0:
            self.reader.refuse_other_lists()
            self._log.add("no-events", "the trace contains no events")
        elif not self._profiled:
            raise InputError("the list contains no profiler events", path=str(self.reader.path))
        if self.reader.events_read:
            self._judge(epoch)
        if epoch.zero:
            self._log.add(
                "zero-duration",
                f"{epoch.zero:,} kernels have a duration of 0: the clock was coarser than the kernel",
            )
        overflowed = sum(n.overflowed for n in (*self._names.values(), epoch.kernels, epoch.transfers))
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


def _by_rank(epoch: Epoch, own: int) -> list[Occupation]:
    """Return the occupation of each device; events without a rank are assigned to the file's own rank."""
    found: dict[tuple[int, int | None], Occupation] = {}
    for (rank, device), occupation in epoch.devices.items():
        key = (own if rank is None else rank), device
        occupation.rank = key[0]
        if key in found:
            found[key].absorb(occupation)
        else:
            found[key] = occupation
    return list(found.values())
