"""Read Perfetto traces (``.pftrace``) of rocprofv3 and rocprof-sys into linked tables, block by block.

This module declares the few message types that it needs, so that only the package ``protobuf`` is required. Field
numbers are those of Perfetto's published ``trace_packet.proto`` and ``track_event.proto``.
"""

import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from kprof.errors import InputError
from kprof.inputs.completeness import EVERYTHING
from kprof.inputs.protobuf import (
    BOOL,
    BYTES,
    DOUBLE,
    INT32,
    INT64,
    STRING,
    UINT32,
    UINT64,
    Fields,
    decode_error,
    parser,
    text,
)
from kprof.inputs.rocprof.names import gpu_of_copy, normalise
from kprof.inputs.torch_profiler.issues import IssueLog, TraceIssue
from kprof.inputs.torch_profiler.model import Activity, LinkedTrace, Operator, RuntimeCall, Size, TraceInfo
from kprof.inputs.torch_profiler.normalise import integer, rank_of_file
from kprof.inputs.torch_profiler.opening import blocks
from kprof.inputs.torch_profiler.plausible import complete

ENDINGS = (".pftrace", ".pftrace.gz", ".perfetto-trace", ".perfetto-trace.gz")
# rocprof-sys and its predecessor use file names that end with .proto.
_SYSTEMS = re.compile(r"perfetto-trace.*\.proto(?:\.gz)?$")
_API = re.compile(r"(?:hip|hsa|roc|nccl)[A-Z_]")
_COPY = re.compile(r"MEMORY_COPY|Copy(?:Host|Device)")
_TRACK_AGENT = re.compile(r"(?:AGENT|GPU|Dispatch|Agent)\s*\[(\d{1,9})\]")
_SIZES = ("workgroup", "grid")
# Annotations that repeat values of the slice itself.
_UNUSED = frozenset({"begin_ns", "end_ns", "delta_ns", "kind", "operation", "ancestor_id"})
_TRACK_BITS = 0x7FFFFFFF
MAX_PACKET = 256 << 20
_CURE = "record with rocprofv3 --kernel-trace --memory-copy-trace, or rocprof-sys with ROCPROFSYS_ROCM_DOMAINS"
_PACKET_TAG = 0x0A
_BEGIN, _END, _CLEARED = 1, 2, 1
# Maximum number of cached names and sizes. A cache helps because few different names and sizes recur often.
_KNOWN = 1 << 12
_FIELDS: Fields = {
    "Trace": [(1, "packet", ["Packet"])],
    "Packet": [(8, "timestamp", UINT64), (10, "sequence", UINT32), (11, "event", "Event"),
               (12, "interned", "Interned"), (13, "flags", UINT32), (42, "dropped", BOOL),
               (50, "compressed", BYTES), (59, "defaults", "Defaults"), (60, "track", "Track"), (87, "first", BOOL)],
    "Defaults": [(11, "event", "EventDefaults")],
    "EventDefaults": [(11, "track_uuid", UINT64)],
    "Event": [(3, "categories", [UINT64]), (4, "notes", ["Note"]), (9, "type", INT32), (10, "name_iid", UINT64),
              (11, "track_uuid", UINT64), (22, "category_names", [STRING]), (23, "name", STRING)],
    "Note": [(1, "name_iid", UINT64), (3, "uint", UINT64), (4, "int", INT64), (5, "double", DOUBLE),
             (6, "string", STRING), (10, "name", STRING)],
    "Interned": [(1, "categories", ["Name"]), (2, "names", ["Name"]), (3, "note_names", ["Name"])],
    "Name": [(1, "iid", UINT64), (2, "name", STRING)],
    "Track": [(1, "uuid", UINT64), (2, "name", STRING), (3, "process", "Process"), (4, "thread", "Thread"),
              (10, "static_name", STRING)],
    "Process": [(1, "pid", INT32), (6, "name", STRING)],
    "Thread": [(1, "pid", INT32), (2, "tid", INT32), (5, "name", STRING)],
}  # fmt: skip


