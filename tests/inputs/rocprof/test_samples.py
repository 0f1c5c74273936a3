"""Published measurement files: totals against sqlite3, csv and json read on their own."""

import csv
import gzip
import json
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from kprof.inputs import rocprof


def rows_of(path: Path) -> list[dict[str, str]]:
    """A CSV read by the standard library."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def by_kernel(rows, name, start, end):
    """Calls and ns by normalised kernel name."""
    calls, total = Counter(), Counter()
    for row in rows:
        kernel = rocprof.normalise(row[name])
        calls[kernel] += 1
        total[kernel] += int(row[end]) - int(row[start])
    return dict(calls), dict(total)


@pytest.mark.parametrize(
    ("name", "kernel", "start", "end"),
    [
        ("rocprof_v1/llamacpp_gfx1201/results.csv", "KernelName", "BeginNs", "EndNs"),
        ("rocprof_v1/finite_difference_gfx90a/results.csv", "KernelName", "BeginNs", "EndNs"),
        ("rocprof_v2/results_430889.csv", "Kernel_Name", "Start_Timestamp", "End_Timestamp"),
        ("rocprof_v3/llamacpp_gfx1151/prefill_kernel_trace.csv", "Kernel_Name", "Start_Timestamp", "End_Timestamp"),
        ("rocprof_v3/llamacpp_gfx1151/decode_kernel_trace.csv", "Kernel_Name", "Start_Timestamp", "End_Timestamp"),
        ("rocprof_v3/moe_gfx942_wide/mi300_moe_target_traces.csv", "Kernel_Name", "Start_Timestamp", "End_Timestamp"),
        ("rocprof_v3/docs_examples/kernel_trace.csv", "Kernel_Name", "Start_Timestamp", "End_Timestamp"),
    ],
)
def test_calls_and_durations_by_kernel_equal_the_csv(shared, name, kernel, start, end):
    """Calls and total ns of every kernel."""
    path = shared / "samples" / name
    calls, total = by_kernel(rows_of(path), kernel, start, end)
    table = rocprof.read(path).kernels.groupby("kernel_name")[["calls", "total_ns"]].sum()
    assert table["calls"].to_dict() == calls
    assert table["total_ns"].to_dict() == total


def test_calls_and_durations_by_agent_equal_the_csv(shared):
    """Two GPUs kept apart."""
    path = shared / "samples/rocprof_v3/moe_gfx942_wide/mi300_moe_target_traces.csv"
    total = Counter()
    for row in rows_of(path):
        total[int(row["Agent_Id"].removeprefix("Agent "))] += int(row["End_Timestamp"]) - int(row["Start_Timestamp"])
    assert rocprof.read(path).kernels.groupby("agent")["total_ns"].sum().to_dict() == dict(total)
    assert len(total) == 2


@pytest.mark.parametrize(
    "name",
    [
        "llamacpp_gfx1151/prefill_stall_counter_collection.csv",
        "llamacpp_gfx1151/decode_fetch_counter_collection.csv",
        "docs_examples/counter_collection.csv",
        "docs_examples_2024-10/counter_collection.csv",
    ],
)
def test_sums_of_long_counters_equal_the_csv(shared, name):
    """By kernel and counter."""
    path = shared / "samples/rocprof_v3" / name
    sums = Counter()
    for row in rows_of(path):
        sums[row["Kernel_Name"], row["Counter_Name"]] += float(row["Counter_Value"])
    table = rocprof.read(path).counters
    ours = table.groupby([table["kernel_name"].astype(str), table["counter"].astype(str)])["value"].sum()
    assert ours.to_dict() == pytest.approx(dict(sums))


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("rocprof_v3/moe_gfx942_wide/mi300_moe_target_counters.csv", "FETCH_SIZE"),
        (
            "rocprof_v1/finite_difference_gfx90a/.xr/09-11-2023_18_57_23_laplacian_dp_kernel1/data_movement.csv",
            "FETCH_SIZE",
        ),
        ("rocprof_compute/rocm-systems_3.x/no_roof/MI350/pmc_perf_0.csv", "CPC_CPC_UTCL2IU_BUSY"),
    ],
)
def test_sums_of_wide_counters_equal_the_csv(shared, name, first):
    """Every counter column, from the first counter to the last."""
    path = shared / "samples" / name
    rows = rows_of(path)
    names = list(rows[0])
    wanted = [n for n in names[names.index(first) :] if not n.endswith(("Ns", "Timestamp"))]
    sums = {n: sum(float(row[n]) for row in rows if row[n]) for n in wanted}
    table = rocprof.read(path).counters
    text = table["counter"].astype(str)
    text = text.where(table["instance"] < 0, text + "[" + table["instance"].astype(str) + "]")
    assert table.groupby(text)["value"].sum().to_dict() == pytest.approx(sums)


def test_rocpd_equals_sqlite(shared):
    """Calls and ns by kernel and agent, without and with loading the rows."""
    path = shared / "samples/rocpd/llamacpp_gfx1201/32432_results.db"
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    query = (
        'SELECT s.display_name, a.absolute_index, count(*), sum(k."end" - k.start) FROM rocpd_kernel_dispatch k '
        "JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id JOIN rocpd_info_agent a ON a.id = k.agent_id "
        "GROUP BY 1, 2"
    )
    expected = {
        (rocprof.normalise(name), agent): (calls, total) for name, agent, calls, total in connection.execute(query)
    }
    connection.close()
    data = rocprof.read(path)
    ours = {(r.kernel_name, r.agent): (r.calls, r.total_ns) for r in data.kernels.itertuples()}
    assert ours == expected
    rows = data.dispatches.groupby([data.dispatches["kernel_name"].astype(str), "agent"])["duration_ns"].agg(
        ["size", "sum"]
    )
    assert {key: (int(r["size"]), int(r["sum"])) for key, r in rows.iterrows()} == expected


def test_v3_json_equals_json(shared):
    """43,915 dispatches on eight GPUs."""
    path = shared / "samples/rocprof_v3/training_gfx950_json/908_results.json.gz"
    with gzip.open(path) as file:
        tool = json.load(file)["rocprofiler-sdk-tool"][0]
    names = {k["kernel_id"]: k["formatted_kernel_name"] for k in tool["kernel_symbols"]}
    nodes = {a["id"]["handle"]: a["logical_node_id"] for a in tool["agents"]}
    expected = Counter()
    for record in tool["buffer_records"]["kernel_dispatch"]:
        info = record["dispatch_info"]
        key = (rocprof.normalise(names[info["kernel_id"]]), nodes[info["agent_id"]["handle"]])
        expected[key] += record["end_timestamp"] - record["start_timestamp"]
    table = rocprof.read(path).kernels
    assert table["calls"].sum() == 43_915
    assert {(r.kernel_name, r.agent): r.total_ns for r in table.itertuples()} == dict(expected)


def test_all_forms_of_one_v1_run_are_counted_once(shared):
    """CSV, JSON, database and stats of the same 1,963 dispatches."""
    data = rocprof.read(shared / "samples/rocprof_v1/llamacpp_gfx1201")
    assert len(data.dispatches) == 1963
    assert sum(source.same_as is not None for source in data.sources) == 2
    assert "stats-disagree" not in {issue.kind for issue in data.issues}


def test_the_glued_records_are_reported_and_2893_kept(shared):
    """Record 2598 of both files."""
    data = rocprof.read(shared / "samples/rocprof_v3/moe_gfx942_glued_rows")
    glued = [issue for issue in data.issues if issue.kind == "glued-records"]
    assert [issue.record for issue in glued] == [2598, 2598]
    assert {source.rows for source in data.sources} == {2893}


@pytest.mark.parametrize("name", ["rocprof_v1", "rocprof_v2", "rocprof_v3", "rocpd", "rocprof_compute", "rocminfo"])
def test_every_sample_is_read(shared, name):
    """No measurement file is left out or damaged; only notes, logs and inputs of other tools are."""
    data = rocprof.read(shared / "samples" / name)
    left_out = {Path(i.path).name for i in data.issues if i.kind in {"not-a-measurement", "unreadable"}}
    assert all(
        n in {"cmd", "study", "log.txt", "list-avail.txt", "rocm-smi.txt", "1.1.csv", "profiling_config.yaml"}
        or n.endswith((".json", ".yaml"))
        for n in left_out
    ), left_out
    assert sum(source.rows for source in data.sources) > 0
