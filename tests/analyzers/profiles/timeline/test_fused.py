"""Runs of kernels in whose place one fused kernel could stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.torch_profiler.columns import Records
from kprof.inputs.torch_profiler.load import load
from kprof.inputs.torch_profiler.model import Activity, LinkedTrace, Operator, TraceInfo
from kprof_analyzers.profiles.timeline.breakdown import breakdown
from kprof_analyzers.profiles.timeline.categories import load_categories
from kprof_analyzers.profiles.timeline.fused import FusedKernel, fused_kernels

N, A, E, Q, G = "normalization", "activation", "elementwise", "quantization", "GEMM"


def trace_of(durations, lane=lambda at: (0, 2, 0), name="rms_silu"):
    """Kernels one after the other, each on its lane: rank, device and stream."""
    activities, clock = [], 0
    for at, duration in enumerate(durations):
        activities.append(Activity(name, "kernel", *lane(at), clock, duration))
        clock += duration
    return LinkedTrace(TraceInfo(path="t"), activities=Records(Activity, activities), operators=Records(Operator, ()))


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ([E, N, Q], [("rmsnorm_residual_fp8", 1, 3)]),
        ([E, E, E, N, G], [("rmsnorm_residual_fp8", 1, 3)]),
        ([A, E, Q, E], [("swiglu_fp8", 1, 3)]),
        ([E, A, G], []),
        ([N, G, A, G], []),
        ([G, G], []),
        ([A, E, Q, N, G], [("swiglu_fp8", 1, 3)]),
        ([N, E, G, N, E, A, Q], [("rmsnorm_residual_fp8", 2, 4), ("swiglu_fp8", 1, 2)]),
    ],
)
def test_runs(order, expected):
    """At least two kernels; two element-wise ones ahead of a norm and two behind are part of it; none counts twice."""
    found = fused_kernels(trace_of([10] * len(order)), order)
    assert sorted((one.kernel, one.runs, one.kernels) for one in found) == expected


def test_what_is_saved():
    """All but the longest of a run, in the order of their starts on one stream."""
    order = [E, N, Q]
    assert fused_kernels(trace_of([4, 9, 3]), order) == [FusedKernel("rmsnorm_residual_fp8", 1, 3, 16, 7)]
    assert fused_kernels(trace_of([4, 9, 3], lane=lambda at: (0, 2, at)), order) == []


@pytest.mark.parametrize("name", ["vectorized_layer_norm_kernel", "gelu", "rms_norm_backward", "silu_bwd"])
def test_other_norms_and_activations_have_no_fused_kernel(name):
    """Nor has a backward pass."""
    assert fused_kernels(trace_of([4, 9, 3], name=name), [E, N, Q]) == []
    assert fused_kernels(trace_of([4, 9, 3], name=name), [A, E, Q]) == []


@given(st.lists(st.tuples(st.sampled_from([N, A, E, Q, G]), st.integers(0, 99)), max_size=40))
def test_never_more_than_there_is(kernels):
    """Whatever the order: fewer kernels and less time than the trace has, and something is left of every run."""
    order, durations = [kind for kind, _ in kernels], [length for _, length in kernels]
    found = fused_kernels(trace_of(durations), order)
    assert sum(one.kernels for one in found) <= len(order)
    assert sum(one.total_ns for one in found) <= sum(durations)
    assert all(one.saved_ns <= one.total_ns and one.kernels >= 2 * one.runs for one in found)


def test_a_published_decode(shared):
    """Two of its 49 norms have element-wise kernels beside them: the others are fused already."""
    trace = load(shared / "samples/kineto/vllm_decode_full_hipgraph/graph_execution.json.gz")
    found = breakdown(trace, load_categories())
    times = {row.category: row.total_ns for row in found.categories}
    (norms,) = found.fused
    assert (norms.kernel, norms.runs, norms.kernels) == ("rmsnorm_residual_fp8", 2, 5)
    assert norms.saved_ns < norms.total_ns <= times["normalization"] + times["elementwise"]
