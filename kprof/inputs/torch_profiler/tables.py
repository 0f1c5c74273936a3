"""The linked tables as columns: for pandas, Parquet, CSV and JSON, and back from Parquet.

Tables and their columns (ns, bytes; -1 in an index column means "not known"; empty cells mean "not said"):

``kernels``, ``transfers``
    what ran on the GPU: name, kind, rank, device, stream, start_ns, duration_ns, correlation, external_id, launch
    (row of ``launches``), operator (row of ``operators``), grid in workgroups (``workgroups_x`` ...) and in work-items
    (``work_items_x`` ...) kept apart, ``grid_unit`` as the trace had it, workgroup size, graph, bytes, lds_bytes,
    registers, and for communication collective, group, group_size, elements, element_type
``launches``, ``operators``, ``frames``, ``memory``
    API calls, CPU operators and annotations, Python frames, allocator events
``communications``
    the rows of ``kernels`` that carry a collective's name
"""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kprof.errors import KprofError
from kprof.inputs.torch_profiler.issues import Issue
from kprof.inputs.torch_profiler.model import Activity, Frame, Launch, MemoryEvent, Operator, Trace, TraceInfo

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "kprof.trace/1"
FORMATS = ("parquet", "csv", "json")
_SIZES = ("workgroups", "workgroup_size", "work_items", "grid_as_written", "grid", "block")
_RECORDS: dict[str, type[msgspec.Struct]] = {
    "activities": Activity,
    "launches": Launch,
    "operators": Operator,
    "frames": Frame,
    "memory": MemoryEvent,
}
Columns = dict[str, list[Any]]


def columns(trace: Trace) -> dict[str, Columns]:
    """Every table as column name to values; all columns of a table are equally long."""
    kernels = [a for a in trace.activities if a.kind == "kernel"]
    return {
        "kernels": _columns(Activity, kernels),
        "transfers": _columns(Activity, [a for a in trace.activities if a.kind != "kernel"]),
        "communications": _columns(Activity, [a for a in kernels if a.collective is not None]),
        "launches": _columns(Launch, trace.launches),
        "operators": _columns(Operator, trace.operators),
        "frames": _columns(Frame, trace.frames),
        "memory": _columns(MemoryEvent, trace.memory),
    }


def _columns(kind: type[msgspec.Struct], records: Sequence[msgspec.Struct]) -> Columns:
    result: Columns = {}
    for name in kind.__struct_fields__:
        values = [getattr(r, name) for r in records]
        if name in _SIZES:
            for axis, letter in enumerate("xyz"):
                result[f"{name}_{letter}"] = [None if v is None else v[axis] for v in values]
        else:
            result[name] = values
    return result