class PerfettoSlice(NamedTuple):
    """A slice of a track: its time range, category, annotations by lower-case name, and counters."""

    track: int
    name: str
    category: str
    start_ns: int
    duration_ns: int
    notes: dict[str, Any]
    counters: dict[str, float]


def is_perfetto(path: Path) -> bool:
    """Return whether a file name is that of a Perfetto trace."""
    return path.name.endswith(ENDINGS) or _SYSTEMS.match(path.name) is not None


def read_slices(path: Path) -> "tuple[list[PerfettoSlice], dict[int, str], tuple[TraceIssue, ...]]":
    """Return all slices of a trace, the names of its tracks, and the problems found in it.

    Raises:
        KprofError: under the conditions of :func:`load_perfetto`.
    """
    log = IssueLog(str(path))
    reader = _Reader(path, log)
    slices = list(reader.slices())
    return slices, reader.tracks, log.all()


def load_perfetto(path: Path) -> LinkedTrace:
    """Read a trace into linked tables; a damaged end is reported and the rest is kept.

    Raises:
        KprofError: if ``protobuf`` is not installed, the file cannot be read, or it contains no slices.
    """
    log = IssueLog(str(path))
    reader = _Reader(path, log)
    trace = LinkedTrace(TraceInfo(str(path), vendor="amd"))
    rank = rank_of_file({}, path.name) or 0
    for each in reader.slices():
        _add(trace, each, reader.tracks.get(each.track, ""), rank)
    trace.info.events = len(trace.activities) + len(trace.launches) + len(trace.operators)
    if not trace.info.events:
        raise InputError("the Perfetto trace contains no slices", path=str(path))
    trace.info.ranks, trace.info.bytes_read = [rank], reader.bytes_read
    complete(trace, log, _CURE)
    return trace


