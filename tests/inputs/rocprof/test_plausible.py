"""Numbers that no GPU can have had are in no sum, and are said with their place."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kprof.hardware.machine import architectures, load
from kprof.inputs import rocprof
from kprof.inputs.rocprof.model import FileTables, ProfileFile
from kprof.inputs.rocprof.plausible import drop_counters, ranges, without_impossible

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
    row = f"1,0,1024,{most['workgroup_work_items'][1]},{most['lds_bytes'][1]},{most['vgprs'][1]},k,1,2,8,1"
    data = made(row)
    assert data.issues == []
    assert most["lds_bytes"][1] >= 320 << 10


def part(**tables):
    """What a file gave: columns by table."""
    return FileTables(
        ProfileFile("run.csv", "rocprof", "a form"),
        {n: {c: np.asarray(v) for c, v in t.items()} for n, t in tables.items()},
    )


def test_what_an_architecture_can_have_is_that_of_its_file():
    """Registers of a file, lanes, a workgroup, LDS; sizes of a grid are those of a dispatch packet."""
    machine = load("gfx942")
    found = ranges("gfx942")
    assert found == {
        "vgprs": (0, max(file.total for file in machine.occupancy.vgprs.values())),
        "agprs": (0, max(file.total for file in machine.occupancy.vgprs.values())),
        "sgprs": (0, machine.occupancy.sgprs_total or machine.occupancy.max_sgprs),
        "lds_bytes": (0, machine.lds.bytes_per_cu),
        "wavefront_size": (0, 64),
        "scratch_bytes": (0, 4294967295),
        "workgroup_work_items": (0, 1024),
        "workgroup_x": (0, 1024), "workgroup_y": (0, 1024), "workgroup_z": (0, 1024),
        "grid_x": (0, 4294967295), "grid_y": (0, 4294967295), "grid_z": (0, 4294967295),
        "grid_work_items": (0, 4611686018427387904),
    }  # fmt: skip


def test_any_architecture_is_the_widest_of_all():
    """Of each column the most that one of them has; WGPs have the LDS of two CUs."""
    all_of_them = [ranges(name) for name in architectures()]
    assert ranges() == {name: (0, max(one[name][1] for one in all_of_them)) for name in ranges()}
    assert ranges("gfx942", "gfx1201")["lds_bytes"] == (0, load("gfx1201").lds.bytes_per_wgp)
    assert ranges("gfx942", "gfx1201")["wavefront_size"] == (0, 64)
    assert ranges("gfx1201", "gfx942")["sgprs"][1] == max(ranges(n)["sgprs"][1] for n in ("gfx942", "gfx1201"))


@pytest.mark.parametrize("name", sorted(ranges()))
def test_the_edges_of_every_column(name):
    """The greatest of any architecture and nothing at all are values; one more and one less are not."""
    low, high = ranges()[name]
    assert low == 0
    kept = part()
    assert without_impossible({name: np.array([low, high])}, kept)[name].tolist() == [low, high]
    assert kept.issues == []
    found = part()
    columns = without_impossible({name: np.array([1, -1, high + 1, 1]), "kernel": ["a", "b", "c", "d"]}, found)
    assert columns[name].isna().tolist() == [False, True, True, False]
    assert columns["kernel"] == ["a", "b", "c", "d"]
    (issue,) = found.issues
    assert (issue.kind, issue.severity, issue.record, issue.count) == ("impossible-value", "error", 2, 2)
    assert issue.message == (
        f"column {name}: 2 values are outside 0 to {high:,}, the range of all known GPUs, for example -1: treated as "
        "missing"
    )


def test_what_the_usual_architecture_cannot_have_and_another_can_is_kept():
    """gfx950 has more LDS than gfx942, and columns behind it are looked at."""
    assert ranges("gfx950")["lds_bytes"][1] > ranges("gfx942")["lds_bytes"][1]
    found = part()
    columns = {"lds_bytes": np.array([ranges("gfx950")["lds_bytes"][1]]), "grid_work_items": np.array([-7])}
    assert without_impossible(columns, found)["lds_bytes"].tolist() == [ranges("gfx950")["lds_bytes"][1]]
    (issue,) = found.issues
    assert issue.message.startswith("column grid_work_items: 1 value is outside 0 to ")
    assert issue.record == 1


def test_missing_values_and_columns_are_no_issue():
    """A column may have gaps, or no row."""
    found = part()
    gaps = pd.array([1, None, 64], dtype="Int64")
    columns = without_impossible({"vgprs": gaps, "sgprs": np.array([], dtype=int)}, found)
    assert columns["vgprs"].isna().tolist() == [False, True, False]
    assert found.issues == []
    bad = without_impossible({"vgprs": pd.array([None, 10**6], dtype="Int64")}, found)["vgprs"]
    assert bad.isna().tolist() == [True, True]
    assert found.issues[0].record == 2


def counters(*values, **more):
    """A part with one counter a row."""
    names = [f"C{i % 7}" for i in range(len(values))]
    table = {"counter": names, "value": list(values), "dispatch": list(range(len(values)))} | more
    return part(counters=table)


def test_the_edges_of_counters():
    """63 bits are the most, and nothing is a value."""
    good = counters(0.0, float(2**63 - 1024), 1.0)
    drop_counters(good)
    assert good.issues == []
    assert good.tables["counters"]["value"].tolist() == [0.0, float(2**63 - 1024), 1.0]
    for empty in (part(), part(counters={"counter": [], "value": []})):
        drop_counters(empty)
        assert empty.issues == []


def test_counters_that_are_taken_out_are_named():
    """Up to five names, sorted; the first value; the dispatch as the file numbers it, else by its place."""
    one = counters(1.0, float(2**63), 2.0)
    drop_counters(one)
    assert one.tables["counters"]["value"].tolist() == [1.0, 2.0]
    assert one.tables["counters"]["counter"].tolist() == ["C0", "C2"]
    (issue,) = one.issues
    assert (issue.kind, issue.severity, issue.count) == ("impossible-counter", "error", 1)
    assert issue.message == (
        "1 counter value is negative, not finite or all ones (C1) and in no sum; the first is C1 = 9.22337e+18 of "
        "dispatch 2 of the file"
    )
    more = counters(*[float("nan")] * 5, -1.5, -2.0, 3.0, dispatch_id=list(range(70, 78)))
    drop_counters(more)
    assert more.tables["counters"]["value"].tolist() == [3.0]
    assert more.issues[0].message == (
        "7 counter values are negative, not finite or all ones (C0, C1, C2, C3, C4) and in no sum; the first is C0 = "
        "nan of dispatch 70"
    )
    long = counters(-1.0, counter=["N" * 80])
    drop_counters(long)
    assert f"({'N' * 60})" in long.issues[0].message


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
