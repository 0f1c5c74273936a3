"""Gaps of the GPU: the Python function that the CPU was in, and the module to compile."""

import json

import pytest

import kprof
from kprof.inputs.torch_profiler import load

HOOKS = "/env/lib/python3.11/site-packages/diffusers/hooks/hooks.py(268): _set_context"


def waiting(builder, *frames):
    """Two kernels with a gap from 110 to 1,200 µs, the second launched at its end; frames around are given."""
    builder.kernel("a", 100.0, 10.0, builder.launch(90.0, 2.0))
    for name, start, duration in frames:
        builder.add("python_function", name, start, duration)
    builder.kernel("b", 1200.0, 10.0, builder.launch(1190.0, 2.0))
    return builder


OUTER = ("train.py(10): step", 0.0, 2000.0)


@pytest.mark.parametrize(
    ("frames", "place", "functions"),
    [
        ([OUTER, (HOOKS, 120.0, 1050.0)], f"{HOOKS.partition('(')[0]}:268 (_set_context)", [OUTER[0], HOOKS]),
        ([OUTER, (HOOKS, 120.0, 300.0)], "train.py:10 (step)", [OUTER[0]]),
        ([OUTER, (HOOKS, 700.0, 400.0)], "train.py:10 (step)", [OUTER[0]]),
        (
            [OUTER, ("torch/_ops.py(1): call", 60.0, 1500.0), ("contextlib.py(132): x", 70.0, 1400.0),
             ("<built-in function next>", 80.0, 1300.0)],
            "train.py:10 (step)",
            [OUTER[0], "torch/_ops.py(1): call", "contextlib.py(132): x", "<built-in function next>"],
        ),
        ([("threading.py(5): run", 0.0, 2000.0)], "threading.py:5 (run)", ["threading.py(5): run"]),
        ([], "Python outside operators (with_stack=True records the function)", []),
    ],
    ids=["innermost", "not for most of it", "over by then", "what torch and Python do is not the place",
         "but is better than nothing", "no frames"],
)  # fmt: skip
def test_the_function_of_a_gap(tmp_path, kineto, frames, place, functions):
    """It is the innermost one that lasts for most of the gap."""
    found = kprof.trace_gaps(waiting(kineto.Builder(), *frames).write(tmp_path / "t.json"))
    (part,) = found.traces
    assert part.report.gaps[0].functions == functions
    assert f", while the CPU was in {place}" in found.conclusion


def test_a_function_of_another_thread_is_not_the_place(tmp_path, kineto):
    """The thread that launches the next kernel counts."""
    builder = waiting(kineto.Builder(), OUTER)
    builder.add("python_function", "loader.py(3): read", 50.0, 1900.0, tid=200)
    (part,) = kprof.trace_gaps(builder.write(tmp_path / "t.json")).traces
    assert part.report.gaps[0].functions == [OUTER[0]]


def test_frames_are_kept_from_a_duration_on(tmp_path, kineto):
    """Short ones are most of a trace. Modules are always kept."""
    builder = kineto.Builder()
    builder.op("aten::mm", 0.0, 1.0, 1)
    builder.module("Linear_0", 0.0, 1.0)
    for duration in (5.0, 19.999, 20.0, 300.0):
        builder.add("python_function", f"{duration}", 0.0, duration)
    path = builder.write(tmp_path / "t.json")
    names = {
        least: sorted(frame.name for frame in load(path, shortest_frame_us=least).frames) for least in (0, 20.0, 301.0)
    }
    assert names[20.0] == ["20.0", "300.0", "nn.Module: Linear_0"]
    assert names[0] == sorted([*names[20.0], "5.0", "19.999"])
    assert names[301.0] == [frame.name for frame in load(path).frames] == ["nn.Module: Linear_0"]


def modules(builder, shares, *, graphs):
    """Give each module its number of gaps of 100 µs; ``graphs``: the program replays a graph at the end."""
    at = 1000.0
    for module, count in shares:
        builder.module(module, at, count * 110.0 + 50)
        for _ in range(count):
            builder.kernel("k", at + 100, 10.0, builder.launch(at + 95, 1.0))
            at += 110
        at += 200
    if graphs:
        for _ in range(2):
            builder.kernel("g", at, 10.0, builder.launch(at - 5, 1.0, api="hipGraphLaunch"))
            at += 10
    return builder


@pytest.mark.parametrize(
    ("shares", "graphs", "text", "then"),
    [
        ([("Encoder_0", 30), ("Decoder_1", 20)], True, "Encoder", "; then Decoder, "),
        ([("OptimizedModule_0", 40), ("Encoder_0", 30)], True, "Encoder", "is not in this module)"),
        ([("Encoder_0", 30), ("Encoder_1", 20)], False, "Encoder", "is not in this module)"),
        ([("A_0", 25), ("B_0", 20), ("C_0", 20)], False, "model", "were left)"),
        ([("A_0", 25), ("B_0", 20), ("C_0", 20)], True, "A", "; then B, "),
    ],
    ids=["replays graphs", "compiled already", "most of it in one class", "spread", "spread, replays graphs"],
)
def test_the_module_to_compile(tmp_path, kineto, shares, graphs, text, then):
    """A class is named where it holds most of the launch-bound time, or a good part of what no graph replays."""
    path = modules(kineto.Builder(), shares, graphs=graphs).write(tmp_path / "t.json")
    found = kprof.trace_gaps(path)
    assert found.first_advice.text == f'torch.compile({text}, mode="reduce-overhead")'
    assert then in f"{found.first_advice.sentence}"
    (part,) = json.loads(found.to_json())["traces"]
    listed = part["report"]["modules"]
    counted = sum(count for name, count in shares if name.rpartition("_")[0] == text)
    if counted:
        assert listed[text] == found.first_advice.saves_ns == pytest.approx(counted * 100_000, rel=0.1)
