"""Read Perfetto traces of rocprofv3, in which dispatch slices contain registers, LDS, sizes and counters.

The file contains both the trace and the counters, and repeats the content of the run's other files. In a folder it is
therefore skipped; it is read only if the user names the file itself.
"""

from typing import TYPE_CHECKING, Any

from kprof.inputs.rocprof.dispatching import dispatches, trusted_durations
from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.frames import factorised, integers
from kprof.inputs.rocprof.model import Columns, FileTables, Severity
from kprof.inputs.rocprof.opening import Opened

if TYPE_CHECKING:
    from kprof.inputs.perfetto import PerfettoSlice

NAME = "Perfetto trace"
_COLUMNS = (
    ("queue_id", "queue"), ("stream_id", "stream_id"), ("kernel_id", "kernel_id"), ("thread_id", "tid"),
    ("scratch_bytes", "scratch_size"), ("lds_bytes", "lds_block_size"), ("vgprs", "vgpr_count"),
    ("agprs", "accum_vgpr_count"), ("sgprs", "sgpr_count"), ("workgroup_work_items", "workgroup_size"),
    ("grid_work_items", "grid_size"),
)  # fmt: skip


def _recognise(opened: Opened) -> float:
    from kprof.inputs.perfetto import is_perfetto

    return 1.0 if is_perfetto(opened.path) and opened.head[:1] == b"\n" else 0.0


def _read(opened: Opened, part: FileTables) -> None:
    from kprof.inputs.completeness import unknown_of
    from kprof.inputs.perfetto import kind_of, read_slices

    slices, tracks, issues = read_slices(opened.path)
    for issue in issues:
        severity: Severity = "error" if issue.lost else "warning" if unknown_of(issue) else "note"
        part.complain(issue.kind, severity, issue.message, count=issue.count)
    kinds = [kind_of(each, tracks.get(each.track, "")) for each in slices]
    kernels = [each for each, kind in zip(slices, kinds, strict=True) if kind == "kernel"]
    calls = [each for each, kind in zip(slices, kinds, strict=True) if kind == "launch"]
    if kernels:
        part.tables["dispatches"] = table = _dispatches(kernels, tracks, part)
        counters = _counters(kernels, table)
        if counters:
            part.tables["counters"] = counters
            part.describe(role="counters")
    else:
        part.complain("no-records", "warning", "no dispatch in the file")
    if calls:
        columns = _times(calls)
        columns["function"] = factorised([each.name for each in calls])
        columns["duration_ns"] = trusted_durations(columns, part, what="api_calls")
        part.tables["api_calls"] = columns
    part.describe(rows=len(kernels) + len(calls))


def _times(slices: "list[PerfettoSlice]") -> Columns:
    from kprof.inputs.perfetto import correlation_of

    return {
        "correlation_id": integers([correlation_of(each.notes) for each in slices]),
        "start_ns": integers([each.start_ns for each in slices]),
        "end_ns": integers([each.start_ns + each.duration_ns for each in slices]),
    }


def _dispatches(kernels: "list[PerfettoSlice]", tracks: dict[int, str], part: FileTables) -> Columns:
    from kprof.inputs.perfetto import device_of

    columns = _times(kernels)
    columns["kernel_name"] = factorised([each.name for each in kernels])
    columns["agent"] = integers([device_of(each.name, each.notes, tracks.get(each.track, "")) for each in kernels])
    for ours, theirs in _COLUMNS:
        found = [_number(each.notes.get(theirs)) for each in kernels]
        if any(value is not None for value in found):
            columns[ours] = integers(found)
    return dispatches(columns, part)


def _counters(kernels: "list[PerfettoSlice]", table: Columns) -> Columns:
    import numpy as np

    found = [(row, name, value) for row, each in enumerate(kernels) for name, value in each.counters.items()]
    if not found:
        return {}
    rows = np.array([row for row, _, _ in found], dtype=np.int64)
    return {
        "dispatch": rows,
        "agent": table["agent"].take(rows),
        "kernel_name": table["kernel_name"].take(rows),
        "counter": factorised([name for _, name, _ in found]),
        "instance": np.full(len(rows), -1, dtype=np.int16),
        "pass": np.zeros(len(rows), dtype=np.int16),
        "value": np.array([value for _, _, value in found], dtype=np.float64),
    }


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) else None


FORMAT = OtherFormat(NAME, "rocprofv3", "trace", _recognise, _read)
