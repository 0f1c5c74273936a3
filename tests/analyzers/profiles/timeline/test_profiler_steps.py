"""Kernels belong to the step that launched them; traces are compared step by step."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.torch_profiler import load
from kprof_analyzers.profiles.timeline.compare import TraceSide, compare
from kprof_analyzers.profiles.timeline.files import TraceFile
from kprof_analyzers.profiles.timeline.profiler_steps import phase_of, step_table
from kprof_analyzers.profiles.timeline.steps import stepped_kernels_step


def event(cat, name, ts, dur, **args):
    """A complete event: on the CPU's thread, or on the GPU's stream."""
    place = {"pid": 0, "tid": 7} if cat == "kernel" else {"pid": 1, "tid": 1}
    return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, **place, "args": args}


def steps(durations, *, names=None, late=500.0):
    """A step of 100 us each, with one launch whose kernel runs ``late`` us after it, and takes its duration."""
    for number, duration in enumerate(durations):
        start = 1000.0 * number
        yield event("user_annotation", names[number] if names else f"ProfilerStep#{number}", start, 100.0)
        yield event("cuda_runtime", "hipLaunchKernel", start + 50, 5.0, correlation=number + 1)
        yield event("kernel", "k", start + late, duration, correlation=number + 1, device=0)


def write(path, events):
    """A trace of these events."""
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": list(events)}))
    return path


def test_a_kernel_belongs_to_the_step_that_launched_it(tmp_path):
    """Though it runs after the step has ended on the CPU, even in the next one; others are in no step."""
    events = [
        *steps([30.0, 30.0, 30.0, 90.0], late=1010.0),
        event("cuda_runtime", "hipLaunchKernel", 500.0, 5.0, correlation=99),
        event("kernel", "between", 600.0, 7.0, correlation=99, device=0),
        event("kernel", "from before the trace", 20.0, 11.0, correlation=1234, device=0),
    ]
    table = step_table(load(write(tmp_path / "t.json", events)))

    assert [(s.name, s.kernels, s.kernel_ns) for s in table.steps] == [
        ("ProfilerStep#0", 1, 30_000),
        ("ProfilerStep#1", 1, 30_000),
        ("ProfilerStep#2", 1, 30_000),
        ("ProfilerStep#3", 1, 90_000),
    ]
    assert table.outside_ns == 18_000
    assert table.slow == [3]


@given(st.lists(st.integers(1, 400), min_size=1, max_size=6))
def test_sums_of_steps_are_the_sum_of_all(tmp_path_factory, durations):
    """Nothing is counted twice, nothing is lost."""
    path = write(tmp_path_factory.mktemp("t") / "t.json", steps([float(d) for d in durations]))
    table = step_table(load(path))
    assert sum(s.kernel_ns for s in table.steps) + table.outside_ns == 1000 * sum(durations)
    assert [s.busy_ns for s in table.steps] == [s.kernel_ns for s in table.steps]


def test_prefill_and_decode_are_told_apart(tmp_path):
    """As vLLM and SGLang name their batches; another name tells nothing."""
    names = [
        "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)",
        "execute_512_context_2(sq512sk512sqsq9sqsk9)_generation_0(sq0sk0sqsq0sqsk0)",
        "execute_9_context_1(sq8sk8sqsq9sqsk9)_generation_1(sq1sk9sqsq0sqsk0)",
    ]
    table = step_table(load(write(tmp_path / "t.json", steps([1.0, 2.0, 3.0], names=names))))
    assert [s.phase for s in table.steps] == ["decode", "prefill", "mixed"]
    assert phase_of("step[DECODE bs=8]") == "decode"
    assert phase_of("step[EXTEND bs=1]") == "prefill"
    assert phase_of("ProfilerStep#3") == ""


def test_a_step_whose_kernels_are_missing_is_cut(tmp_path):
    """The last launch has no kernel: its step is neither in the comparison nor called fast."""
    events = list(steps([30.0, 30.0, 30.0]))
    trace = load(write(tmp_path / "t.json", events[:-1]))
    assert [s.whole for s in step_table(trace).steps] == [True, True, False]
    found = stepped_kernels_step(TraceFile(str(tmp_path / "t.json"), "kineto"))
    assert (found.steps, [k.total_ns for k in found.kernels]) == (2, [60_000])


@pytest.mark.parametrize("kept", [1, 2, 3, 5])
def test_fewer_steps_of_the_same_program_are_no_change(tmp_path, kept):
    """A trace of six steps against its first ones."""
    events = list(steps([30.0] * 6))
    sides = []
    for name, chosen in (("few", events[: 3 * kept]), ("all", events)):
        found = stepped_kernels_step(TraceFile(str(write(tmp_path / f"{name}.json", chosen)), "kineto"))
        sides.append(TraceSide(name, found.kernels, found.steps))
    result = compare(*sides)

    assert (result.before_ns, result.after_ns) == (30_000, 30_000)
    assert (result.steps, result.cannot_tell) == ((kept, 6), "")


def test_steps_on_one_side_only_cannot_be_compared(tmp_path):
    """Nor can a trace that is cut off."""
    found = stepped_kernels_step(TraceFile(str(write(tmp_path / "t.json", steps([30.0] * 3))), "kineto"))
    marked = TraceSide("marked", found.kernels, found.steps)
    assert "marks none" in compare(marked, TraceSide("plain", found.kernels)).cannot_tell
    assert "cut off" in compare(marked, TraceSide("cut", found.kernels, 3, "it is cut off")).cannot_tell
    assert compare(TraceSide("a", found.kernels), TraceSide("b", found.kernels)).cannot_tell == ""
