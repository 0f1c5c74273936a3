"""rocprofv3's files as linked timelines: the made-up run in each of its forms."""

import gzip
import shutil

import pytest

from kprof import trace_breakdown, trace_summary, trace_top
from kprof.inputs import rocprof
from kprof.inputs.rocprof.timeline import is_timeline, load_timeline

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
