"""Read traces of ROCm's own profilers into the linked tables that are also used for PyTorch traces.

Dispatches and copies become activities, API calls become launches, and roctx ranges become annotations. A dispatch has
the same correlation id as the call that launched it.
"""

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.errors import InputError
from kprof.inputs.completeness import unknown_of
from kprof.inputs.opening import head_of
from kprof.inputs.rocprof.names import gpu_of_copy
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.model import LinkedTrace, TraceInfo
from kprof.inputs.torch_profiler.normalise import rank_of_file
from kprof.inputs.torch_profiler.plausible import complete

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.rocprof.data import Data

_HEAD_BYTES = 1 << 16
_V1_MARKS = (b'"BeginNs"', b'"EndNs"')
_CURE = "also record with rocprofv3 --kernel-trace --memory-copy-trace"
_AXES = ("x", "y", "z")


def is_timeline(path: Path) -> bool:
    """Return whether a file's first bytes are those of a ROCm profiler's database, JSON document or CSV trace."""
    start = head_of(path, _HEAD_BYTES)
    if start.startswith(b"\x1f\x8b"):
        try:
            start = zlib.decompressobj(31).decompress(start, _HEAD_BYTES)
        except zlib.error:
            return False
    start = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"SQLite format 3") or b'"rocprofiler-sdk-tool"' in start[:4096]:
        return True
    if start.startswith((b"{", b"[", b",")):
        # rocprof v1 and its predecessor roctracer write Chrome's format, in which only flow events have a category.
        of_rocprof = all(mark in start for mark in _V1_MARKS)
        return of_rocprof and b'"cat"' not in start.replace(b'"cat":"DataFlow"', b"")
    heading = start.partition(b"\n")[0]
    timed = b"Start_Timestamp" in heading or all(mark in heading for mark in (b"BeginNs", b"EndNs"))
    return timed and any(named in heading for named in (b"Kernel_Name", b"KernelName", b"Function"))


def load_timeline(path: Path) -> LinkedTrace:
    """Read a file, or a folder with the files of one run, into linked tables.

    Raises:
        KprofError: if it cannot be read or has no dispatches with times.
    """
    from kprof.inputs.rocprof.reading import read

    data = read(path)
    trace = LinkedTrace(TraceInfo(str(path), vendor="amd"))
    log = IssueLog(str(path))
    for issue in data.issues:
        if issue.severity != "note":
            place = issue.path if path.is_dir() else None
            log.add(issue.kind, issue.message, place=place, unknown=unknown_of(issue), cure=issue.cure)
    rank = rank_of_file({}, path.name) or 0
    _dispatches(trace, _timed(data.dispatches, "dispatches", log), rank)
    _copies(trace, _timed(data.copies, "copies", log), rank)
    _calls(trace, _timed(data.table("api_calls"), "API calls", log), rank)
    if not len(trace.activities) + len(trace.launches) + len(trace.operators):
        hint = f"kprof ingest counters {path}"
        raise InputError("no dispatch and no call with a start and an end", path=str(path), hint=hint)
    complete(trace, log, _CURE)
    _describe(trace, data, rank)
    return trace


def _describe(trace: LinkedTrace, data: "Data", rank: int) -> None:
    agents = data.agents
    if len(agents) and "type" in agents and "product" in agents:
        gpus = agents[agents["type"].astype(str) == "GPU"]
        trace.info.devices = [str(name) for name in gpus["product"].dropna().astype(str)]
    versions = [source.version for source in data.sources if source.version]
    trace.info.versions = {"rocprof": versions[0]} if versions else {}
    trace.info.ranks = [rank]
    trace.info.events = len(trace.activities) + len(trace.launches) + len(trace.operators)
    trace.info.bytes_read = sum(Path(source.path).stat().st_size for source in data.sources)


def _timed(table: "pd.DataFrame", what: str, log: IssueLog) -> "pd.DataFrame":
    """Return the rows with trusted times, and report the number of rows that were left out."""
    if not len(table) or "duration_ns" not in table or "start_ns" not in table:
        none: pd.DataFrame = table.iloc[:0]
        return none
    sound = table["duration_ns"].notna() & table["start_ns"].notna()
    # Dispatches without any time, from counter files next to the trace, do not count as lost.
    lost = int((table["start_ns"].notna() & ~sound).sum())
    log.add("no-times", f"{what} without trusted times were left out", count=lost, lost=lost)
    kept: pd.DataFrame = table[sound]
    return kept


