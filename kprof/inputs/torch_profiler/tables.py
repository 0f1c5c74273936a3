"""Convert the linked tables to columns for pandas, Parquet, CSV and JSON, and read them back from Parquet.

Tables and their columns. Times are in ns and sizes in bytes. In an index column, -1 means unknown. An empty cell means
that the trace does not contain the value.

``kernels``, ``transfers``
    GPU activities: name, kind, rank, device, stream, start_ns, duration_ns, correlation, external_id, launch (row of
    ``launches``), operator (row of ``operators``), the grid in workgroups (``workgroups_x`` ...) and in work-items
    (``work_items_x`` ...), ``grid_unit`` as in the trace, workgroup size, graph, bytes, lds_bytes, registers, and for
    communication kernels: collective, group, group_size, elements, element_type
``launches``, ``operators``, ``frames``, ``memory``
    API calls, CPU operators and annotations, Python frames, allocator events
``communications``
    rows of ``kernels`` with the name of a collective
"""

import csv
import json
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kprof.errors import InputError
from kprof.inputs import boundary
from kprof.inputs.torch_profiler.columns import Records
from kprof.inputs.torch_profiler.issues import TraceIssue
from kprof.inputs.torch_profiler.model import LinkedTrace, TraceInfo
from kprof.output.csv_cells import guarded_row

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "kprof.trace/1"
FORMATS = ("parquet", "csv", "json")
_SIZES = ("workgroups", "workgroup_size", "work_items", "grid_as_written", "grid", "block")
# Number of rows converted to Python values at a time.
_BATCH = 1 << 16
_READ = 1 << 13
Columns = dict[str, list[Any]]


def columns(trace: LinkedTrace) -> dict[str, Columns]:
    """Return the values of each column of every table; all columns of a table have the same length."""
    return {name: _columns(*chosen) for name, chosen in _choices(trace).items()}


def _choices(trace: LinkedTrace) -> dict[str, tuple[Records[Any], Sequence[int] | None]]:
    """Return, for each table, its records and the rows that belong to the table; ``None`` for all rows."""
    kinds, collectives = trace.activities.words("kind"), trace.activities.words("collective")
    every = range(len(trace.activities))
    kernels = array("q", (row for row in every if kinds[row] == "kernel"))
    return {
        "kernels": (trace.activities, kernels),
        "transfers": (trace.activities, [row for row in every if kinds[row] != "kernel"]),
        "communications": (trace.activities, [row for row in kernels if collectives[row] is not None]),
        "launches": (trace.launches, None),
        "operators": (trace.operators, None),
        "frames": (trace.frames, None),
        "memory": (trace.memory, None),
    }


def _columns(records: Records[Any], rows: Sequence[int] | None) -> Columns:
    result: Columns = {}
    for name in records.kind.__struct_fields__:
        values = records.values(name)
        if rows is not None:
            values = list(map(values.__getitem__, rows))
        result.update(_cells(name, values))
    return result


def _part(records: Records[Any], rows: Sequence[int]) -> Columns:
    """Return the cells of the given rows, without creating a list of all rows."""
    result: Columns = {}
    for name in records.kind.__struct_fields__:
        column = records.column(name)
        result.update(_cells(name, [column[row] for row in rows]))
    return result


def _cells(name: str, values: list[Any]) -> Columns:
    if name not in _SIZES:
        return {name: values}
    return {f"{name}_{letter}": [None if v is None else v[axis] for v in values] for axis, letter in enumerate("xyz")}


def frames(trace: LinkedTrace) -> "dict[str, pd.DataFrame]":
    """Return every table as a pandas DataFrame; integer columns with gaps are ``Int64``."""
    import pandas as pd

    return {
        name: pd.DataFrame({c: _series(pd, values) for c, values in table.items()})
        for name, table in columns(trace).items()
    }


def _series(pd: Any, values: list[Any]) -> Any:
    present = next((v for v in values if v is not None), None)
    whole = isinstance(present, int) and not isinstance(present, bool)
    values = _replace_huge_integers(values) if whole else values
    # The dtype object keeps text and None distinct from NaN.
    return pd.Series(values, dtype="Int64" if whole else "boolean" if isinstance(present, bool) else "object")


def _replace_huge_integers(values: list[Any]) -> list[Any]:
    """Replace integers that pandas and Parquet cannot represent by ``None``; the trace's reader has reported them."""
    return [None if value is not None and not -(1 << 63) <= value < 1 << 63 else value for value in values]


