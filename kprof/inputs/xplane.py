"""Read XLA's profiles (``.xplane.pb`` from JAX and TensorFlow) into linked tables, one plane at a time.

Only the needed message types are declared, with the field numbers of XLA's published ``xplane.proto``. The streams of a
GPU's plane are read as activities. Its other lines (``XLA Ops``, ``Steps``) are derived from the streams. They are
ignored, because their times would count twice.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from kprof.errors import InputError
from kprof.inputs.protobuf import (
    BYTES,
    DOUBLE,
    INT64,
    STRING,
    UINT64,
    Fields,
    decode_error,
    fields_of,
    parser,
    text,
    varint,
)
from kprof.inputs.rocprof.names import normalise
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.model import Activity, LinkedTrace, Operator, RuntimeCall, Size, TraceInfo
from kprof.inputs.torch_profiler.normalise import rank_of_file
from kprof.inputs.torch_profiler.opening import blocks
from kprof.inputs.torch_profiler.plausible import complete

ENDINGS = (".xplane.pb", ".xplane.pb.gz")
MAX_PLANE = 1 << 30
_CURE = "record with jax.profiler.ProfileOptions whose device_tracer_level is 1, or its default"
_PLANE_TAG = 0x0A
_BLOCK_BYTES = 1 << 20
_LINES = 3
_EVENT: list[tuple[int, str, Any]] = [
    (1, "metadata", INT64), (2, "offset_ps", INT64), (3, "duration_ps", INT64), (4, "stats", ["Stat"]),
    (5, "occurrences", INT64),
]  # fmt: skip
_STAT: list[tuple[int, str, Any]] = [
    (1, "metadata", INT64), (2, "double", DOUBLE), (3, "uint", UINT64), (4, "int", INT64), (5, "text", STRING),
    (6, "bytes", BYTES), (7, "reference", UINT64),
]  # fmt: skip
# Fields of a plane except its lines, because each line is parsed separately.
_PLANE: Fields = {
    "Plane": [(2, "name", STRING), (4, "events", ["EventEntry"]), (5, "names", ["StatEntry"]), (6, "stats", ["Stat"])],
    "EventEntry": [(1, "key", INT64), (2, "value", "Named")],
    "StatEntry": [(1, "key", INT64), (2, "value", "Named")],
    "Named": [(1, "id", INT64), (2, "name", STRING)],
    "Stat": _STAT,
}
_LINE: Fields = {
    "Line": [(1, "id", INT64), (2, "name", STRING), (3, "timestamp_ns", INT64), (4, "events", ["Event"]),
             (11, "display_name", STRING)],
    "Event": _EVENT,
    "Stat": _STAT,
}  # fmt: skip
_GPU = re.compile(r"/device:GPU:(\d{1,9})")
_STREAM = re.compile(r"Stream #(\d{1,18})")
_API = re.compile(r"(?:hip|hsa|cu|cuda)[A-Z_]")
_GRID = re.compile(r"\bgrid:(\d{1,10}),(\d{1,10}),(\d{1,10})\b")
_BLOCK_SIZE = re.compile(r"\bblock:(\d{1,5}),(\d{1,5}),(\d{1,5})\b")
_LDS = re.compile(r"\bgroup_mem:(\d{1,9})\b")
_SIZE = re.compile(r"\bsize:(\d{1,18})\b")


def is_xplane(path: Path) -> bool:
    """Return whether a file name is that of an XLA profile."""
    return path.name.endswith(ENDINGS)


def load_xplane(path: Path) -> LinkedTrace:
    """Read a profile into linked tables; a truncated end is reported and the planes before it are kept.

    Each launch gets an operator for its HLO operation and, around it, an annotation for the HLO module. Steps of
    ``jax.profiler.StepTraceAnnotation`` become annotations ``ProfilerStep#N``.

    Raises:
        KprofError: if ``protobuf`` is not installed, or the file cannot be read or is not a profile.
    """
    log = IssueLog(str(path))
    reader = _Reader(path, log)
    trace = LinkedTrace(TraceInfo(str(path)))
    rank = rank_of_file({}, path.name) or 0
    for plane in reader.planes():
        plane.add_to(trace, rank)
    if not reader.found:
        raise InputError("not a profile of XLA: it contains no planes", path=str(path), place="byte 0")
    trace.info.events = len(trace.activities) + len(trace.launches) + len(trace.operators)
    trace.info.ranks, trace.info.bytes_read = [rank], reader.bytes_read
    complete(trace, log, _CURE)
    return trace


class _Reader:
    def __init__(self, path: Path, log: IssueLog) -> None:
        self.path = path
        self.bytes_read = 0
        self.found = 0
        self._log = log
        self._plane = parser("kprof_xplane", "Plane", _PLANE)
        self._line = parser("kprof_xline", "Line", _LINE)
        self._error = decode_error()

    def planes(self) -> Iterator["_Plane"]:
        """Yield the planes in file order."""
        for data in self._plane_data():
            try:
                plane = _Plane(self._plane, self._whole_line, data)
            except (self._error, ValueError):
                self._log.add("malformed", "a plane or line is damaged and was left out", lost=1)
                continue
            self.found += 1
            yield plane

    def _whole_line(self, data: bytes) -> Any:
        """Parse a line of a plane; if it is damaged, return a line without events."""
        try:
            return self._line(data)
        except self._error:
            self._log.add("malformed", "a plane or line is damaged and was left out", lost=1)
            return self._line(b"")

    def _plane_data(self) -> Iterator[bytes]:
        """Yield the contents of the planes, keeping only one in memory."""
        held = bytearray()
        needed = 0
        for block in blocks(self.path, self._log, _BLOCK_BYTES):
            self.bytes_read += len(block)
            held += block
            while len(held) >= max(needed, 1):
                end = self._field_end(held)
                if end is None or end > len(held):
                    needed = end or len(held) + 1
                    break
                length = varint(held, 1)
                if held[0] == _PLANE_TAG and length is not None:
                    yield bytes(held[length[1] : end])
                del held[:end]
                needed = 0
        if held:
            place = f"byte {self.bytes_read - len(held)}"
            self._log.add("cut-off", "the file ends within a plane", place=place, lost=1)

    def _field_end(self, held: bytearray) -> int | None:
        """Return the offset at which the first field of the data ends, or ``None`` if more data is needed."""
        # The file's fields (planes, errors, warnings, host names) are all length-delimited.
        if held[0] not in {_PLANE_TAG, 0x12, 0x1A, 0x22}:
            if not self.found:
                raise InputError("not a profile of XLA", path=str(self.path), place="byte 0")
            self._log.add("malformed", "the rest of the file is damaged and was left out", lost=1)
            held.clear()
            return None
        try:
            length = varint(held, 1)
        except ValueError:
            length = (MAX_PLANE + 1, 0)
        if length is None:
            return None
        if length[0] > MAX_PLANE:
            raise InputError("not a profile of XLA, or a plane of more than 1 GiB", path=str(self.path))
        return length[1] + length[0]


class _Plane:
    """One plane with its names: a GPU, the host, or another plane."""

    def __init__(self, plane: Any, line: Any, data: bytes) -> None:
        self._line = line
        self._data = memoryview(data)
        fields = list(fields_of(data))
        # Fields without a length, such as the id, are not needed.
        rest = b"".join(_delimited(number, data[begin:end]) for number, begin, end in fields if number != _LINES)
        self._content = plane(rest)
        self._lines = [(begin, end) for number, begin, end in fields if number == _LINES]
        self._events = {entry.key: text(entry.value.name) for entry in self._content.events}
        self._stats = {entry.key: text(entry.value.name) for entry in self._content.names}

    def add_to(self, trace: LinkedTrace, rank: int) -> None:
        """Add the events of the plane to their tables."""
        name = text(self._content.name)
        gpu = _GPU.match(name)
        if gpu:
            vendor = self._notes(self._content.stats).get("device_vendor")
            trace.info.vendor = trace.info.vendor or _vendor(vendor)
        elif not name.startswith("/host:CPU"):
            return
        for begin, end in self._lines:
            line = self._line(bytes(self._data[begin:end]))
            stream = _STREAM.match(text(line.name))
            if gpu and stream:
                self._activities(trace, line, (rank, int(gpu[1]), int(stream[1])))
            elif not gpu:
                self._calls(trace, line, rank)

    def _activities(self, trace: LinkedTrace, line: Any, where: tuple[int, int, int]) -> None:
        for event, name, times in self._timed(line):
            notes = self._notes(event.stats)
            details = str(notes.get("kernel_details", ""))
            correlation = _number(notes.get("correlation_id"))
            kind: Literal["kernel", "copy", "memset"] = (
                "copy" if "memcpy_details" in notes else "memset" if "memset_details" in notes else "kernel"
            )
            found = Activity(normalise(name), kind, *where, *times, correlation)
            if kind == "kernel":
                found.workgroup_size = _extents(_BLOCK_SIZE, details)
                # XLA's grids count workgroups: a grid is smaller than its block if a single workgroup runs.
                found.workgroups = _extents(_GRID, details)
                found.lds_bytes = _first(_LDS, details)
            elif kind == "copy":
                found.bytes = _first(_SIZE, str(notes.get("memcpy_details", "")))
            trace.activities.append(found)

    def _calls(self, trace: LinkedTrace, line: Any, rank: int) -> None:
        for event, name, times in self._timed(line):
            notes = self._notes(event.stats)
            correlation = _number(notes.get("correlation_id"))
            step = _number(notes.get("step_num"))
            if name.startswith("$"):
                # These are Python functions of the host tracer; they do not include modules.
                continue
            if correlation is not None and _API.match(name):
                for kind, key in (("annotation", "hlo_module"), ("operator", "hlo_op")):
                    if notes.get(key):
                        self._operator(trace, str(notes[key]), kind, (rank, line.id), times)
                trace.launches.append(RuntimeCall(name, rank, line.id, *times, correlation))
            elif step is not None:
                self._operator(trace, f"ProfilerStep#{step}", "annotation", (rank, line.id), times)
            else:
                self._operator(trace, name, "operator", (rank, line.id), times)

    @staticmethod
    def _operator(trace: LinkedTrace, name: str, kind: Any, where: tuple[int, int], times: tuple[int, int]) -> None:
        trace.operators.append(Operator(name, kind, *where, *times))

    def _timed(self, line: Any) -> Iterator[tuple[Any, str, tuple[int, int]]]:
        """Yield events with name, and start and duration in ns, skipping sums of several events."""
        for event in line.events:
            if event.occurrences:
                continue
            start = line.timestamp_ns + event.offset_ps // 1000
            duration = (event.duration_ps + 500) // 1000
            yield event, self._events.get(event.metadata, f"event {event.metadata}"), (start, duration)

    def _notes(self, stats: Any) -> dict[str, Any]:
        found = {}
        for stat in stats:
            for field in ("int", "uint", "text", "reference", "double"):
                if stat.HasField(field):
                    value = getattr(stat, field)
                    told = self._stats.get(value, "") if field == "reference" else value
                    found[self._stats.get(stat.metadata, "")] = text(told) if isinstance(told, bytes) else told
                    break
        return found


def _delimited(number: int, content: bytes) -> bytes:
    """Encode a length-delimited field of a protocol-buffer message."""
    length, out = len(content), bytearray([number << 3 | 2])
    while length > 0x7F:
        out.append(length & 0x7F | 0x80)
        length >>= 7
    out.append(length)
    return bytes(out) + content


def _vendor(written: Any) -> Literal["amd", "nvidia"] | None:
    named = str(written).lower()
    return "amd" if "amd" in named else "nvidia" if "nvidia" in named else None


def _number(value: Any) -> int | None:
    """Return a value as an integer; ``None`` if it is 0 or not a number, which means that there is no value."""
    try:
        return int(value) or None
    except (TypeError, ValueError):
        return None


def _extents(pattern: "re.Pattern[str]", details: str) -> Size | None:
    found = pattern.search(details)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _first(pattern: "re.Pattern[str]", details: str) -> int | None:
    found = pattern.search(details)
    return int(found[1]) if found else None
