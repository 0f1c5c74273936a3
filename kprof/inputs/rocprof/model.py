"""What reading measurements gives: sources, issues and tables.

Times are integer nanoseconds on the clock the tool used, sizes are bytes, grids and workgroups are counted in
**work-items** unless a column says ``workgroups``. Every table has a column ``source``: an index into
:attr:`~kprof.inputs.rocprof.data.Data.sources`, which says which file, tool, version and format a row came from.
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
        "kernel_name_original": "as the file has it",
        "start_ns": "start on the GPU",
        "end_ns": "end on the GPU",
        "duration_ns": "end - start; missing when the times cannot be trusted (see issues)",
        "grid_work_items": "grid size in work-items",
        "workgroup_work_items": "workgroup size in work-items",
        "workgroups": "number of workgroups: grid / workgroup in each dimension, rounded up",
        "grid_x": "grid size in work-items (_y, _z too)",
        "workgroup_x": "workgroup size in work-items (_y, _z too)",
        "lds_bytes": "LDS a workgroup was given",
        "scratch_bytes": "scratch a work-item was given",
        "vgprs": "architectural VGPRs",
        "agprs": "accumulation VGPRs",
        "sgprs": "SGPRs",
        "wavefront_size": "lanes",
        "queue_id": "hardware queue as numbered by the tool",
        "stream_id": "HIP stream",
        "process_id": "process",
        "thread_id": "host thread that launched",
        "correlation_id": "joins api_calls",
        "kernel_id": "the tool's number of the kernel symbol",
        "queued_ns": "rocprof v1: when the packet was put in the queue",
        "completed_ns": "rocprof v1: when the host saw the end",
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
        "value": "as counted; the unit is the counter's own",
    },
    "kernels": {
        "source": "index into sources",
        "agent": "as in dispatches",
        "kernel_name": "normalised",
        "calls": "dispatches",
        "timed_calls": "dispatches with a trusted duration; the next four are over these",
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
        "logical_node_id": "node numbered over the visible ones",
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
        "stream_id": "HIP stream, when the tool tells",
        "correlation_id": "joins api_calls",
        "source_agent": "from",
        "destination_agent": "to",
        "bytes": "size, when the tool tells",
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
        "issued": "stochastic sampling: 1 when the wavefront issued",
        "instruction_type": "stochastic sampling",
        "stall_reason": "stochastic sampling: why it did not issue",
        "wave_count": "stochastic sampling: wavefronts on the SIMD",
        "code_object_id": "JSON only: the tool's number of the code object",
        "code_object_offset": "JSON only: byte offset of the instruction in it",
    },
    "stats": {
        "source": "index into sources",
        "name": "kernel, function or domain",
        "calls": "how often",
        "total_ns": "as the tool summed",
        "average_ns": "as the tool averaged",
        "percentage": "of the tool's total",
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
        "unit": "as the tool says",
    },
    "systems": {"source": "index into sources", "name": "property of the machine", "value": "as text"},
}
"""Columns of each table and what they mean. Columns that a file does not tell are missing or ``NA``, never 0."""


@dataclass(frozen=True)
class ProfileFile:
    """A file, and what made it.

    Attributes:
        path: as found.
        tool: ``rocprof``, ``rocprofv2``, ``rocprofv3``, ``rocprof-compute`` ...
        version: the tool's or ROCm's version when the file (or its folder) says it.
        format: which of the tool's formats.
        rows: records read, without the bad ones.
        role: what its rows are good for: ``trace``, ``counters``, ``summary``, ``system`` or ``other``.
        folder: the workload folder it belongs to.
        same_as: index of a source with the same dispatches; its dispatches are not counted again.
        given: the file or folder that was named, in which it was found.
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
    """Something in the data that must not be trusted, or was left out.

    Attributes:
        kind: a short stable word, for example ``glued-records``.
        severity: ``error`` when data is missing, ``warning`` when a number may be wrong, else ``note``.
        message: in words, with numbers.
        path: file.
        record: 1-based number of the data record (the header is not counted), when there is one.
        count: how many records it concerns.
        excerpt: the beginning of the offending text.
        unknown: numbers that cannot be known because of it.
        cure: what makes them known.
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
"""Column name to a one-dimensional numpy array or pandas array."""


@dataclass
class FileTables:
    """What one file gave.

    Attributes:
        source: provenance.
        tables: table name to columns. ``counters`` rows point into this part's own ``dispatches``.
        issues: what was found while reading.
        lazy: reads further tables when somebody asks for one of them.
        promised: the tables that ``lazy`` may give.
        distinct: no counter value can be there twice, because each has a column of its own.
        kernels: the kernels table when it was computed without reading every dispatch.
    """

    source: ProfileFile
    tables: dict[str, Columns] = field(default_factory=dict)
    issues: list[ProfileIssue] = field(default_factory=list)
    lazy: "Callable[[FileTables], None] | None" = None
    promised: frozenset[str] = frozenset()
    kernels: Columns | None = None
    distinct: bool = False

    def load(self) -> None:
        """Read what was left for later, if anything was."""
        if self.lazy is not None:
            loader, self.lazy = self.lazy, None
            with step(f"reading {PurePath(self.source.path).name}"):
                loader(self)

    def complain(self, kind: str, severity: Severity, message: str, **more: Any) -> None:
        """Add an issue about this part's file."""
        self.issues.append(ProfileIssue(kind, severity, message, self.source.path, **more))

    def describe(self, **changes: Any) -> None:
        """Change fields of the source."""
        self.source = replace(self.source, **changes)
