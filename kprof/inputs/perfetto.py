"""Perfetto traces (``.pftrace``) of rocprofv3 and rocprof-sys as linked tables, read in blocks.

The few messages that are needed are declared here, so that ``protobuf`` alone is enough. Numbers of fields are those of
Perfetto's published ``trace_packet.proto`` and ``track_event.proto``.
"""

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kprof.errors import InputError
from kprof.inputs.completeness import EVERYTHING, judge
from kprof.inputs.protobuf import (
    BOOL,
    BYTES,
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
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.link import link
from kprof.inputs.torch_profiler.model import Activity, LinkedTrace, Operator, RuntimeCall, TraceInfo
from kprof.inputs.torch_profiler.normalise import integer, rank_of_file
from kprof.inputs.torch_profiler.opening import blocks
from kprof.inputs.torch_profiler.plausible import drop_implausible, note_oddities

ENDINGS = (".pftrace", ".pftrace.gz", ".perfetto-trace")
MAX_PACKET = 256 << 20
_PACKET_TAG = 0x0A
_BEGIN, _END, _CLEARED = 1, 2, 1
_FIELDS: Fields = {
    "Trace": [(1, "packet", ["Packet"])],
    "Packet": [(8, "timestamp", UINT64), (10, "sequence", UINT32), (11, "event", "Event"),
               (12, "interned", "Interned"), (13, "flags", UINT32), (42, "dropped", BOOL),
               (50, "compressed", BYTES), (59, "defaults", "Defaults"), (60, "track", "Track")],
    "Defaults": [(11, "event", "EventDefaults")],
    "EventDefaults": [(11, "track_uuid", UINT64)],
    "Event": [(3, "categories", [UINT64]), (4, "notes", ["Note"]), (9, "type", INT32), (10, "name_iid", UINT64),
              (11, "track_uuid", UINT64), (22, "category_names", [STRING]), (23, "name", STRING)],
    "Note": [(1, "name_iid", UINT64), (3, "uint", UINT64), (4, "int", INT64), (6, "string", STRING),
             (10, "name", STRING)],
    "Interned": [(1, "categories", ["Name"]), (2, "names", ["Name"]), (3, "note_names", ["Name"])],
    "Name": [(1, "iid", UINT64), (2, "name", STRING)],
    "Track": [(1, "uuid", UINT64), (2, "name", STRING), (3, "process", "Process"), (4, "thread", "Thread"),
              (10, "static_name", STRING)],
    "Process": [(1, "pid", INT32), (6, "name", STRING)],
    "Thread": [(1, "pid", INT32), (2, "tid", INT32), (5, "name", STRING)],
}  # fmt: skip


class PerfettoSlice(NamedTuple):
    """A slice of a track: when it ran, its category, and its annotations by lower-case name."""

    track: int
    name: str
    category: str
    start_ns: int
    duration_ns: int
    notes: dict[str, Any]


def is_perfetto(path: Path) -> bool:
    """Whether a file is a Perfetto trace by its name."""
    return path.name.endswith(ENDINGS)


def load_perfetto(path: Path) -> LinkedTrace:
    """Read a trace into linked tables; a damaged end is reported and the rest is kept.

    Raises:
        KprofError: ``protobuf`` is not installed, or the file cannot be read or holds no slices.
    """
    log = IssueLog(str(path))
    reader = _Reader(path, log)
    trace = LinkedTrace(TraceInfo(str(path), vendor="amd"))
    rank = rank_of_file({}, path.name) or 0
    for each in reader.slices():
        _add(trace, each, reader.tracks.get(each.track, ""), rank)
    trace.info.events = len(trace.activities) + len(trace.launches) + len(trace.operators)
    if not trace.info.events:
        raise InputError("the Perfetto trace holds no slices", path=str(path))
    trace.info.ranks, trace.info.bytes_read = [rank], reader.bytes_read
    drop_implausible(trace, log)
    link(trace, log)
    judge(trace, log, overlapping=note_oddities(trace, log))
    trace.issues = log.all()
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

    def slices(self) -> Iterator[PerfettoSlice]:
        """Complete slices in the order of their ends."""
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
            packets = self._one_by_one(data)
        for packet in packets:
            if packet.compressed:
                yield from self._packets(self._unpacked(packet.compressed))
            else:
                yield from self._packet(packet)

    def _one_by_one(self, data: bytes) -> Iterator[Any]:
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
        if packet.dropped:
            self._log.add("dropped", "the profiler's buffer was full: packets were dropped", unknown=EVERYTHING)
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
            notes = {
                (text(note.name) or self._note_names[sequence].get(note.name_iid, "")).lower(): _value(note)
                for note in event.notes
            }
            self._open[track].append(PerfettoSlice(track, name, ",".join(categories), packet.timestamp, 0, notes))
        elif event.type == _END:
            if not self._open[track]:
                self._log.add("unpaired-phase", "the end of a slice that has not begun", lost=1)
                return
            begun = self._open[track].pop()
            yield begun._replace(duration_ns=max(0, packet.timestamp - begun.start_ns))


def _value(note: Any) -> Any:
    return text(note.string) if note.HasField("string") else note.int if note.HasField("int") else note.uint


def _whole_packets(data: bytes, most: int = 1 << 62) -> int:
    """Length of the whole packets at the start, at most so many."""
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
    """Put a slice into its table, by its category, else by its track."""
    notes, kind = each.notes, f"{each.category} {track}".lower()
    ids = [integer(notes[name]) for name in ("corr_id", "correlation_id", "stack_id") if name in notes]
    correlation = next((number for number in ids if number), None)
    times = each.start_ns, each.duration_ns
    device = integer(notes.get("agent")) if "agent" in notes else integer(track) or None
    stream = integer(notes.get("stream_id", notes.get("queue", each.track & 0x7FFFFFFF)))
    if "copy" in kind and "api" not in kind:
        trace.activities.append(Activity(each.name, "copy", rank, device, stream, *times, correlation))
    elif "kernel" in kind or "compute" in kind:
        found = Activity(each.name, "kernel", rank, device, stream, *times, correlation)
        found.lds_bytes, found.registers = integer(notes.get("lds_block_size")), integer(notes.get("vgpr_count"))
        trace.activities.append(found)
    elif "marker" in kind or "roctx" in kind or "user" in kind:
        trace.operators.append(Operator(each.name, "annotation", rank, each.track & 0x7FFFFFFF, *times))
    else:
        trace.launches.append(RuntimeCall(each.name, rank, each.track & 0x7FFFFFFF, *times, correlation))