def _integers(table: "pd.DataFrame", *names: str) -> list[int | None] | None:
    """Return the values of the first of the named columns that exists and has values, or ``None``."""
    import pandas as pd

    for name in names:
        if name not in table:
            continue
        found: Any = table[name]
        column = pd.array(found, dtype="Int64")
        missing = column.isna()
        if missing.all():
            continue
        # A loop over all elements would take longer than reading the file.
        values: list[int | None] = column.to_numpy("int64", na_value=0).tolist()
        for row in missing.nonzero()[0].tolist():
            values[row] = None
        return values
    return None


def _ids(table: "pd.DataFrame") -> list[int | None] | None:
    ids = _integers(table, "correlation_id")
    return None if ids is None else [number or None for number in ids]


def _texts(table: "pd.DataFrame", name: str) -> list[str]:
    return [str(value) for value in table[name].tolist()] if name in table else [""] * len(table)


def _common(table: "pd.DataFrame", rank: int) -> dict[str, Any]:
    return {
        "rank": [rank] * len(table),
        "start_ns": _integers(table, "start_ns"),
        "duration_ns": _integers(table, "duration_ns"),
        "correlation": _ids(table),
    }


def _sizes(table: "pd.DataFrame", prefix: str) -> list[tuple[int, int, int] | None] | None:
    columns = [_integers(table, f"{prefix}_{axis}") for axis in _AXES]
    x, y, z = columns
    if x is None:
        return None
    rows = zip(x, y or [1] * len(x), z or [1] * len(x), strict=True)
    return [(a, b or 1, c or 1) if a else None for a, b, c in rows]


def _dispatches(trace: LinkedTrace, table: "pd.DataFrame", rank: int) -> None:
    work_items, workgroups = _sizes(table, "grid"), _sizes(table, "workgroup")
    counts = None
    if work_items is not None and workgroups is not None:
        counts = [
            None if grid is None or size is None else tuple(-(-g // s) for g, s in zip(grid, size, strict=True))
            for grid, size in zip(work_items, workgroups, strict=True)
        ]
    trace.activities.extend(
        len(table),
        **_common(table, rank),
        name=_texts(table, "kernel_name"),
        kind=["kernel"] * len(table),
        device=_integers(table, "agent"),
        stream=_integers(table, "stream_id", "queue_id"),
        work_items=work_items,
        workgroup_size=workgroups,
        workgroups=counts,
        lds_bytes=_integers(table, "lds_bytes"),
        registers=_integers(table, "vgprs"),
    )


def _copies(trace: LinkedTrace, table: "pd.DataFrame", rank: int) -> None:
    if len(table):
        directions = _texts(table, "direction")
        none: list[int | None] = [None] * len(table)
        sources, destinations = (_integers(table, f"{end}_agent") or none for end in ("source", "destination"))
        trace.activities.extend(
            len(table),
            **_common(table, rank),
            name=[f"Memcpy {text}" for text in directions],
            kind=["copy"] * len(table),
            device=[gpu_of_copy(*ends) for ends in zip(directions, sources, destinations, strict=True)],
            stream=_integers(table, "stream_id") or [None] * len(table),
            bytes=_integers(table, "bytes"),
        )


def _calls(trace: LinkedTrace, table: "pd.DataFrame", rank: int) -> None:
    if not len(table):
        return
    marked = table["domain"].astype(str).str.contains("MARKER") if "domain" in table else table["start_ns"].isna()
    for part, add in ((table[~marked], _launches), (table[marked], _annotations)):
        if len(part):
            add(trace, part, rank)


def _launches(trace: LinkedTrace, table: "pd.DataFrame", rank: int) -> None:
    names, threads = _texts(table, "function"), _integers(table, "thread_id")
    trace.launches.extend(len(table), **_common(table, rank), name=names, thread=threads)


def _annotations(trace: LinkedTrace, table: "pd.DataFrame", rank: int) -> None:
    common = _common(table, rank)
    common.pop("correlation")
    trace.operators.extend(
        len(table),
        **common,
        name=_texts(table, "function"),
        kind=["annotation"] * len(table),
        thread=_integers(table, "thread_id"),
    )
