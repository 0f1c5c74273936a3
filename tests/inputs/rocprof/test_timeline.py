"""rocprofv3's files as linked timelines: the made-up run in each of its forms."""

import gzip
import json
import re
import shutil
import sqlite3
from contextlib import closing

import pytest

from kprof import (
    trace_breakdown,
    trace_diff,
    trace_gaps,
    trace_ops,
    trace_path,
    trace_ranks,
    trace_steps,
    trace_summary,
    trace_top,
    trace_tree,
)
from kprof.inputs import rocprof
from kprof.inputs.completeness import headline
from kprof.inputs.rocprof.timeline import is_timeline, load_timeline

QUESTIONS = (trace_breakdown, trace_top, trace_gaps, trace_tree, trace_path, trace_steps, trace_ranks, trace_ops)
MARKED = '{"message": "prefill"}'
FORMS = ("rocpd/run.db", "v3_json/results.json", "v3/kernel_trace_3_streams.csv")


@pytest.mark.parametrize("form", FORMS)
def test_a_timeline_has_the_dispatches_of_the_counter_reader(files, form):
    """Number, time and names are those of the dispatches; every trace question reads the file."""
    path = files / form
    table = rocprof.read(path).dispatches
    trace = load_timeline(path)
    kernels = [activity for activity in trace.activities if activity.kind == "kernel"]
    assert is_timeline(path)
    assert len(kernels) == len(table) > 1
    assert sum(kernel.duration_ns for kernel in kernels) == table["duration_ns"].sum()
    assert {kernel.name for kernel in kernels} == set(table["kernel_name"].astype(str))
    assert [kernel.workgroup_size[0] for kernel in kernels] == table["workgroup_x"].tolist()
    shown = trace_top(path)
    assert sum(row.total_ns for one in shown.traces for row in one.kernels if row.category != "memory") <= sum(
        activity.duration_ns for activity in trace.activities
    )
    assert trace_summary(path).traces[0].kernels


def test_dispatches_are_joined_to_the_calls_that_launched_them(files):
    """By the correlation id that both carry."""
    trace = load_timeline(files / "v3_json/results.json")
    linked = [activity for activity in trace.activities if activity.launch >= 0]
    assert linked
    assert all(trace.launches[one.launch].correlation == one.correlation for one in linked)


def test_a_packed_file_is_recognised(files, tmp_path):
    """rocprofv3's JSON is large, and often packed."""
    path = tmp_path / "results.json.gz"
    path.write_bytes(gzip.compress((files / "v3_json/results.json").read_bytes()))
    assert is_timeline(path)
    device = trace_breakdown(path).traces[0].breakdown.devices[0]
    assert 0 < device.busy_ns <= device.span_ns


def test_the_csv_files_of_a_folder_are_one_timeline(files, tmp_path):
    """Dispatches in one file, calls in another."""
    for name in ("kernel_trace_3_streams.csv", "hip_api_trace.csv"):
        shutil.copy(files / "v3" / name, tmp_path)
    found = trace_breakdown(tmp_path)
    assert len(found.traces) == 1
    trace = load_timeline(tmp_path)
    assert len(trace.launches) > 0
    assert len(trace.activities) > 0


def test_copies_to_the_host_are_on_the_timeline_of_their_gpu(files, tmp_path):
    """Agents of the host are numbered with the GPUs."""
    for name in ("kernel_trace_3_streams.csv", "memory_copy_trace.csv"):
        shutil.copy(files / "v3" / name, tmp_path)
    trace = load_timeline(tmp_path)
    (gpu,) = {each.device for each in trace.activities if each.kind == "kernel"}
    copies = [(each.name, each.device) for each in trace.activities if each.kind == "copy"]
    assert copies == [("Memcpy MEMORY_COPY_DEVICE_TO_HOST", gpu)]
    assert len(trace_breakdown(tmp_path).traces[0].breakdown.devices) == 1