class _Reader:
    def __init__(self, path: Path, log: IssueLog) -> None:
        self.path = path
        self.tracks: dict[int, str] = {}
        self.bytes_read = 0
        self._log = log
        self._parse = parser("kprof_slices", "Trace", _FIELDS)
        self._error = decode_error()
        self._names: defaultdict[int, dict[int, str]] = defaultdict(dict)
        self._categories: defaultdict[int, dict[int, str]] = defaultdict(dict)
        self._note_names: defaultdict[int, dict[int, str]] = defaultdict(dict)
        self._default_track: dict[int, int] = {}
        self._open: defaultdict[int, list[PerfettoSlice]] = defaultdict(list)
        self._sequences: set[int] = set()

    def slices(self) -> Iterator[PerfettoSlice]:
        """Yield complete slices in the order of their ends."""
        held = b""
        for block in blocks(self.path, self._log, 1 << 20):
            self.bytes_read += len(block)
            held += block
            if held[0] != _PACKET_TAG:
                break
            end = _whole_packets(held)
            yield from self._packets(held[:end])
            held = held[end:]
            if len(held) > MAX_PACKET:
                break
        if held:
            place = f"byte {self.bytes_read - len(held)}"
            if self.bytes_read == len(held) and held[0] != _PACKET_TAG:
                raise InputError("not a Perfetto trace", path=str(self.path), place="byte 0")
            self._log.add("cut-off", "the file ends within a packet, or is damaged there", place=place, lost=1)
        unfinished = sum(map(len, self._open.values()))
        self._log.add("unpaired-phase", "slices without an end were left out", count=unfinished, lost=unfinished)

    def _packets(self, data: bytes) -> Iterator[PerfettoSlice]:
        try:
            packets: Iterable[Any] = self._parse(data).packet
        except self._error:
            packets = self._parse_one_by_one(data)
        for packet in packets:
            if packet.compressed:
                yield from self._packets(self._unpacked(packet.compressed))
            else:
                yield from self._packet(packet)

    def _parse_one_by_one(self, data: bytes) -> Iterator[Any]:
        at = 0
        while at < len(data):
            end = at + _whole_packets(data[at:], most=1)
            try:
                yield from self._parse(data[at:end]).packet
            except self._error:
                self._log.add(
                    "malformed", "a packet is damaged and was left out", place=f"packet of {end - at} bytes", lost=1
                )
            at = end

    def _unpacked(self, data: bytes) -> bytes:
        unpacker = zlib.decompressobj()
        try:
            content = unpacker.decompress(data, MAX_PACKET)
        except zlib.error:
            content = b""
        if not content or unpacker.unconsumed_tail:
            self._log.add("malformed", "a compressed packet is damaged or too large and was left out", lost=1)
            return b""
        return content

    def _packet(self, packet: Any) -> Iterator[PerfettoSlice]:
        sequence = packet.sequence
        if packet.flags & _CLEARED:
            for table in (self._names, self._categories, self._note_names):
                table[sequence] = {}
        # "Previous packet dropped" is also set on the first packet of a sequence, where nothing was dropped.
        if packet.dropped and not packet.first and sequence in self._sequences:
            self._log.add("dropped", "the profiler's buffer was full: packets were dropped", unknown=EVERYTHING)
        self._sequences.add(sequence)
        if packet.HasField("defaults"):
            self._default_track[sequence] = packet.defaults.event.track_uuid
        if packet.HasField("interned"):
            interned = packet.interned
            self._names[sequence].update((each.iid, text(each.name)) for each in interned.names)
            self._categories[sequence].update((each.iid, text(each.name)) for each in interned.categories)
            self._note_names[sequence].update((each.iid, text(each.name)) for each in interned.note_names)
        if packet.HasField("track"):
            track = packet.track
            self.tracks[track.uuid] = text(track.name or track.static_name or track.thread.name or track.process.name)
        if packet.HasField("event"):
            yield from self._event(packet)

    def _event(self, packet: Any) -> Iterator[PerfettoSlice]:
        event, sequence = packet.event, packet.sequence
        track = event.track_uuid or self._default_track.get(sequence, 0)
        if event.type == _BEGIN:
            name = text(event.name) or self._names[sequence].get(event.name_iid, "")
            categories = [
                *map(text, event.category_names),
                *(self._categories[sequence].get(iid, "") for iid in event.categories),
            ]
            notes, counters = self._notes(event, sequence)
            begun = PerfettoSlice(track, name, ",".join(categories), packet.timestamp, 0, notes, counters)
            self._open[track].append(begun)
        elif event.type == _END:
            if not self._open[track]:
                self._log.add("unpaired-phase", "the end of a slice that has not begun", lost=1)
                return
            begun = self._open[track].pop()
            duration = max(0, packet.timestamp - begun.start_ns)
            yield PerfettoSlice(*begun[:4], duration, begun.notes, begun.counters)

    def _notes(self, event: Any, sequence: int) -> tuple[dict[str, Any], dict[str, float]]:
        """Return annotations by lower-case name, and counters. Counters are the annotations with fractional values."""
        notes: dict[str, Any] = {}
        counters: dict[str, float] = {}
        names = self._note_names[sequence]
        for note in event.notes:
            name = names.get(note.name_iid, "") if note.name_iid else text(note.name)
            if name in _UNUSED:
                continue
            value = note.uint or note.string or note.int
            if not value and note.HasField("double"):
                counters[name] = note.double
            else:
                notes[name.lower()] = text(value) if isinstance(value, bytes) else value or 0
        return notes, counters


def _whole_packets(data: bytes, most: int = 1 << 62) -> int:
    """Return the length of the complete packets at the start of the data, up to ``most`` packets."""
    at, size, count = 0, len(data), 0
    while at < size and count < most and data[at] == _PACKET_TAG:
        place, length, shift = at + 1, 0, 0
        while place < size and data[place] & 0x80 and shift < 63:
            length |= (data[place] & 0x7F) << shift
            shift, place = shift + 7, place + 1
        if place >= size:
            break
        end = place + 1 + (length | data[place] << shift)
        if end > size:
            break
        at, count = end, count + 1
    return at