def write_tables(trace: LinkedTrace, directory: Path, file_format: str) -> list[Path]:
    """Write all tables into a directory, then ``trace.json`` (provenance, issues), and return the paths of the files.

    Raises:
        KprofError: if the format is unknown or the directory cannot be written.
    """
    if file_format not in FORMATS:
        raise InputError(f"no format {file_format!r}", hint=f"formats are {', '.join(FORMATS)}")
    written: list[Path] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, chosen in _choices(trace).items():
            path = directory / f"{name}.{file_format}"
            if file_format == "parquet":
                _write_parquet(path, *chosen)
            else:
                _WRITERS[file_format](path, _columns(*chosen))
            written.append(path)
        about = {"schema": SCHEMA, "info": trace.info, "issues": trace.issues, "format": file_format}
        path = directory / "trace.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(about), indent=2))
        written.append(path)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", path=str(directory)) from error
    return written


def _write_csv(path: Path, table: Columns) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(guarded_row(row) for row in zip(*table.values(), strict=True))


def _write_json(path: Path, table: Columns) -> None:
    names = list(table)
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number, row in enumerate(zip(*table.values(), strict=True)):
            file.write(",\n" if number else "\n")
            file.write(json.dumps({n: v for n, v in zip(names, row, strict=True) if v is not None}))
        file.write("\n]\n")


def _write_parquet(path: Path, records: Records[Any], rows: Sequence[int] | None) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    chosen = range(len(records)) if rows is None else rows
    types = {str: pa.string(), bool: pa.bool_()}
    kinds = {name: types.get(kind, pa.int64()) for name, kind in _types(records).items()}
    with pq.ParquetWriter(path, pa.schema(list(kinds.items())), compression="zstd") as writer:
        for low in range(0, len(chosen), _BATCH):
            table = _part(records, chosen[low : low + _BATCH])
            arrays = {
                name: pa.array(
                    _replace_huge_integers(values) if pa.types.is_integer(kinds[name]) else values, kinds[name]
                )
                for name, values in table.items()
            }
            writer.write_table(pa.table(arrays))


def _types(records: Records[Any]) -> dict[str, type]:
    """Return the type of each cell: string, bool or integer."""
    result: dict[str, type] = {}
    for field in msgspec.structs.fields(records.kind):
        if field.name in _SIZES:
            result.update(dict.fromkeys(_cells(field.name, []), int))
        else:
            parts = getattr(field.type, "__args__", (field.type,))
            result[field.name] = bool if bool in parts else int if int in parts else str
    return result


_WRITERS = {"csv": _write_csv, "json": _write_json}


def is_tables(path: Path) -> bool:
    """Return whether a directory was written by :func:`write_tables`."""
    return (path / "trace.json").is_file() and (path / "kernels.parquet").is_file()


def read_tables(directory: Path) -> LinkedTrace:
    """Read the trace that :func:`write_tables` wrote to a directory as Parquet files.

    Raises:
        KprofError: if the directory contains no such trace, has another schema, or contains damaged files.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        place = directory / "trace.json"
        about: Any = boundary.json_of(boundary.read_bytes(place), object, str(place), "damaged tables")
        if not isinstance(about, dict) or about.get("schema") != SCHEMA:
            raise InputError(f"not a {SCHEMA} document", path=str(directory), hint="run kprof ingest trace again")
        info = msgspec.convert(about["info"], TraceInfo)
        issues = msgspec.convert(about["issues"], tuple[TraceIssue, ...])
        names = ("kernels", "transfers", "launches", "operators", "frames", "memory")
        trace = LinkedTrace(info, issues=issues)
        targets: tuple[Records[Any], ...] = (
            trace.activities,
            trace.activities,
            trace.launches,
            trace.operators,
            trace.frames,
            trace.memory,
        )
        for name, target in zip(names, targets, strict=True):
            for batch in pq.ParquetFile(directory / f"{name}.parquet").iter_batches(_READ):
                for record in _records(target.kind, batch.to_pydict()):
                    target.append(record)
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", path=str(directory)) from error
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError, pa.ArrowException) as error:
        raise InputError(
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


def _check_indexes(trace: LinkedTrace, directory: Path) -> None:
    """Raise an error if an index is invalid, because indexes from a file are not trusted."""
    launches, operators, python = len(trace.launches), len(trace.operators), len(trace.frames)
    sound = (
        _inside(trace.activities, "launch", launches)
        and _inside(trace.activities, "operator", operators)
        and _inside(trace.launches, "operator", operators)
        and _inside(trace.launches, "frame", python)
        and all(_inside(trace.operators, field, operators) for field in ("parent", "forward"))
        and _inside(trace.operators, "frame", python)
        and _inside(trace.frames, "parent", python)
    )
    if not sound or _has_cycle(trace.operators) or _has_cycle(trace.frames):
        raise InputError("damaged tables: rows refer to rows that do not exist", path=str(directory))


def _inside(table: Records[Any], field: str, rows: int) -> bool:
    column = table.numbers(field).data
    return not len(column) or (min(column) >= -1 and max(column) < rows)


def _has_cycle(table: Records[Any]) -> bool:
    parents = table.numbers("parent").data
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