@pytest.mark.parametrize("form", ["v1/results.json", "v1/results.db", "v1/results.csv"])
def test_rocprof_v1_is_a_timeline_in_each_of_its_forms(files, form):
    """Its JSON is Chrome's form, which roctracer wrote too; every question reads it."""
    path = files / form
    data = rocprof.read(path)
    assert is_timeline(path)
    device = trace_breakdown(path).traces[0].breakdown.devices[0]
    assert device.busy_ns > 0
    kernels = [each for each in load_timeline(path).activities if each.kind == "kernel"]
    assert sum(each.duration_ns for each in kernels) == data.dispatches["duration_ns"].sum()
    for question in QUESTIONS:
        assert question(path).document


@pytest.mark.parametrize("form", FORMS)
def test_every_question_is_answered(files, form):
    """Of a recording without modules, steps and shapes, too."""
    for question in QUESTIONS:
        assert question(files / form).document
    assert trace_diff(files / form, files / form).grown_percent == 0


def test_calls_of_roctracer_launch_the_operations_with_their_index(tmp_path):
    """Chrome's arrows between them say the same."""
    path = tmp_path / "hip.json"
    path.write_text(
        '{ "traceEvents":[{}\n'
        ',{"args":{"name":"CPU HIP API"},"ph":"M","pid":2,"name":"process_name","sort_index":0}\n'
        ',{"args":{"name":"GPU0"},"ph":"M","pid":6,"name":"process_name","sort_index":1}\n'
        ',{"ph":"X","name":"hipLaunchKernel","pid":2,"tid":77,"ts":"1000","dur":"5","args":{"BeginNs":"1000000",'
        '"EndNs":"1005000","pid":"77","tid":"77","Name":"hipLaunchKernel","Index":"4"}}\n'
        ',{"ph":"X","name":"copy","pid":6,"tid":0,"ts":"1010","dur":"20","args":{"BeginNs":"1010000",'
        '"EndNs":"1030000","dev-id":"0","queue-id":"0","Name":"copy","pid":"77","tid":"0","Index":"4"}}\n]}\n'
    )
    trace = load_timeline(path)
    (kernel,) = trace.activities
    assert (kernel.name, kernel.duration_ns) == ("copy", 20_000)
    assert trace.launches[kernel.launch].name == "hipLaunchKernel"
    assert headline(trace.issues) == ""


def test_the_summary_has_calls_and_copies(files, tmp_path, kprof):
    """By name, as of PyTorch's traces; calls alone are shown instead of kernels."""
    for name in ("kernel_trace_3_streams.csv", "memory_copy_trace.csv", "hip_api_trace.csv"):
        shutil.copy(files / "v3" / name, tmp_path)
    (found,) = trace_summary(tmp_path).traces
    assert [(row.name, row.count, row.total_ns) for row in found.transfers] == [
        ("Memcpy MEMORY_COPY_DEVICE_TO_HOST", 1, 500)
    ]
    calls = list(load_timeline(tmp_path).launches)
    assert sum(row.count for row in found.launches) == len(calls) > 0
    assert sum(row.total_ns for row in found.launches) == sum(each.duration_ns for each in calls)
    assert sum(found.categories.values()) == found.kernel_ns + 500
    shown = kprof("ingest", "trace", files / "v3" / "hip_api_trace.csv").out
    assert re.search(r"ms +count +API call", shown)
    assert f"1 trace, {len(calls)} API calls, 0 kernels" in shown


def test_calls_alone_are_an_incomplete_timeline(files, tmp_path):
    """They say how the GPU is recorded, too."""
    path = shutil.copy(files / "v3" / "hip_api_trace.csv", tmp_path)
    found = trace_breakdown(path)
    assert found.summary.startswith("incomplete: no GPU activity is recorded for 2 API calls")
    assert "rocprofv3 --kernel-trace" in found.summary


