"""Whether a recording is complete: faults that were met in published traces, made small, and healthy ones."""

import pytest

from kprof.errors import KprofError
from kprof.inputs.completeness import (
    EVERYTHING,
    cannot_tell,
    headline,
    missing_ranks,
    repaired,
    unknown_of,
    warm_up_rows,
)
from kprof.inputs.torch_profiler.issues import TraceIssue
from kprof.inputs.torch_profiler.load import load
from kprof_analyzers.profiles.timeline.streaming import summarise


def event(category, name, start, duration, **args):
    """A complete event; kernels on stream 1 of device 2."""
    kernel = {"device": 2, "stream": 1} if category == "kernel" else {}
    return {"ph": "X", "cat": category, "name": name, "pid": 2 if kernel else 9, "tid": 1 if kernel else 9,
            "ts": start, "dur": duration, "args": {**kernel, **args}}  # fmt: skip


def launched(number, start, name="gemm", duration=20.0, call="hipLaunchKernel"):
    """A launch and its kernel 10 us later."""
    return [event("cuda_runtime", call, start, 5, correlation=number),
            event("kernel", name, start + 10, duration, correlation=number)]  # fmt: skip


def trace(tmp_path, *events):
    """A trace read back."""
    import json

    path = tmp_path / "t.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": list(events)}))
    return load(path), summarise(path)


def found(read, kind):
    """The issue of a kind."""
    return next(issue for issue in read.issues if issue.kind == kind)


def test_replayed_graphs_without_kernels_are_incomplete_for_both_readers(tmp_path):
    """Every sum is unknown, and the cure is named."""
    replays = [event("cuda_runtime", "hipGraphLaunch", 1000 * i, 5, correlation=i) for i in range(2, 34)]
    for read in trace(tmp_path, *launched(1, 0), *replays):
        said = headline(read.issues)
        assert said.startswith("incomplete: 32 graph replays have no kernels recorded; kernel times, busy, steps")
        assert "ROCm 7.2.2" in said
        assert unknown_of(found(read, "graph-without-kernels")) == EVERYTHING


def test_a_replay_with_its_kernels_is_complete(tmp_path):
    """Hundreds of kernels share the id of the replay."""
    kernels = [event("kernel", f"k{i}", 20 + 10 * i, 5, correlation=7) for i in range(50)]
    for read in trace(tmp_path, event("cuda_runtime", "hipGraphLaunch", 0, 5, correlation=7), *kernels):
        assert headline(read.issues) == ""


def test_launches_of_a_captured_graph_run_no_kernel(tmp_path):
    """What is captured is not expected to be recorded."""
    calls = [event("cuda_runtime", "hipLaunchKernel", 110 + i, 1, correlation=10 + i) for i in range(30)]
    marks = [
        event("cuda_runtime", "hipStreamBeginCapture", 100, 1),
        event("cuda_runtime", "hipStreamEndCapture", 200, 1),
    ]
    for read in trace(tmp_path, *launched(1, 0), *marks, *calls):
        assert headline(read.issues) == ""


def test_launches_without_kernels_count_by_share(tmp_path):
    """One of 200 is where the recording ended; 10 of 20 are missing."""
    last = event("cuda_runtime", "hipLaunchKernel", 90_000, 5, correlation=9999)
    full = [each for i in range(1, 200) for each in launched(i, 100 * i)]
    read, _ = trace(tmp_path, *full, last)
    assert found(read, "launch-without-kernel").unknown == ()
    lost = [event("cuda_runtime", "hipLaunchKernel", 5000 + i, 5, correlation=500 + i) for i in range(10)]
    read, sums = trace(tmp_path, *full[:20], *lost)
    assert cannot_tell(read.issues, ("kernel times",)) == "10 of 20 kernel launches (50.0%) have no kernel recorded"
    assert found(sums, "launch-without-kernel").unknown == EVERYTHING


