"""The tables of rocprof v1's results.db that a trace has: HIP, HSA, rocTX, OPS and COPY."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from kprof.inputs import rocprof


@pytest.fixture
def database(files, tmp_path) -> Path:
    """A copy of the trace's database that may be changed."""
    path = tmp_path / "results.db"
    shutil.copy(files / "v1/trace/results.db", path)
    return path


def change(path: Path, *statements: str) -> None:
    """Run statements on the copy."""
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_operations_are_dispatches(files):
    """Each kernel of OPS is a dispatch with its agent, queue and times; the barrier is left out and told."""
    data = rocprof.read(files / "v1/trace")
    table = data.dispatches
    assert table["duration_ns"].tolist() == [10_000, 40_000, 9_000]
    assert table["kernel_name"].tolist()[1] == "gemm_kernel"
    assert table["agent"].tolist() == [0, 0, 0]
    assert table["correlation_id"].tolist() == [3, 4, 5]
    assert table["grid_work_items"].isna().all()
    assert data.kernels["total_ns"].sum() == 59_000
    assert "barriers-left-out" in {issue.kind for issue in data.issues}


def test_copies_are_copies(files):
    """They are no calls, and their unknown size is not 0."""
    table = rocprof.read(files / "v1/trace").copies
    assert table[["direction", "start_ns", "duration_ns"]].to_numpy().tolist() == [["CopyHostToDevice", 993_500, 2000]]
    assert "bytes" not in table or table["bytes"].isna().all()


def test_calls_have_a_domain_and_join_what_they_started(files):
    """Counts and times by domain equal plain SQL; a launch has the correlation of its dispatch."""
    data = rocprof.read(files / "v1/trace")
    calls = data.table("api_calls")
    connection = sqlite3.connect(files / "v1/trace/results.db")
    for table, domain in (("HIP", "HIP_API"), ("HSA", "HSA_API"), ("rocTX", "MARKER_API")):
        count, total = connection.execute(f"SELECT count(*), sum(EndNs - BeginNs) FROM {table}").fetchone()
        own = calls[calls["domain"] == domain]
        assert (len(own), own["duration_ns"].sum()) == (count, total)
    connection.close()
    launches = calls[calls["function"] == "hipLaunchKernel"]["correlation_id"]
    assert sorted(launches) == sorted(data.dispatches["correlation_id"])
    assert "training, step 1" in calls["function"].tolist()
    assert data.sources[0].rows == 3 + 1 + 7


def test_dispatches_in_both_tables_are_counted_once(files, database):
    """KERN tells more; OPS beside it is named, not added."""
    source = sqlite3.connect(files / "v1/results.db")
    rows = source.execute("SELECT * FROM KERN").fetchall()
    statement = source.execute("SELECT sql FROM sqlite_master WHERE name = 'KERN'").fetchone()[0]
    source.close()
    connection = sqlite3.connect(database)
    connection.execute(statement)
    connection.executemany(f"INSERT INTO KERN VALUES ({', '.join('?' * len(rows[0]))})", rows)
    connection.commit()
    connection.close()
    data = rocprof.read(database)
    assert data.kernels["calls"].sum() == 3
    assert data.dispatches["grid_work_items"].tolist() == [4096, 8192, 4096]
    assert "same-dispatches" in {issue.kind for issue in data.issues}


def test_older_columns(database):
    """The first versions had neither stream, marker range nor data in OPS."""
    change(database, *(f'ALTER TABLE OPS DROP COLUMN "{name}"' for name in ("stream-id", "roctx-range", "Data")))
    assert rocprof.read(database).dispatches["duration_ns"].tolist() == [10_000, 40_000, 9_000]


def test_a_table_without_times_is_named(database):
    """What cannot be used is not dropped in silence."""
    change(database, 'ALTER TABLE HIP DROP COLUMN "EndNs"')
    data = rocprof.read(database)
    assert [i.message for i in data.issues if i.kind == "unknown-table"] == ["table HIP has no endns: not read"]
    assert set(data.table("api_calls")["domain"]) == {"HSA_API", "MARKER_API"}


def test_odd_values(database):
    """A text for a time and a missing name are flagged or missing; the rest is read."""
    change(database, "UPDATE HIP SET EndNs = 'soon' WHERE Name = 'hipMalloc'", "UPDATE COPY SET Name = NULL")
    data = rocprof.read(database)
    assert {"bad-value", "unknown-time"} <= {issue.kind for issue in data.issues}
    assert data.copies["direction"].isna().all()
    calls = data.table("api_calls")
    assert calls[calls["function"] == "hipMalloc"]["duration_ns"].isna().all()