def _add(trace: LinkedTrace, each: PerfettoSlice, track: str, rank: int) -> None:
    """Add a slice to its table."""
    notes, kind, times = each.notes, kind_of(each, track), (each.start_ns, each.duration_ns)
    thread = each.track & _TRACK_BITS
    correlation = correlation_of(notes)
    if kind == "kernel" or kind == "copy":  # noqa: PLR1714 - a set would not narrow the type
        device = device_of(each.name, notes, track)
        stream = integer(notes.get("stream_id") or notes.get("queue", thread))
        found = Activity(_plain(each.name), kind, rank, device, stream, *times, correlation)
        if kind == "copy":
            found.bytes = integer(notes.get("copy_bytes"))
        else:
            found.lds_bytes = integer(notes.get("lds_block_size", notes.get("group_segment_size")))
            found.registers = integer(notes.get("vgpr_count"))
            found.workgroup_size, found.work_items = (_extents(notes.get(f"{name}_size")) for name in _SIZES)
            if found.workgroup_size is not None and found.work_items is not None:
                # rocprofv3 writes a single number for each size, so the shape of the grid is unknown.
                known = isinstance(notes["grid_size"], str)
                found.workgroups = _workgroups(found.work_items, found.workgroup_size) if known else None
                found.work_items = found.work_items if known else None
        trace.activities.append(found)
    elif kind == "launch":
        trace.launches.append(RuntimeCall(each.name, rank, thread, *times, correlation))
    else:
        trace.operators.append(Operator(each.name, kind, rank, thread, *times))


_plain = lru_cache(maxsize=_KNOWN)(normalise)


def kind_of(each: PerfettoSlice, track: str) -> Literal["kernel", "copy", "launch", "annotation", "operator"]:
    """Return the kind of a slice by its category or, if it has no category, by its track.

    rocprof-sys writes the dispatches and the copies of a HIP stream to the same track. On such a track, a copy is
    recognised by its name or its annotation ``dst_agent``.
    """
    return _kind_of(each.category, each.name, track, is_copy="dst_agent" in each.notes)


@lru_cache(maxsize=_KNOWN)
def _kind_of(
    category: str, name: str, track: str, *, is_copy: bool
) -> Literal["kernel", "copy", "launch", "annotation", "operator"]:
    category = category.lower()
    copied = is_copy or _COPY.match(name)
    if "memory_copy" in category or ("hip_stream" in category and copied):
        return "copy"
    if "kernel_dispatch" in category or "hip_stream" in category:
        return "kernel"
    if "marker" in category or "roctx" in category or category == "user":
        return "annotation"
    if category.endswith("_api"):
        return "launch"
    if not category or category == "rocm":
        named = track.lower()
        if "copy" in named:
            return "copy"
        if "compute" in named or "kernel" in named or "stream" in named:
            return "kernel"
    return "launch" if _API.match(name) else "operator"


def correlation_of(notes: dict[str, Any]) -> int | None:
    """Return the correlation id of a slice, or ``None``; an id of 0 means that there is none."""
    for name in ("corr_id", "correlation_id", "stack_id"):
        number = integer(notes.get(name))
        if number:
            return number
    return None


def device_of(name: str, notes: dict[str, Any], track: str) -> int | None:
    """Return the index of the GPU from the slice's annotations or, without them, from the track's name."""
    if "agent" in notes:
        return integer(notes["agent"])
    if "dst_agent" in notes:
        return gpu_of_copy(name, integer(notes.get("src_agent")), integer(notes["dst_agent"]))
    found = _TRACK_AGENT.search(track)
    return int(found[1]) if found else None


@lru_cache(maxsize=_KNOWN)
def _extents(value: str | int | None) -> Size | None:
    """Return three extents from text such as ``(256,1,1)`` or from a single number, else ``None``."""
    numbers = [int(part) for part in re.findall(r"\d{1,10}", str(value))]
    if len(numbers) == 1 and numbers[0] > 0:
        return numbers[0], 1, 1
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == len("xyz") and min(numbers) > 0 else None


def _workgroups(work_items: Size, size: Size) -> Size:
    x, y, z = (-(-items // each) for items, each in zip(work_items, size, strict=True))
    return x, y, z
