"""Load a complete trace as linked tables."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from itertools import compress, repeat
from operator import attrgetter, is_
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from kprof.errors import InputError
from kprof.inputs.completeness import judge
from kprof.inputs.garbage_collection import paused
from kprof.inputs.torch_profiler.columns import ELSEWHERE, NOTHING
from kprof.inputs.torch_profiler.events import FullArgs, FullEvent
from kprof.inputs.torch_profiler.fill_tables import (
    add_frames,
    add_gpu,
    add_launches,
    add_operators,
)
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.link import alike, codes, link, view
from kprof.inputs.torch_profiler.model import Activity, GridUnit, LinkedTrace, MemoryEvent, Size, info_from
from kprof.inputs.torch_profiler.normalise import (
    GPU_KINDS,
    Kind,
    integer,
    kind_of,
    rank_of,
    rank_of_file,
)
from kprof.inputs.torch_profiler.plausible import drop_implausible, note_huge, note_oddities
from kprof.inputs.torch_profiler.reader import TraceReader
from kprof.inputs.torch_profiler.table_events import MODULE_PREFIX, CompleteEvent, TableEvent, table_decoder
from kprof.inputs.torch_profiler.times import MAX_MICROSECONDS, all_usable, nanoseconds, usable

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.link import Numbers

# hipExt*LaunchKernel take the global work size in work-items, as OpenCL does: in published traces, each such grid
# (2,018 of 2,018) is a multiple of its block. Other calls take the number of blocks, as CUDA does.
_IN_WORK_ITEMS = ("hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel")
Issue = tuple[str, str]
_OWN = ("graph", "grid_as_written", "workgroup_size")
_CALLS = ("name", "grid", "block")
_SETTLED = ("grid_as_written", "grid_unit", "workgroup_size", "workgroups", "work_items")

MODULES_ONLY = math.inf
"""Value of ``shortest_frame_us`` that keeps only the Python frames of modules."""
_PYTHON = "python_function"
_PHASES = frozenset({"X", "i"})
_TIMED = GPU_KINDS | {"launch", "operator"}
# Type of the functions that add events of one kind to their table. They take batches of events, because this reduces
# the cost per column.
Adding = Callable[[LinkedTrace, "list[CompleteEvent] | list[FullEvent]"], None]
_ADDING: dict[Kind, Adding] = {
    "kernel": add_gpu,
    "copy": add_gpu,
    "memset": add_gpu,
    "launch": add_launches,
    "operator": add_operators,
    "annotation": add_operators,
    "python": add_frames,
}
_TOGETHER = 1024
_phase = attrgetter("ph")
# Placeholder for the rank of an event that names none: the file's rank is known only when all of it has been read.
_UNKNOWN_RANK: Any = None


def load(
    path: Path | str,
    *,
    shortest_frame_us: float = MODULES_ONLY,
    memory: bool = False,
    details: bool = True,
    rank: int | None = None,
) -> LinkedTrace:
    """Read a Kineto trace (.json or .json.gz) into linked tables.

    Args:
        path: path of the trace.
        shortest_frame_us: minimum duration of Python frames to keep, 0 for all; module frames are always kept.
        memory: whether to keep allocator events.
        details: whether the arguments in :data:`~kprof.inputs.torch_profiler.table_events.DETAILS` are needed. If
            false, they are skipped where that saves time.
        rank: rank of events that contain none; by default the rank of the file, or 0 if the file contains none.

    Raises:
        KprofError: if the file is unreadable or not a trace. Damage inside it is reported in ``LinkedTrace.issues``.
    """
    loading = _Loading(path, shortest_frame_us=shortest_frame_us, memory=memory, rank=rank)
    # Allocator events need the general event types.
    decoder = None if memory else table_decoder(stacks=shortest_frame_us < MODULES_ONLY, details=details)
    with paused():
        for events in loading.reader.events() if decoder is None else loading.reader.decoded_by(decoder):
            if isinstance(events[0], FullEvent):
                loading.take(events)
            else:
                loading.take_batch(events)
        return loading.finish()


class _Loading:
    def __init__(self, path: Path | str, *, shortest_frame_us: float, memory: bool, rank: int | None) -> None:
        self.reader = TraceReader(path, FullEvent)
        self._log = self.reader.log
        self._shortest_frame_us = shortest_frame_us
        self._memory = memory
        self._rank = rank
        self._categories: Counter[str] = Counter()
        self._profiled = False
        self.trace = LinkedTrace(info_from({}, str(path)))
        self._waiting: defaultdict[Adding, list[CompleteEvent]] = defaultdict(list)

    def take_batch(self, events: list[TableEvent]) -> None:
        """Add a batch of events to the tables, table by table. The class of each event determines its category."""
        types = list(map(type, events))
        classes: Counter[type[TableEvent]] = Counter(types)
        kept = {kind: adding for kind in classes if (adding := _adding(kind)) is not None}
        # Most events are frames and flow arrows; a single pass filters them out.
        rest = cast("list[CompleteEvent]", list(compress(events, map(kept.__contains__, types))))
        goes = [kept[type(event)] for event in rest]
        found = {
            adding: list(compress(rest, map(is_, goes, repeat(adding)))) for adding in dict.fromkeys(kept.values())
        }
        if self._shortest_frame_us and add_frames in found:
            # This repeats _is_wanted inline, because calling a function for each frame takes longer.
            least = self._shortest_frame_us
            found[add_frames] = [
                frame
                for frame in found[add_frames]
                if (frame.dur or 0) >= least or frame.name.startswith(MODULE_PREFIX)
            ]
        if not all(all_usable([e.ts for e in each], [e.dur for e in each]) for each in found.values() if each):
            # Add the events one by one, so that issues are in file order.
            self.take(cast("list[FullEvent]", events))
            return
        self._profiled = True
        for kind, count in classes.items():
            if kind.several_phases:
                mine = compress(events, map(is_, types, repeat(kind)))
                for phase, number in Counter(map(_phase, mine)).items():
                    self._categories[_category(kind.cat, phase)] += number
            else:
                self._categories[kind.cat] += count
        for adding, each in found.items():
            waiting = self._waiting[adding]
            waiting += each
            if len(waiting) >= _TOGETHER:
                self._add(adding)

    def _add(self, adding: Adding) -> None:
        waiting = self._waiting.pop(adding)
        if waiting:
            adding(self.trace, waiting)

    def take(self, events: list[FullEvent]) -> None:
        """Add events to their tables one by one."""
        for adding in list(self._waiting):
            self._add(adding)
        if self._shortest_frame_us:
            # Most events are frames, so unwanted frames are skipped before other checks.
            kept = [e for e in events if e.cat != _PYTHON or e.ph not in _PHASES or self._is_wanted(e)]
            if len(kept) < len(events):
                self._categories[_PYTHON] += len(events) - len(kept)
                self._profiled = True
            events = kept
        found: defaultdict[Adding, list[FullEvent]] = defaultdict(list)
        for event in events:
            goes = self._place_of(event)
            if goes is not None:
                found[goes].append(event)
        for adding, each in found.items():
            adding(self.trace, each)

    def _place_of(self, event: FullEvent) -> Adding | None:
        """Return the function that adds an event to its table, after correcting its times, or ``None`` to skip it."""
        if event.ph:
            self._profiled = True
        if event.ph in _PHASES:
            self._categories[event.cat] += 1
            kind = kind_of(event.cat, event.pid)
            if kind == "other" or (kind == "python" and not self._is_wanted(event)):
                return None
            if kind == "unknown":
                self._log.add("unknown-category", f"events of an unknown category, first {event.cat!r}")
            elif event.ph == "i":
                if kind == "memory" and self._memory and event.args is not None:
                    self._memory_event(event, event.args)
                elif kind in _TIMED:
                    self._unpaired()
            elif kind in _ADDING:
                times = usable(event.name, event.ts, event.dur, self._log, on_gpu=kind in GPU_KINDS)
                if times is not None:
                    event.ts, event.dur = times
                    return _ADDING[kind]
        else:
            self._categories[_category(event.cat, event.ph)] += 1
            if kind_of(event.cat, event.pid) in _TIMED:
                self._unpaired()
        return None

    def _is_wanted(self, frame: CompleteEvent | FullEvent) -> bool:
        """Return whether a Python frame lasts long enough or belongs to a module."""
        return (frame.dur or 0) >= self._shortest_frame_us or frame.name.startswith(MODULE_PREFIX)

    def _unpaired(self) -> None:
        self._log.add("unpaired-phase", "only complete events are read", lost=1)

    def _memory_event(self, event: FullEvent, args: FullArgs) -> None:
        size = integer(args.alloc_bytes)
        if size is None or event.ts is None or abs(event.ts) > MAX_MICROSECONDS:
            return
        record = MemoryEvent(
            _rank_of(event),
            nanoseconds(event.ts),
            size,
            integer(args.device_type),
            integer(args.device_id),
            integer(args.total_allocated),
            integer(args.total_reserved),
        )
        self.trace.memory.append(record)

    def finish(self) -> LinkedTrace:
        """Complete ranks, plausibility checks, links and grids after the whole file has been read."""
        reader, trace = self.reader, self.trace
        for adding in list(self._waiting):
            self._add(adding)
        if reader.events_read == 0:
            reader.refuse_other_lists()
            self._log.add("no-events", "the trace contains no events")
        trace.info = info_from(reader.metadata, str(reader.path))
        rank = self._rank if self._rank is not None else rank_of_file(reader.metadata, reader.path.name)
        for table in (trace.activities, trace.launches, trace.operators, trace.frames, trace.memory):
            table.numbers("rank").fill(rank or 0)
        self._check_is_a_trace()
        note_huge(trace, self._log)
        drop_implausible(trace, self._log)
        link(trace, self._log)
        settle_grids(trace, self._log)
        judge(trace, self._log, overlapping=note_oddities(trace, self._log))
        ranks = trace.activities.numbers("rank").distinct() | trace.operators.numbers("rank").distinct()
        trace.info.ranks = sorted(ranks) or [rank or 0]
        trace.info.events = reader.events_read
        trace.info.categories = dict(self._categories)
        trace.info.bytes_read = reader.bytes_read
        trace.issues = self._log.all()
        return trace

    def _check_is_a_trace(self) -> None:
        if self.reader.events_read and not self._profiled:
            raise InputError("the list contains no profiler events", path=str(self.reader.path))


@cache
def _adding(kind: type[TableEvent]) -> Adding | None:
    return _ADDING[kind.kind] if issubclass(kind, CompleteEvent) else None


def _category(name: str, phase: str) -> str:
    """Return the name under which events are counted: the category, with the phase if they are not complete events."""
    return name if phase in _PHASES else f"{name} {phase}".strip()


def _rank_of(event: FullEvent) -> int:
    """Return the rank that an event names, or :data:`_UNKNOWN_RANK`, which :meth:`_Loading.finish` replaces."""
    rank = rank_of(event.args.rank if event.args is not None else None, event.pid)
    return rank if rank is not None else _UNKNOWN_RANK


def unit_of(api: str | None, vendor: str | None) -> GridUnit | None:
    """Return the unit in which a launch call counts the grid; without a call, ``None`` except for NVIDIA GPUs."""
    if api is None:
        return "workgroups" if vendor == "nvidia" else None
    return "work-items" if api.startswith(_IN_WORK_ITEMS) else "workgroups"


def settle_grids(trace: LinkedTrace, log: IssueLog) -> None:
    """Fill in workgroups and work-items of every kernel, using the launch if the kernel does not contain them."""
    vendor = trace.info.vendor
    if vendor is None and any(launch.name.startswith("cuda") for launch in trace.launches[:1000]):
        vendor = "nvidia"
    if vendor is None and any(launch.name.startswith("hip") for launch in trace.launches[:1000]):
        vendor = "amd"
    trace.info.vendor = vendor
    _take_lds(trace)
    columns = [trace.activities.words(name) for name in _SETTLED]
    for rows in _grids_alike(trace):
        first = int(rows[0])
        activity = trace.activities[first]
        issue = _settle_grid(trace, activity, vendor)
        for column, name in zip(columns, _SETTLED, strict=True):
            code = column.code(getattr(activity, name))
            if column.only != code:
                codes(column.data)[rows] = code
        if issue is not None:
            log.add(*issue, place=trace.activities.words("name")[first][:80], count=len(rows))


def _grids_alike(trace: LinkedTrace) -> "list[Numbers]":
    """Group the rows of kernels by all values that determine their grids; groups are ordered by first row."""
    activities, launches = trace.activities, trace.launches
    kinds, launch = activities.words("kind"), view(activities.numbers("launch").readable)
    rows = (codes(kinds.readable) == kinds.code("kernel")).nonzero()[0]
    # A column with a single value does not distinguish rows.
    own = [column for column in map(activities.words, _OWN) if column.only is None]
    columns = [codes(column.data)[rows] for column in own]
    called = launch[rows]
    for name in _CALLS if len(launches) else ():
        found = codes(launches.words(name).readable)[called]
        found[called < 0] = -1
        columns.append(found)
    return alike(columns, rows)


def _take_lds(trace: LinkedTrace) -> None:
    """Copy LDS sizes from the launch if the kernel does not contain them."""
    activities = trace.activities
    lds, of_launch = activities.numbers("lds_bytes"), trace.launches.numbers("lds_bytes")
    kinds, graph = activities.words("kind"), activities.words("graph")
    if activities.numbers("launch").only == -1:
        return
    launch = view(activities.numbers("launch").readable)
    is_kernel, in_graph = codes(kinds.readable) == kinds.code("kernel"), codes(graph.readable) == graph.code(True)
    rows = ((view(lds.readable) == NOTHING) & (launch >= 0) & is_kernel & ~in_graph).nonzero()[0]
    found = view(of_launch.readable)[launch[rows]]
    plain = found > ELSEWHERE
    if plain.any():
        view(lds.data)[rows[plain]] = found[plain]
    for row in rows[found == ELSEWHERE].tolist():
        lds[row] = of_launch[int(launch[row])]


def _settle_grid(trace: LinkedTrace, activity: Activity, vendor: str | None) -> Issue | None:
    launch = trace.launches[activity.launch] if activity.launch >= 0 else None
    if launch is not None and not activity.graph:
        activity.grid_as_written = activity.grid_as_written or launch.grid
        activity.workgroup_size = activity.workgroup_size or launch.block
    grid, block = activity.grid_as_written, activity.workgroup_size
    if grid is None:
        return None
    activity.grid_unit = unit_of(launch.name if launch is not None else None, vendor)
    if activity.grid_unit is None:
        return "grid-unit-unknown", "a grid without its launch: it may count workgroups or work-items"
    if activity.grid_unit == "workgroups":
        activity.workgroups = grid
        activity.work_items = _zip(grid, block, lambda a, b: a * b) if block else None
        return None
    activity.work_items = grid
    if block is None:
        return None
    activity.workgroups = _zip(grid, block, lambda a, b: -(-a // b))
    if any(g % b for g, b in zip(grid, block, strict=True)):
        words = "a grid in work-items is not a multiple of its workgroup: the last workgroups are partial"
        return "grid-not-divisible", words
    return None


def _zip(left: Size, right: Size, combine: Callable[[int, int], int]) -> Size:
    return combine(left[0], right[0]), combine(left[1], right[1]), combine(left[2], right[2])
