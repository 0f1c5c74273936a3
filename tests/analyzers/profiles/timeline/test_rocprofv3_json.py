"""A published rocprofv3 JSON (43,915 dispatches) against a computation with ``json`` and plain Python alone."""

import gzip
import json
from collections import Counter

import pytest

from kprof import trace_breakdown, trace_gaps, trace_steps, trace_top


@pytest.fixture(scope="module")
def path(shared):
    """The file, from eight MI350X."""
    return shared / "samples" / "rocprof_v3" / "training_gfx950_json" / "908_results.json.gz"


@pytest.fixture(scope="module")
def dispatches(path):
    """Start, end and name of each dispatch."""
    with gzip.open(path) as file:
        (process,) = json.load(file)["rocprofiler-sdk-tool"]
    names = {symbol["kernel_id"]: symbol["formatted_kernel_name"] for symbol in process["kernel_symbols"]}
    return sorted(
        (one["start_timestamp"], one["end_timestamp"], names[one["dispatch_info"]["kernel_id"]])
        for one in process["buffer_records"]["kernel_dispatch"]
    )


@pytest.fixture(scope="module")
def shares(path):
    """The answer of the breakdown."""
    return trace_breakdown(path).traces[0]


def test_busy_idle_and_gaps(path, dispatches, shares):
    """The union of all intervals, and the holes in it."""
    busy, gaps, end = 0, [], dispatches[0][0]
    for start, stop, _ in dispatches:
        if start > end:
            gaps.append(start - end)
        busy += max(0, stop - max(start, end))
        end = max(end, stop)
    (device,) = shares.breakdown.devices
    assert device.busy_ns == busy
    assert device.span_ns == end - dispatches[0][0]
    assert device.idle_ns == sum(gaps)
    report = trace_gaps(path).traces[0].report
    assert report.count == len(gaps)
    assert report.total_ns == sum(gaps)


def test_categories(dispatches, shares):
    """Those whose names leave no doubt."""
    marks = {"communication": ("nccl",), "GEMM": ("Cijk_",), "memory": ("fillBuffer", "copyBuffer")}
    found = {row.category: (row.total_ns, row.count) for row in shares.breakdown.categories}
    for category, words in marks.items():
        mine = [end - start for start, end, name in dispatches if any(word in name for word in words)]
        assert found[category] == (sum(mine), len(mine)), category
    assert sum(total for total, _ in found.values()) == sum(end - start for start, end, _ in dispatches)


def test_every_kernel(path, dispatches):
    """Time and number of each name; no step is marked."""
    time, count = Counter(), Counter()
    for start, end, name in dispatches:
        time[name.removesuffix(".kd")] += end - start
        count[name.removesuffix(".kd")] += 1
    kernels = trace_top(path).traces[0].kernels
    found = {one.name: (one.total_ns, one.count) for one in kernels}
    assert found == {name: (time[name], count[name]) for name in time}
    assert trace_steps(path).traces[0].steps == []
