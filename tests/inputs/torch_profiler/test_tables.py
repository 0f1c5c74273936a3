"""Tables written once answer as the trace does; damaged ones are refused."""

import csv
import json

import pytest

from kprof.errors import KprofError
from kprof.inputs.torch_profiler import load
from kprof.inputs.torch_profiler.tables import columns, frames, is_tables, read_tables, write_tables


@pytest.fixture
def trace(tmp_path, kineto):
    """A small model's trace with a copy and a collective that names itself."""
    builder = kineto.small_model(kineto.Builder())
    builder.kernel("Memcpy HtoD (Host -> Device)", 5000.0, 3.0, 800, cat="gpu_memcpy", bytes=4096)
    builder.kernel(
        "ncclDevKernel", 6000.0, 3.0, 801, **{"Collective name": "allreduce", "Group size": 8, "dtype": "Float"}
    )
    return load(builder.write(tmp_path / "t.json"))


def test_parquet_gives_the_trace_back(tmp_path, trace):
    """Every record, link and issue survives."""
    write_tables(trace, tmp_path / "out", "parquet")
    again = read_tables(tmp_path / "out")

    kernels = [a for a in trace.activities if a.kind == "kernel"]
    transfers = [a for a in trace.activities if a.kind != "kernel"]
    assert is_tables(tmp_path / "out")
    assert again.activities == kernels + transfers
    assert (again.launches, again.operators, again.frames) == (trace.launches, trace.operators, trace.frames)
    assert (again.info, again.issues) == (trace.info, trace.issues)


def test_csv_and_json_hold_the_same_rows(tmp_path, trace):
    """Read with csv and json alone."""
    write_tables(trace, tmp_path / "c", "csv")
    write_tables(trace, tmp_path / "j", "json")

    with (tmp_path / "c" / "kernels.csv").open(newline="", encoding="utf-8") as file:
        from_csv = list(csv.DictReader(file))
    from_json = json.loads((tmp_path / "j" / "kernels.json").read_text())
    kernels = [a for a in trace.activities if a.kind == "kernel"]
    assert [(r["name"], int(r["duration_ns"])) for r in from_csv] == [(k.name, k.duration_ns) for k in kernels]
    assert [(r["name"], r["duration_ns"]) for r in from_json] == [(k.name, k.duration_ns) for k in kernels]
    assert from_csv[0]["workgroups_x"] == str(kernels[0].workgroups[0])
    assert json.loads((tmp_path / "c" / "trace.json").read_text())["schema"] == "kprof.trace/1"


def test_pandas_frames(trace):
    """Whole numbers stay whole where some are unknown; communications are their own table."""
    tables = frames(trace)

    assert str(tables["kernels"]["workgroups_x"].dtype) == "Int64"
    assert tables["kernels"]["duration_ns"].sum() == sum(a.duration_ns for a in trace.activities if a.kind == "kernel")
    assert tables["communications"]["collective"].tolist() == ["allreduce"]
    assert tables["transfers"]["bytes"].tolist() == [4096]


def test_columns_are_equally_long(trace):
    """Of every table, also the empty ones."""
    for table in columns(trace).values():
        assert len({len(values) for values in table.values()}) == 1


def test_damaged_tables_are_refused(tmp_path, trace):
    """A wrong schema, a missing or cut file, and rows that point nowhere."""
    trace.activities.update(0, launch=10_000)
    write_tables(trace, tmp_path / "points", "parquet")
    with pytest.raises(KprofError, match="rows that do not exist"):
        read_tables(tmp_path / "points")
    trace.activities.update(0, launch=0)
    trace.operators.update(0, parent=1)
    trace.operators.update(1, parent=0)
    write_tables(trace, tmp_path / "cycle", "parquet")
    with pytest.raises(KprofError, match="rows that do not exist"):
        read_tables(tmp_path / "cycle")
    trace.operators.update(0, parent=-1)
    trace.operators.update(1, parent=-1)
    write_tables(trace, tmp_path / "cut", "parquet")
    whole = (tmp_path / "cut" / "kernels.parquet").read_bytes()
    (tmp_path / "cut" / "kernels.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(KprofError, match=r"damaged|cannot read"):
        read_tables(tmp_path / "cut")
    (tmp_path / "cut" / "trace.json").write_text('{"schema": "other/9"}')
    with pytest.raises(KprofError, match=r"not a kprof\.trace/1 document"):
        read_tables(tmp_path / "cut")


def test_an_unknown_format_is_refused(tmp_path, trace):
    """Before anything is written."""
    with pytest.raises(KprofError, match="no format"):
        write_tables(trace, tmp_path / "x", "xlsx")
    assert not (tmp_path / "x").exists()


def test_numbers_beyond_64_bits_are_told_and_missing(tmp_path):
    """In pandas and Parquet, which have no such numbers; the records and the texts keep them."""
    events = [
        {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10 * n, "dur": 5,
         "args": {"device": 0, "correlation": number}}
        for n, number in enumerate([1 << 70, -1, 5, (1 << 64) - 1])
    ]  # fmt: skip
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    trace = load(path)
    assert [(i.kind, i.count) for i in trace.issues if i.kind == "huge-integer"] == [("huge-integer", 2)]
    assert trace.activities.values("correlation") == [1 << 70, -1, 5, (1 << 64) - 1]
    write_tables(trace, tmp_path / "out", "parquet")
    assert read_tables(tmp_path / "out").activities.values("correlation") == [None, -1, 5, None]
    assert frames(trace)["kernels"]["correlation"].isna().tolist() == [True, False, False, True]
