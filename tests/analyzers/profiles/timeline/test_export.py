"""Reduced traces and flame graphs hold the same time as the trace."""

import json

from kprof.inputs.torch_profiler import load
from kprof_analyzers.profiles.timeline.categories import load_categories
from kprof_analyzers.profiles.timeline.export import perfetto, speedscope


def test_the_reduced_trace_is_read_back_with_the_same_sums(tmp_path, kineto):
    """json.loads takes it, and so does the reader: activities, operators, no Python frames."""
    trace = load(kineto.small_model(kineto.Builder()).write(tmp_path / "t.json"))
    text = "".join(perfetto([trace], load_categories()))

    events = json.loads(text)["traceEvents"]
    gpu = [e for e in events if e["ph"] == "X" and e["pid"] == 2]
    assert sum(round(e["dur"] * 1000) for e in gpu) == sum(a.duration_ns for a in trace.activities)
    assert {e["cat"] for e in gpu} == {"attention", "attention GEMM", "MLP GEMM", "normalization", "communication"}
    assert sum(e["ph"] == "X" and e["pid"] == 500 for e in events) == len(trace.operators)
    assert {e["args"]["name"] for e in events if e["ph"] == "M"} == {"rank 0 GPU 2", "rank 0 CPU"}


def test_the_flame_graph_follows_speedscopes_schema(tmp_path, kineto):
    """Sampled profile: as many weights as samples, frames by index, weights sum to the GPU time."""
    trace = load(kineto.small_model(kineto.Builder()).write(tmp_path / "t.json"))
    document = speedscope([trace])

    (profile,) = document["profiles"]
    frames = [f["name"] for f in document["shared"]["frames"]]
    stacks = [[frames[i] for i in sample] for sample in profile["samples"]]
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert (profile["type"], profile["unit"], len(profile["weights"])) == ("sampled", "nanoseconds", len(stacks))
    assert profile["endValue"] == sum(profile["weights"]) == sum(a.duration_ns for a in trace.activities)
    assert ["nn.Module: MLP_0", "aten::addmm", "Cijk_Alik_Bljk_up"] in stacks
