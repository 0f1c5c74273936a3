"""Numbers that no GPU can have had are in no sum, and are said with their place."""

import gzip
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.inputs import rocprof
from kprof.inputs.rocprof.plausible import ranges

ROOT = Path(__file__).resolve().parents[3]
HEADING = (
    "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Arch_VGPR,Kernel_Name,Start_Timestamp,"
    "End_Timestamp,SQ_WAVES,GRBM_GUI_ACTIVE\n"
)


@pytest.fixture
def made(tmp_path):
    """A file with these dispatches, read."""

    def make(*rows):
        path = tmp_path / "c.csv"
        path.write_text(HEADING + "".join(row + "\n" for row in rows))
        return rocprof.read(path)

    return make


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "18446744073709551615", "-3", "1e300"])
def test_counters_that_cannot_be(made, value):
    """The value is left out and told; the others are summed."""
    data = made(f"1,0,1024,256,0,64,k,100,200,{value},5", "2,0,1024,256,0,64,k,300,400,8,7")
    sums = data.counters.groupby("counter", observed=True)["value"].sum()
    assert sums.to_dict() == {"SQ_WAVES": 8.0, "GRBM_GUI_ACTIVE": 12.0}
    if value == "nan":
        assert [(i.kind, i.count) for i in data.issues] == [("missing-values", 1)]
        return
    (issue,) = data.issues
    assert (issue.kind, issue.severity, issue.count) == ("impossible-counter", "error", 1)
    assert "SQ_WAVES" in issue.message
    assert "of dispatch 1" in issue.message


@pytest.mark.parametrize(
    ("column", "place", "value"),
    [("vgprs", 5, "1000000"), ("lds_bytes", 4, "-1"), ("lds_bytes", 4, "400000"), ("workgroup_work_items", 3, "5000")],
)
def test_resources_that_no_gpu_has(made, column, place, value):
    """Missing, not zero, and told with the record."""
    row = ["2", "0", "1024", "256", "0", "64", "k", "300", "400", "8", "7"]
    good, bad = ",".join(row), ",".join([*row[:place], value, *row[place + 1 :]])
    data = made(good, bad.replace("2,", "3,", 1))
    assert data.dispatches[column].isna().tolist() == [False, True]
    (issue,) = data.issues
    assert (issue.kind, issue.record, issue.count) == ("impossible-value", 2, 1)
    assert f"{int(value):,}" in issue.message


def test_what_gpus_have_is_left_alone(made):
    """The greatest of each is no issue."""
    most = ranges()
    row = f"1,0,1024,{most['workgroup_work_items'][1]},{most['lds_bytes'][1]},{most['vgprs'][1]},k,1,2,0,1"
    data = made(row)
    assert data.issues == []
    assert most["lds_bytes"][1] >= 320 << 10


def test_the_answer_begins_with_what_is_in_no_sum(kprof, made, tmp_path):
    """It is not only said at the end."""
    made("1,0,1024,256,-1,1000000,k,100,200,inf,5")
    ran = kprof("ingest", "counters", tmp_path / "c.csv")
    assert ran.out.startswith("3 values or records could not be used and are in no sum")
    assert ran.out.splitlines()[-1].endswith("3 errors")


DATABASE = ROOT / "tests" / "artifacts" / "rocprof" / "rocpd" / "run.db"
LAST = 'WHERE id = (SELECT max(id) FROM "{table}")'


@pytest.fixture
def database(tmp_path):
    """The database of a run with one statement done to a table of it."""

    def changed(prefix, statement):
        path = tmp_path / "run.db"
        shutil.copy(DATABASE, path)
        with closing(sqlite3.connect(path)) as connection:
            names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            table = next(name for (name,) in names if name.startswith(prefix))
            connection.execute(statement.format(table=table))
            connection.commit()
        return path

    return changed


@pytest.mark.parametrize(
    ("change", "issue", "timed"),
    [
        ('"end" = start + 1000000000000000000 ' + LAST, ("absurd-time", 1), 2),
        ('"end" = 9000000000000000000', ("absurd-time", 3), 0),
        ("\"end\" = 'soon' " + LAST, ("unknown-time", 1), 2),
        ("start = NULL " + LAST, ("unknown-time", 1), 2),
        ('"end" = start - 5 ' + LAST, ("negative-time", 1), 2),
    ],
)
def test_sums_of_a_database_leave_out_times_that_cannot_be(database, change, issue, timed):
    """The table of kernels is one sum in SQL: what is wrong is said with it, not only with the rows."""
    data = rocprof.read(database("rocpd_kernel_dispatch", f'UPDATE "{{table}}" SET {change}'))
    kernels = data.kernels
    assert [(found.kind, found.count) for found in data.issues] == [issue]
    assert (kernels["calls"].sum(), kernels["timed_calls"].sum()) == (3, timed)
    durations = data.dispatches["duration_ns"]
    assert kernels["total_ns"].sum() == durations.sum()
    assert durations.notna().sum() == timed


@pytest.mark.parametrize("value", ["-1", "18446744073709551615.0", "9e999", "'many'"])
def test_an_instance_that_cannot_be_does_not_hide_in_a_sum(database, value):
    """One channel of TCC_MISS: no sum of the others is given out for the whole."""
    sound = rocprof.read(DATABASE).counters
    data = rocprof.read(database("rocpd_pmc_event", f'UPDATE "{{table}}" SET value = {value} {LAST}'))
    assert data.counters.shape[0] == sound.shape[0] - 1
    (issue,) = data.issues
    assert (issue.kind, issue.count) == ("impossible-counter", 1)
    assert "TCC_MISS" in issue.message


def test_a_packed_file_takes_no_more_than_its_share_of_memory(tmp_path):
    """A few megabytes that unpack to gigabytes: refused in words, before it has a gigabyte."""
    path = tmp_path / "bomb.csv.gz"
    row = b"1,0,1024,256,0,64,k,100,200,8,5\n"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(HEADING.encode())
        for _ in range(40):
            file.write(row * (5 << 20 >> 5))
    assert path.stat().st_size < 1 << 20

    code = (
        # Not ru_maxrss: that begins with what the process that started this one had.
        "import re, sys\nfrom kprof.inputs import rocprof\n"
        "try:\n    rocprof.read(sys.argv[1])\n"
        "finally:\n    print(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False, cwd=ROOT)
    assert int(ran.stdout) < 700 << 10
    assert "unpacks to more than 64 MiB, 100 times its own" in ran.stderr
    assert "KPROF_INPUT_RATIO=1000" in ran.stderr


def test_the_limits_can_be_raised(tmp_path, monkeypatch):
    """By ratio and by size; what is no size is said."""
    path = tmp_path / "c.csv.gz"
    path.write_bytes(gzip.compress((HEADING + "1,0,1024,256,0,64,k,100,200,8,5\n" * 3_000_000).encode(), 1))
    with pytest.raises(KprofError, match="times its own"):
        rocprof.read(path)
    monkeypatch.setenv("KPROF_INPUT_RATIO", "1000")
    monkeypatch.setenv("KPROF_INPUT_LIMIT", "80M")
    with pytest.raises(KprofError, match="unpacks to more than 80 MiB") as caught:
        rocprof.read(path)
    assert "KPROF_INPUT_LIMIT" in caught.value.hint
    monkeypatch.setenv("KPROF_INPUT_LIMIT", "much")
    with pytest.raises(KprofError, match="KPROF_INPUT_LIMIT is no size: 'much'"):
        rocprof.read(path)