def test_impossible_durations_are_shown_as_written_and_capped(tmp_path):
    """Two of 30 kernels of 20 us are written as 1.6 s and overlap what follows on their stream."""
    events = [each for i in range(1, 31) for each in launched(i, 100 * i, duration=1.6e6 if i in {7, 19} else 20.0)]
    read, _ = trace(tmp_path, *events)
    issue = found(read, "overlong")
    assert "3,200.560 ms as written and 0.760 ms" in issue.message
    assert "busy" in issue.unknown
    assert ", by 1.60 s (50.0 % of GPU time)" in found(read, "overlap-in-stream").message
    capped = repaired(read, ("cap-durations",))
    assert sum(capped.activities.numbers("duration_ns").data) == 760_000
    assert headline(capped.issues) == ""


def test_a_long_kernel_that_its_stream_waits_for_is_no_fault(tmp_path):
    """Kernels of one name differ by their shapes."""
    events = [each for i in range(1, 20) for each in launched(i, 100 * i)]
    read, _ = trace(tmp_path, *events, *launched(99, 5000, duration=9e5))
    assert headline(read.issues) == ""


def test_what_was_launched_before_the_recording_is_said_and_can_be_left_out(tmp_path):
    """Its launches are not in the trace."""
    early = [event("kernel", "warm", i * 10, 9, correlation=100 + i) for i in range(5)]
    read, _ = trace(tmp_path, event("cpu_op", "aten::mm", 90, 30), *early, *launched(1, 100))
    assert len(warm_up_rows(read)) == 5
    assert "5 of 6 GPU activities, 0.045 ms (69.2%)" in headline(read.issues)
    assert "--exclude-warm-up" in headline(read.issues)
    without = repaired(read, ("exclude-warm-up",))
    assert [activity.name for activity in without.activities] == ["gemm"]
    assert without.activities[0].launch == 0
    assert headline(without.issues) == ""


def test_zero_is_no_correlation_id(tmp_path):
    """Kernels that carry 0 belong to no launch, and are not joined to one that carries 0."""
    kernels = [event("kernel", "nccl", 100 * i, 90, correlation=0) for i in range(1, 6)]
    calls = [event("cuda_runtime", "hipLaunchKernel", 100 * i - 9, 5, correlation=i) for i in range(1, 6)]
    zero = event("cuda_runtime", "hipLaunchKernel", 0, 5, correlation=0)
    read, _ = trace(tmp_path, zero, event("cpu_op", "aten::mm", 0, 9), *calls, *kernels)
    assert [activity.launch for activity in read.activities] == [-1] * 5
    assert found(read, "no-correlation").unknown == ("operators", "steps")


def test_clocks_that_disagree_make_gaps_unknown(tmp_path):
    """A kernel does not begin before its launch."""
    calls = [event("cuda_runtime", "hipLaunchKernel", 5000 + 100 * i, 5, correlation=i) for i in range(1, 9)]
    kernels = [event("kernel", "k", 100 * i, 50, correlation=i) for i in range(1, 9)]
    read, _ = trace(tmp_path, *calls, *kernels)
    assert "begin up to 5.000 ms before their launch" in found(read, "clocks-disagree").message
    assert found(read, "clocks-disagree").unknown == ("gaps",)


def test_a_trace_without_gpu_activity_is_incomplete(tmp_path):
    """It says which activities to record."""
    for read in trace(tmp_path, event("cuda_runtime", "hipLaunchKernel", 0, 5, correlation=1)):
        assert "ProfilerActivity.CUDA" in headline(read.issues)


def test_lost_events_make_everything_unknown():
    """Whatever they were lost for."""
    issue = TraceIssue("negative-duration", "a negative time was left out", lost=3)
    assert cannot_tell([issue], ("kernel times",)) == "a negative time was left out (3 events lost)"
    assert cannot_tell([TraceIssue("zero-duration", "a coarse clock")]) == ""


def test_ranks_that_are_missing_are_named():
    """By number."""
    assert missing_ranks(4, {0, 3}) == "ranks 1, 2 of 4 are missing"
    assert missing_ranks(None, {0}) == missing_ranks(2, {0, 1}) == ""


def test_an_unknown_repair_is_an_error(tmp_path):
    """It names those that are known."""
    read, _ = trace(tmp_path, *launched(1, 0))
    with pytest.raises(KprofError, match="unknown repair 'glue'"):
        repaired(read, ("glue",))