def test_dispatches_without_times_are_lost(files, tmp_path):
    """A sum over the others would be too small."""
    text = (files / "v3" / "kernel_trace_3_streams.csv").read_text().splitlines()
    heading = text[0].split(",")
    start = heading.index('"Start_Timestamp"')
    last = text[-1].split(",")
    last[start - len(heading)] = ""
    path = tmp_path / "kernel_trace.csv"
    path.write_text("\n".join([*text[:-1], ",".join(last)]) + "\n")
    trace = load_timeline(path)
    assert len(trace.activities) == len(text) - 2
    assert "kernel times" in headline(trace.issues)


def test_replayed_dispatches_of_a_json_file_are_kept_apart(files, tmp_path):
    """Passes share the dispatch id; the program launched it once."""
    document = json.loads((files / "v3_json/results.json").read_text())
    process = document["rocprofiler-sdk-tool"][0]
    traced = process["buffer_records"]["kernel_dispatch"]
    counted = process["callback_records"]["counter_collection"]
    before = rocprof.read(files / "v3_json/results.json")
    traced.append(traced[0])
    counted.append(counted[0])
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document))
    data = rocprof.read(path)
    assert len(data.dispatches) == len(before.dispatches)
    assert data.dispatches["duration_ns"].sum() == before.dispatches["duration_ns"].sum()
    again = data.counters[data.counters["pass"] == 1]
    assert len(again) > 0
    assert data.counters[data.counters["pass"] == 0]["value"].sum() == before.counters["value"].sum()
    assert "replayed-dispatches" in {issue.kind for issue in data.issues}


def test_markers_have_the_texts_of_the_program(files, tmp_path):
    """In JSON they stand among the strings, in a database in the event's data."""
    document = json.loads((files / "v3_json/results.json").read_text())
    process = document["rocprofiler-sdk-tool"][0]
    process["strings"]["buffer_records"].append(
        {"kind": "MARKER_CORE_RANGE_API", "operations": ["roctxMarkA", "roctxThreadRangeA"]}
    )
    process["strings"]["marker_api"] = [{"key": 51, "value": "decode step 3"}]
    process["buffer_records"]["marker_api"] = [
        {"kind": 4, "operation": 1, "thread_id": 77, "correlation_id": {"internal": 51},
         "start_timestamp": 990000, "end_timestamp": 2000000}
    ]  # fmt: skip
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document))
    assert [(each.name, each.kind) for each in load_timeline(path).operators] == [("decode step 3", "annotation")]


def test_a_databases_dispatches_are_linked_by_the_profilers_own_id(files, tmp_path):
    """rocprofv3 writes it as stack_id; correlation_id is the program's, and 0 for most."""
    path = tmp_path / "run.db"
    shutil.copy(files / "rocpd/run.db", path)
    with closing(sqlite3.connect(path)) as connection, connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        event, region, texts = (
            next(name for name in names if name.startswith(f"rocpd_{kind}_")) for kind in ("event", "region", "string")
        )
        connection.execute(f'ALTER TABLE "{event}" ADD COLUMN stack_id INTEGER')
        connection.execute(f'ALTER TABLE "{event}" ADD COLUMN extdata TEXT')
        connection.execute(f'UPDATE "{event}" SET stack_id = 900 + id, correlation_id = 0')
        connection.execute(f'INSERT INTO "{event}" VALUES (50, 1, 0, 901, NULL), (51, 9, 0, 0, ?)', [MARKED])
        connection.execute(f"INSERT INTO \"{texts}\" VALUES (9, 'g', 'MARKER_CORE_RANGE_API')")
        connection.execute(f'INSERT INTO "{region}" VALUES (2, 77, 77, 998000, 998500, 2, 50)')
        connection.execute(f'INSERT INTO "{region}" VALUES (3, 77, 77, 990000, 2000000, 2, 51)')
    trace = load_timeline(path)
    first = min((each for each in trace.activities if each.kind == "kernel"), key=lambda each: each.start_ns)
    assert trace.launches[first.launch].start_ns == 998000
    assert [(each.name, each.kind) for each in trace.operators] == [("prefill", "annotation")]
