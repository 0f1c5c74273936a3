"""Recordings that lack something make every gate on them *cannot tell*, exit code 2."""

import json
from pathlib import Path

import pytest

from kprof import counter_diff, trace_ops, validate


def event(category, name, start, duration, **args):
    """A complete event; kernels on stream 1 of device 0."""
    place = {"device": 0, "stream": 1} if category == "kernel" else {}
    return {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 1, "ts": start, "dur": duration,
            "args": {**place, **args}}  # fmt: skip


def run(count, duration=20):
    """Launches with their kernels."""
    events = []
    for i in range(1, count + 1):
        events.append(event("cuda_runtime", "hipModuleLaunchKernel", 100 * i, 5, correlation=i))
        events.append(event("kernel", "gemm", 100 * i + 10, duration, correlation=i))
    return events


LOST = {
    "replays without kernels": [event("cuda_runtime", "hipGraphLaunch", 9000, 5, correlation=900)],
    "launches without kernels": [
        event("cuda_runtime", "hipModuleLaunchKernel", 9000 + i, 1, correlation=900 + i) for i in range(5)
    ],
    "a negative duration": [event("kernel", "gemm", 9000, -5, correlation=1)],
    "an end without a begin": [{"ph": "E", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 1, "ts": 9000}],
    "a duration of a second": [event("kernel", "gemm", 500, 1e6, correlation=4)],
}


@pytest.fixture
def write(tmp_path):
    """Write a trace, cut after a number of bytes if one is given."""

    def written(name, events, keep=None):
        path = tmp_path / name
        text = json.dumps({"schemaVersion": 1, "deviceProperties": [{"name": "AMD Instinct MI300X"}],
                           "traceEvents": events})  # fmt: skip
        path.write_text(text[:keep])
        return str(path)

    return written


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("side", ["before", "after"])
def test_a_diff_with_a_limit_cannot_tell(kprof, write, lost, side):
    """Whichever side lacks something, and whatever it is."""
    whole, damaged = write("whole.json", run(20)), write("damaged.json", run(20) + LOST[lost])
    order = (damaged, whole) if side == "before" else (whole, damaged)
    done = kprof("trace", "diff", *order, "--fail-over", "3")
    assert done.code == 2, done.err
    assert "cannot tell whether it is slower" in done.err


def test_a_cut_trace_and_one_without_kernels_cannot_be_compared(kprof, write):
    """Neither is faster."""
    whole = write("whole.json", run(20))
    assert kprof("trace", "diff", whole, whole, "--fail-over", "3").code == 0
    for other in (write("cut.json", run(20), -40), write("cpu.json", [event("cpu_op", "aten::mm", 0, 5)])):
        assert kprof("trace", "diff", whole, other, "--fail-over", "3").code == 2
        assert kprof("trace", "diff", other, whole, "--fail-over", "3").code == 2


def test_counters_of_a_damaged_file_cannot_be_compared(kprof, tmp_path):
    """A record that could not be read may have been the slow one."""
    whole = Path(__file__).parents[1] / "artifacts/rocprof/v3/counter_collection_3.csv"
    cut = tmp_path / "counter_collection_1.csv"
    cut.write_text(whole.read_text()[:-30])
    assert kprof("counters", "diff", whole, whole, "--fail-over", "3", "-a", "MI300X").code == 0
    done = kprof("counters", "diff", whole, cut, "--fail-over", "3", "-a", "MI300X")
    assert done.code == 2, done.err
    found = counter_diff(whole, cut, arch="MI300X")
    assert found.summary.startswith("incomplete: ")
    assert found.cannot_tell.startswith("incomplete: ")
    assert found.document["cannot_tell"] == found.cannot_tell


@pytest.mark.triton
def test_joins_to_an_incomplete_trace_decide_nothing(write):
    """A kernel's time beside the model's, of launches some of which were lost."""
    launches = []
    for i in range(1, 21):
        launches.append(event("cuda_runtime", "hipModuleLaunchKernel", 100 * i, 5, correlation=i))
        launches.append(event("kernel", "gemm_kernel", 100 * i + 10, 80, correlation=i, grid=[1024, 1, 1],
                              block=[256, 1, 1], **{"shared memory": 0}))  # fmt: skip
    whole = write("whole.json", launches)
    damaged = write("damaged.json", launches + LOST["launches without kernels"])
    for path, words in ((whole, ""), (damaged, "incomplete")):
        (row,) = trace_ops(path, targets="gemm", shape="M=1024,N=1024,K=1024").targets
        assert words in row.doubt
        found = validate("gemm", shape="M=1024,N=1024,K=1024", trace=[path])
        why = " ".join(one.words for _, _, measured in found.kernels for one in measured.comparisons)
        assert words in why
    assert found.standing == "cannot tell"
