"""Damaged and hostile files: one clear message, or a result that says what is wrong with it."""

import gzip
import os
import sqlite3
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs import rocprof

EVERY = [
    "v1/results.csv",
    "v1/counters/counters.csv",
    "v1/results.json",
    "v1/results.db",
    "v2/results_77.csv",
    "v3/kernel_trace_4_registers.csv",
    "v3/counter_collection_4.csv",
    "v3/pivoted.csv",
    "v3/hip_api_trace.csv",
    "v3/pc_sampling_stochastic.csv",
    "v3_json/results.json",
    "rocpd/run.db",
    "omniperf/sysinfo.csv",
    "omniperf/roofline.csv",
    "compute_rocpd/pmc_perf.csv",
]


def outcome(path: Path) -> "rocprof.Data | KprofError":
    """What reading gives; anything but a result or a KprofError fails the test."""
    try:
        data = rocprof.read(path)
        for name in data.names():
            data.table(name)
    except KprofError as error:
        return error
    return data


@pytest.mark.parametrize("name", EVERY)
def test_a_file_cut_anywhere_is_refused_or_flagged(files, tmp_path, name):
    """Cut at some forty places: a shorter result is never passed off as a whole one."""
    whole = (files / name).read_bytes()
    complete = outcome(files / name)
    rows = sum(source.rows for source in complete.sources)
    for at in range(1, len(whole), max(1, len(whole) // 40)):
        path = tmp_path / "cut"
        path.write_bytes(whole[:at])
        result = outcome(path)
        if isinstance(result, rocprof.Data) and sum(source.rows for source in result.sources) < rows:
            ends_on_a_line = whole[at - 1 : at] == b"\n"
            assert result.issues or ends_on_a_line, at


@pytest.mark.parametrize("name", EVERY)
def test_flipped_bytes_never_end_in_a_traceback(files, tmp_path, name):
    """Bytes changed all over the file."""
    whole = bytearray((files / name).read_bytes())
    for at in range(0, len(whole), max(1, len(whole) // 30)):
        changed = bytearray(whole)
        changed[at] ^= 0xA5
        path = tmp_path / "changed"
        path.write_bytes(bytes(changed))
        outcome(path)


@pytest.mark.parametrize("written", [str.upper, str.lower, str.swapcase, str.title])
@pytest.mark.parametrize("name", [name for name in EVERY if name.endswith(".csv")])
def test_capitals_of_a_heading_end_in_no_traceback(files, tmp_path, name, written):
    """What a heading is recognised by and what its columns are read by are the same letters."""
    heading, _, rest = (files / name).read_text(encoding="utf-8-sig").partition("\n")
    path = tmp_path / Path(name).name
    path.write_text(f"{written(heading)}\n{rest}", encoding="utf-8")
    outcome(path)


def test_measured_peaks_are_read_whatever_the_capitals(tmp_path):
    """The three peaks of a device, by their own names."""
    path = tmp_path / "roofline.csv"
    path.write_text("Device,HBMBw,L2Bw,MFMAF16Flops\n0,1,2,3\n")
    peaks = rocprof.read(path).table("peaks")
    assert list(peaks["value"]) == [1.0, 2.0, 3.0]
    assert list(peaks["name"]) == ["HBMBw", "L2Bw", "MFMAF16Flops"]


@settings(max_examples=150)
@given(st.binary(max_size=400))
def test_any_bytes_are_refused_or_read(tmp_path_factory, content):
    """Random content."""
    path = tmp_path_factory.getbasetemp() / "random"
    path.write_bytes(content)
    outcome(path)


@settings(max_examples=150)
@given(st.text(alphabet=',"\n\r0123456789aK\u00e9', max_size=300))
def test_any_records_after_a_heading_are_refused_or_read(tmp_path_factory, records):
    """A proper heading and nonsense below it."""
    heading = "Dispatch_Id,Agent_Id,Grid_Size,Kernel_Name,LDS_Block_Size,VGPR_Count,Workgroup_Size,C\n"
    path = tmp_path_factory.getbasetemp() / "records"
    path.write_bytes((heading + records).encode())
    outcome(path)


def test_a_cut_v3_json_gives_the_records_before_the_cut(files, tmp_path):
    """Cut inside the third dispatch: two are read, and the result says that more are missing."""
    whole = (files / "v3_json/results.json").read_bytes()
    path = tmp_path / "cut.json"
    path.write_bytes(whole[: whole.index(b'"dispatch_id": 3', whole.index(b'"buffer_records": {"kernel')) + 20])
    data = outcome(path)
    assert isinstance(data, rocprof.Data)
    assert data.dispatches["duration_ns"].tolist() == [10_000, 40_000]
    assert data.issues[0].kind == "damaged-json"


def test_a_missing_column_is_named(files, tmp_path):
    """Without Counter_Value or End_Timestamp a file says nothing."""
    for name, column in (
        ("v3/counter_collection_4.csv", "Counter_Value"),
        ("v3/kernel_trace_4_registers.csv", "End_Timestamp"),
    ):
        rows = [
            line.split(",")
            for line in (files / name)
            .read_text()
            .replace("float const*, float*, int", "f")
            .replace("float, 4", "f")
            .splitlines()
        ]
        at = rows[0].index(f'"{column}"')
        path = tmp_path / "less.csv"
        path.write_text("\n".join(",".join(row[:at] + row[at + 1 :]) for row in rows) + "\n")
        error = outcome(path)
        assert isinstance(error, KprofError)
        assert column.replace("_", "").lower() in error.message


def test_gz_of_garbage_and_a_false_gz(tmp_path):
    """Not gzip at all, and gzip of something else."""
    path = tmp_path / "a.csv.gz"
    path.write_bytes(b"\x1f\x8b" + os.urandom(500))
    assert "gzip" in str(outcome(path))
    path.write_bytes(b"plain text")
    assert "not gzip data" in str(outcome(path))
    path.write_bytes(gzip.compress(os.urandom(500)))
    assert "no known measurement" in str(outcome(path))


def test_a_cut_gz_gives_what_could_be_unpacked(files, tmp_path):
    """The beginning is read, and the result says that the end is missing."""
    rows = (files / "v3/counter_collection_4.csv").read_text().splitlines(keepends=True)
    packed = gzip.compress("".join(rows[:1] + rows[1:] * 2000).encode())
    path = tmp_path / "a.csv.gz"
    path.write_bytes(packed[: len(packed) // 2])
    data = outcome(path)
    assert isinstance(data, rocprof.Data)
    assert data.issues[0].kind == "damaged-packing"


def test_unpacking_is_bounded(tmp_path):
    """A bomb is refused long before it fills the memory."""
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"\0" * (8 << 20)))
    with pytest.raises(KprofError, match="unpacks to more than 4 MiB"):
        rocprof.read(path, max_unpacked=4 << 20)


def test_negative_absurd_and_missing_times_give_no_durations(tmp_path):
    """Each is flagged; sums are over the good rows only."""
    heading = (
        "Kind,Agent_Id,Queue_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp,"
        "Workgroup_Size_X,Grid_Size_X,Grid_Size_Z\n"
    )
    times = ["100,90", "100,9000000000000000000", "0,50", "-5,7", ",80", "99999999999999999999,1", "100,160"]
    path = tmp_path / "t.csv"
    path.write_text(heading + "".join(f"K,1,1,1,k,1,{pair},64,64,1\n" for pair in times))
    data = rocprof.read(path)
    assert {issue.kind for issue in data.issues} == {"negative-time", "absurd-time", "unknown-time", "bad-value"}
    assert data.kernels[["calls", "timed_calls", "total_ns"]].to_numpy().tolist() == [[7, 1, 60]]


def test_duplicate_records_are_reported(files, tmp_path):
    """The same dispatch twice, and the same counter value twice."""
    for name, kind in (
        ("v3/kernel_trace_4_registers.csv", "duplicate-records"),
        ("v3/counter_collection_4.csv", "duplicate-counters"),
    ):
        lines = (files / name).read_text().splitlines(keepends=True)
        path = tmp_path / "twice.csv"
        path.write_text("".join([*lines, lines[1]]))
        assert kind in {issue.kind for issue in rocprof.read(path).issues}


def test_a_million_characters_in_one_name(tmp_path):
    """A name of a megabyte is only long."""
    path = tmp_path / "long.csv"
    name = "k" * 1_000_000
    path.write_text(
        "Dispatch_Id,Agent_Id,Grid_Size,Kernel_Name,LDS_Block_Size,VGPR_Count,Workgroup_Size,C\n"
        f"1,1,64,{name},0,8,64,5\n"
    )
    assert rocprof.read(path).dispatches["kernel_name"][0] == name


def test_a_line_break_inside_a_quoted_name(tmp_path):
    """One record on two lines."""
    path = tmp_path / "n.csv"
    path.write_text(
        "Dispatch_Id,Agent_Id,Grid_Size,Kernel_Name,LDS_Block_Size,VGPR_Count,Workgroup_Size,C\n"
        '1,1,64,"f(int, \nint)",0,8,64,5\n2,1,64,g,0,8,64,6\n'
    )
    data = rocprof.read(path)
    assert data.dispatches["kernel_name"].tolist() == ["f(int, int)", "g"]


def test_names_that_are_no_utf8(tmp_path):
    """Bad bytes are replaced, the rest is read."""
    path = tmp_path / "n.csv"
    path.write_bytes(
        b"Dispatch_Id,Agent_Id,Grid_Size,Kernel_Name,LDS_Block_Size,VGPR_Count,Workgroup_Size,C\n"
        b"1,1,64,k\xff\xfe,0,8,64,5\n"
    )
    assert rocprof.read(path).counters["value"].tolist() == [5.0]


def test_sqlite_of_another_schema(tmp_path):
    """Its tables are named, so that the user sees what it is."""
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE songs (title)")
    connection.commit()
    connection.close()
    error = outcome(path)
    assert "not a rocpd" in str(error)
    assert "songs" in str(error)


def test_sqlite_with_a_dispatch_table_that_lacks_columns(tmp_path):
    """An unknown schema version is refused by what is missing."""
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE rocpd_kernel_dispatch (id, agent_id, kernel_id, start)")
    connection.commit()
    connection.close()
    assert "no end" in str(outcome(path))


def test_a_locked_database(files, tmp_path):
    """A writer holds it: said so, not waited for."""
    path = tmp_path / "run.db"
    path.write_bytes((files / "rocpd/run.db").read_bytes())
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    error = outcome(path)
    writer.close()
    assert isinstance(error, KprofError)
    assert "locked" in error.message


def hostile(files: Path, path: Path, *statements: str) -> Path:
    """A copy of the rocpd fixture after some statements of an attacker."""
    path.write_bytes((files / "rocpd/run.db").read_bytes())
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def test_views_of_a_stranger_are_never_run(files, tmp_path):
    """Views that load code, run for ever or give false rows change nothing: only tables are read."""
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS agent_id, "
        'i AS kernel_id, i AS start, i AS "end" FROM n'
    )
    path = hostile(
        files,
        tmp_path / "evil.db",
        "DROP VIEW rocpd_kernel_dispatch",
        f"CREATE VIEW rocpd_kernel_dispatch AS {endless}",
        "CREATE VIEW kernels AS SELECT load_extension('/tmp/evil.so')",
        "CREATE VIEW top_kernels AS SELECT writefile('/tmp/owned', 'x')",
    )
    data = outcome(path)
    assert isinstance(data, rocprof.Data)
    assert data.kernels["total_ns"].sum() == 59_000


def test_a_view_in_the_place_of_a_table_is_not_read(files, tmp_path):
    """A view under a table's own name is not taken for it."""
    name = "rocpd_kernel_dispatch_00000a10_7bc0_7bc0_a1ef_6b94d43555c0"
    path = hostile(
        files,
        tmp_path / "evil.db",
        f"ALTER TABLE {name} RENAME TO hidden",
        "DROP VIEW rocpd_kernel_dispatch",
        f"CREATE VIEW {name} AS SELECT * FROM hidden",
    )
    assert isinstance(outcome(path), KprofError)


def test_generated_columns_are_never_computed(files, tmp_path):
    """A column that is an expression of the file's is not taken for stored data."""
    name = "rocpd_kernel_dispatch_00000a10_7bc0_7bc0_a1ef_6b94d43555c0"
    path = hostile(
        files,
        tmp_path / "evil.db",
        f'ALTER TABLE {name} RENAME COLUMN "end" TO "real_end"',
        f'ALTER TABLE {name} ADD COLUMN "end" AS (length(hex(zeroblob(1000000))))',
    )
    error = outcome(path)
    assert isinstance(error, KprofError)
    assert "has no end" in error.message


def test_the_guard_refuses_everything_but_reading(files):
    """Writing, attaching, extensions, files and foreign functions."""
    from kprof.inputs.rocprof.database import opened

    path = files / "rocpd/run.db"
    for statement in (
        "DELETE FROM rocpd_metadata",
        "ATTACH '/etc/passwd' AS p",
        "SELECT load_extension('x')",
        "PRAGMA writable_schema = ON",
        "CREATE TABLE t (x)",
        "SELECT randomblob(9)",
    ):
        with pytest.raises(KprofError), opened(path) as connection:
            connection.execute(statement).fetchall()


def test_a_query_that_takes_too_long_is_stopped(files):
    """The clock stops it."""
    from kprof.inputs.rocprof.database import opened

    tables = ", ".join(f"sqlite_master AS t{n}" for n in range(12))
    with pytest.raises(KprofError, match="too long"), opened(files / "rocpd/run.db", max_seconds=0.2) as connection:
        connection.execute(f"SELECT count(*) FROM {tables}").fetchall()


def test_texts_where_numbers_belong_in_a_database(files, tmp_path):
    """SQLite stores anything anywhere: such times are missing, and flagged."""
    name = "rocpd_kernel_dispatch_00000a10_7bc0_7bc0_a1ef_6b94d43555c0"
    path = hostile(files, tmp_path / "odd.db", f"UPDATE {name} SET \"end\" = 'soon' WHERE dispatch_id = 2")
    data = outcome(path)
    assert isinstance(data, rocprof.Data)
    assert data.kernels.set_index("kernel_name")["timed_calls"].to_dict()["gemm_kernel"] == 0
    assert data.issues


def test_a_write_ahead_log_beside_the_file_is_reported(files, tmp_path):
    """Nothing is written beside the database, and what the log holds is not passed over in silence."""
    path = tmp_path / "wal.db"
    path.write_bytes((files / "rocpd/run.db").read_bytes())
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE more (x)")
    writer.commit()
    before = sorted(p.name for p in tmp_path.iterdir())
    data = outcome(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    writer.close()
    assert isinstance(data, rocprof.Data)
    assert "unmerged-log" in {issue.kind for issue in data.issues}


def test_reading_leaves_no_trace(files, tmp_path):
    """Input folders are never written to."""
    import shutil

    shutil.copytree(files, tmp_path / "in")
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "in").rglob("*")}
    outcome(tmp_path / "in")
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "in").rglob("*")} == before


def test_folders_with_other_things_in_them(tmp_path, files):
    """What is no measurement is named and left out; nothing at all is an error."""
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(KprofError, match="no measurement"):
        rocprof.read(tmp_path)
    (tmp_path / "r.csv").write_bytes((files / "v1/results.csv").read_bytes())
    data = rocprof.read(tmp_path)
    assert [issue.kind for issue in data.issues] == ["not-a-measurement"]


def test_missing_and_special_files(tmp_path):
    """Nothing there, an empty file, a FIFO that would block."""
    assert "no such file" in str(outcome(tmp_path / "none"))
    (tmp_path / "empty").write_bytes(b"")
    assert "empty" in str(outcome(tmp_path / "empty"))
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "fifo")
        assert "regular file" in str(outcome(tmp_path / "fifo"))


def test_a_pytorch_trace_is_sent_to_the_right_command(tmp_path):
    """It is not mistaken for rocprof's JSON."""
    path = tmp_path / "trace.json"
    path.write_text(
        '{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [{"ph": "X", "name": "k", "args": {}}]}'
    )
    assert "ingest trace" in str(outcome(path))