def frames(trace: Trace) -> "dict[str, pd.DataFrame]":
    """Every table as a pandas DataFrame; integer columns with gaps are ``Int64``.

    Raises:
        KprofError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise KprofError("pandas is not installed", hint="pip install 'kprof[tables]'") from error
    return {
        name: pd.DataFrame({c: _series(pd, values) for c, values in table.items()})
        for name, table in columns(trace).items()
    }


def _series(pd: Any, values: list[Any]) -> Any:
    present = next((v for v in values if v is not None), None)
    whole = isinstance(present, int) and not isinstance(present, bool)
    # object keeps text and None apart from NaN.
    return pd.Series(values, dtype="Int64" if whole else "boolean" if isinstance(present, bool) else "object")


def write_tables(trace: Trace, directory: Path, file_format: str) -> list[Path]:
    """Write every table into a directory, ``trace.json`` (provenance, issues) last; returns the files.

    Raises:
        KprofError: an unknown format, Parquet without pyarrow, or a directory that cannot be written.
    """
    if file_format not in FORMATS:
        raise KprofError(f"no format {file_format!r}", hint=f"formats are {', '.join(FORMATS)}")
    written: list[Path] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, table in columns(trace).items():
            path = directory / f"{name}.{file_format}"
            _WRITERS[file_format](path, table)
            written.append(path)
        about = {"schema": SCHEMA, "info": trace.info, "issues": trace.issues, "format": file_format}
        path = directory / "trace.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(about), indent=2))
        written.append(path)
    except OSError as error:
        raise KprofError(f"cannot write: {error.strerror or error}", path=str(directory)) from error
    return written


def _write_csv(path: Path, table: Columns) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))


def _write_json(path: Path, table: Columns) -> None:
    names = list(table)
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number, row in enumerate(zip(*table.values(), strict=True)):
            file.write(",\n" if number else "\n")
            file.write(json.dumps({n: v for n, v in zip(names, row, strict=True) if v is not None}))
        file.write("\n]\n")


def _write_parquet(path: Path, table: Columns) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise KprofError("Parquet needs pyarrow", hint="pip install 'kprof[tables]', or --format csv") from error
    arrays = {name: pa.array(values) for name, values in table.items()}
    pq.write_table(pa.table(arrays), path, compression="zstd")


_WRITERS = {"csv": _write_csv, "json": _write_json, "parquet": _write_parquet}


def is_tables(path: Path) -> bool:
    """Whether a directory was written by :func:`write_tables`."""
    return (path / "trace.json").is_file() and (path / "kernels.parquet").is_file()


def read_tables(directory: Path) -> Trace:
    """The trace that was written to a directory as Parquet.

    Raises:
        KprofError: not such a directory, another schema, damaged files, or pyarrow is missing.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise KprofError("Parquet needs pyarrow", hint="pip install 'kprof[tables]'") from error
    try:
        about = msgspec.json.decode((directory / "trace.json").read_bytes())
        if not isinstance(about, dict) or about.get("schema") != SCHEMA:
            raise KprofError(f"not written as {SCHEMA}", path=str(directory), hint="run kprof ingest trace again")
        info = msgspec.convert(about["info"], TraceInfo)
        issues = msgspec.convert(about["issues"], tuple[Issue, ...])
        names = ("kernels", "transfers", "launches", "operators", "frames", "memory")
        tables = {n: pq.read_table(directory / f"{n}.parquet").to_pydict() for n in names}
        trace = Trace(
            info,
            _records(Activity, tables["kernels"]) + _records(Activity, tables["transfers"]),
            _records(Launch, tables["launches"]),
            _records(Operator, tables["operators"]),
            _records(Frame, tables["frames"]),
            _records(MemoryEvent, tables["memory"]),
            issues,
        )
    except OSError as error:
        raise KprofError(f"cannot read: {error.strerror or error}", path=str(directory)) from error
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError, pa.ArrowException) as error:
        raise KprofError(
            f"damaged tables: {error}", path=str(directory), hint="run kprof ingest trace again"
        ) from error
    _check_indexes(trace, directory)
    return trace


def _records(kind: type[Any], table: Columns) -> list[Any]:
    names = kind.__struct_fields__
    lists: list[list[Any]] = []
    for name in names:
        if name in _SIZES:
            axes = [table[f"{name}_{letter}"] for letter in "xyz"]
            lists.append([None if v[0] is None else v for v in zip(*axes, strict=True)])
        else:
            lists.append(table[name])
    return [msgspec.convert(dict(zip(names, row, strict=True)), kind) for row in zip(*lists, strict=True)]


def _check_indexes(trace: Trace, directory: Path) -> None:
    """Indexes from a file are not to be trusted: a wrong one must not become a wrong answer."""
    launches, operators, python = len(trace.launches), len(trace.operators), len(trace.frames)
    sound = (
        all(-1 <= a.launch < launches and -1 <= a.operator < operators for a in trace.activities)
        and all(-1 <= c.operator < operators and -1 <= c.frame < python for c in trace.launches)
        and all(
            -1 <= o.parent < operators and o.parent != i and -1 <= o.frame < python and -1 <= o.forward < operators
            for i, o in enumerate(trace.operators)
        )
        and all(-1 <= f.parent < python and f.parent != i for i, f in enumerate(trace.frames))
    )
    if not sound or _has_cycle([o.parent for o in trace.operators]) or _has_cycle([f.parent for f in trace.frames]):
        raise KprofError("damaged tables: rows point to rows that are not there", path=str(directory))


def _has_cycle(parents: list[int]) -> bool:
    state = bytearray(len(parents))
    for start in range(len(parents)):
        path = []
        at = start
        while at >= 0 and not state[at]:
            state[at] = 1
            path.append(at)
            at = parents[at]
        if at >= 0 and state[at] == 1:
            return True
        for index in path:
            state[index] = 2
    return False
