"""Data structures for measurements: source files, issues and tables.

Times are integer nanoseconds on the profiler's clock, and sizes are bytes. Grids and workgroups are counted in
**work-items** unless a column name contains ``workgroups``. Every table has a column ``source``: an index into
:attr:`~kprof.inputs.rocprof.data.Data.sources`, which contains the file, tool, version and format of a row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Literal

from kprof.output.progress import step

Severity = Literal["note", "warning", "error"]

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "dispatches": {
        "source": "index into sources",
        "agent": "GPU as numbered by the tool: v1, v2 gpu-id; v3 logical node (older: node); rocpd absolute index",
        "dispatch_id": "the tool's number; need not start at 0 or be dense, may repeat between agents and processes",
        "kernel_name": "normalised: without .kd, [clone .kd], (.kd)",
        "kernel_name_original": "name as written in the file",
        "start_ns": "start on the GPU",
        "end_ns": "end on the GPU",
        "duration_ns": "end - start; missing when the times cannot be trusted (see issues)",
        "grid_work_items": "grid size in work-items",
        "workgroup_work_items": "workgroup size in work-items",
        "workgroups": "number of workgroups: grid / workgroup in each dimension, rounded up",
        "grid_x": "grid size in work-items (_y, _z too)",
        "workgroup_x": "workgroup size in work-items (_y, _z too)",
        "lds_bytes": "LDS allocated per workgroup",
        "scratch_bytes": "scratch allocated per work-item",
        "vgprs": "architectural VGPRs",
        "agprs": "accumulation VGPRs",
        "sgprs": "SGPRs",
        "wavefront_size": "lanes",
        "queue_id": "hardware queue as numbered by the tool",
        "stream_id": "HIP stream",
        "process_id": "process",
        "thread_id": "host thread that launched the kernel",
        "correlation_id": "joins api_calls",
        "kernel_id": "the tool's number of the kernel symbol",
        "queued_ns": "rocprof v1: time at which the packet was enqueued",
        "completed_ns": "rocprof v1: time at which the host observed the end",
    },
    "counters": {
        "source": "index into sources",
        "dispatch": "row of dispatches",
        "agent": "as in dispatches",
        "dispatch_id": "as in dispatches",
        "kernel_name": "as in dispatches",
        "counter": "hardware or derived counter, without [instance]",
        "instance": "channel number from NAME[7]; -1 when the value is for the whole GPU",
        "pass": "0, 1, ... in the order in which a dispatch was run again for more counters",
        "value": "counted value, in the counter's unit",
    },
    "kernels": {
        "source": "index into sources",
        "agent": "as in dispatches",
        "kernel_name": "normalised",
        "calls": "number of dispatches",
        "timed_calls": "dispatches with a trusted duration, to which the next four columns refer",
        "total_ns": "sum of durations",
        "average_ns": "mean duration",
        "min_ns": "shortest",
        "max_ns": "longest",
    },
    "agents": {
        "source": "index into sources",
        "agent": "as in dispatches",
        "type": "CPU or GPU",
        "name": "gfx target or CPU name",
        "product": "marketing name",
        "node_id": "HSA node",
        "logical_node_id": "index among the visible nodes",
        "cu_count": "compute units",
        "simd_count": "SIMDs",
        "xcd_count": "XCDs",
        "wavefront_size": "lanes",
        "max_clock_mhz": "highest engine clock",
        "lds_bytes_per_cu": "LDS",
    },
    "api_calls": {
        "source": "index into sources",
        "domain": "HIP_RUNTIME_API, HSA_CORE_API, MARKER_CORE_API, RCCL_API, ...",
        "function": "function or marker text",
        "process_id": "process",
        "thread_id": "thread",
        "correlation_id": "joins dispatches",
        "start_ns": "start on the host",
        "end_ns": "end on the host",
        "duration_ns": "end - start",
    },
    "copies": {
        "source": "index into sources",
        "direction": "HOST_TO_DEVICE and so on",
        "stream_id": "HIP stream, if recorded",
        "correlation_id": "joins api_calls",
        "source_agent": "agent that the data comes from",
        "destination_agent": "agent that the data goes to",
        "bytes": "size, if recorded",
        "start_ns": "start",
        "end_ns": "end",
        "duration_ns": "end - start",
    },
    "allocations": {"source": "index into sources", "operation": "what", "agent": "where", "bytes": "size"},
    "scratch": {"source": "index into sources", "operation": "what", "agent": "where", "bytes": "size"},
    "samples": {
        "source": "index into sources",
        "dispatch_id": "as in dispatches",
        "instruction": "instruction at the sampled program counter",
        "source_line": "file and line, when known",
        "exec_mask": "active lanes, one bit each",
        "issued": "stochastic sampling: 1 if the wavefront issued the instruction",
        "instruction_type": "stochastic sampling: type of the instruction",
        "stall_reason": "stochastic sampling: reason why it was not issued",
        "wave_count": "stochastic sampling: wavefronts on the SIMD",
        "code_object_id": "JSON only: the tool's number of the code object",
        "code_object_offset": "JSON only: byte offset of the instruction in the code object",
    },
    "stats": {
        "source": "index into sources",
        "name": "kernel, function or domain",
        "calls": "number of calls",
        "total_ns": "sum computed by the tool",
        "average_ns": "mean computed by the tool",
        "percentage": "percentage of the tool's total",
    },
    "peaks": {
        "source": "index into sources",
        "device": "number",
        "name": "HBMBw, L2Bw, MFMAF16Flops, ...",
        "value": "GB/s for names ending in Bw, GFLOP/s or GOP/s for the rest",
    },
    "metrics": {
        "source": "index into sources",
        "table": "number and title of the panel",
        "metric": "name",
        "value": "average",
        "unit": "unit as written by the tool",
    },
    "systems": {"source": "index into sources", "name": "property of the machine", "value": "as text"},
}
"""Columns of each table and their meaning. Values that a file does not contain are missing or ``NA``, never 0."""


@dataclass(frozen=True)
class ProfileFile:
    """A file and the tool that wrote it.

    Attributes:
        path: path at which the file was found.
        tool: ``rocprof``, ``rocprofv2``, ``rocprofv3``, ``rocprof-compute`` ...
        version: version of the tool or of ROCm, if the file or its folder contains it.
        format: name of the file's format.
        rows: number of records that could be read.
        role: purpose of the file's rows: ``trace``, ``counters``, ``summary``, ``system`` or ``other``.
        folder: workload folder that contains the file; ``None`` for a file outside of workload folders.
        same_as: index of another source with the same dispatches, which are counted only once; ``None`` without one.
        given: path named by the user: the file itself, or the folder in which it was found.
    """

    path: str
    tool: str
    format: str
    version: str | None = None
    rows: int = 0
    role: str = "other"
    folder: str | None = None
    same_as: int | None = None
    given: str = ""


@dataclass(frozen=True)
class ProfileIssue:
    """A problem of a file: data that cannot be trusted, or that was left out.

    Attributes:
        kind: short stable identifier, for example ``glued-records``.
        severity: ``error`` when data is missing, ``warning`` when a number may be wrong, else ``note``.
        message: description of the problem, with numbers.
        path: path of the file.
        record: 1-based number of the affected record, not counting the heading; ``None`` if there is not exactly one.
        count: number of affected records.
        excerpt: the beginning of the offending text.
        unknown: results that are unknown because of the issue.
        cure: advice that makes these results known in the next measurement.
    """

    kind: str
    severity: Severity
    message: str
    path: str
    record: int | None = None
    count: int = 1
    excerpt: str | None = None
    unknown: tuple[str, ...] = ()
    cure: str = ""


Columns = dict[str, Any]
"""One-dimensional numpy or pandas array of each column."""


@dataclass
class FileTables:
    """Tables read from one file.

    Attributes:
        source: description of the file.
        tables: columns of each table. Rows of ``counters`` refer to rows of ``dispatches`` in the same file.
        issues: problems found while reading.
        lazy: function that reads further tables on first use.
        promised: names of the tables that ``lazy`` may read.
        distinct: True if each counter has its own column in the file, so that no counter value can be a duplicate.
        kernels: kernels table, if it was computed without reading every dispatch; else ``None``.
    """

    source: ProfileFile
    tables: dict[str, Columns] = field(default_factory=dict)
    issues: list[ProfileIssue] = field(default_factory=list)
    lazy: "Callable[[FileTables], None] | None" = None
    promised: frozenset[str] = frozenset()
    kernels: Columns | None = None
    distinct: bool = False

    def load(self) -> None:
        """Read the tables whose reading was postponed, if any."""
        if self.lazy is not None:
            loader, self.lazy = self.lazy, None
            with step(f"reading {PurePath(self.source.path).name}"):
                loader(self)

    def complain(self, kind: str, severity: Severity, message: str, **more: Any) -> None:
        """Add an issue about this file; ``more`` contains further fields of :class:`ProfileIssue`."""
        self.issues.append(ProfileIssue(kind, severity, message, self.source.path, **more))

    def describe(self, **changes: Any) -> None:
        """Replace fields of the source's description."""
        self.source = replace(self.source, **changes)
