"""From a kernel to its launch, operator, module, forward operator and Python stack."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kprof.inputs.torch_profiler import link_columns, load
from kprof.inputs.torch_profiler.grids import settle_grids
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.link import link, stack_of
from kprof.inputs.torch_profiler.model import (
    Activity,
    LinkedTrace,
    Operator,
    PythonFrame,
    RuntimeCall,
    TraceInfo,
)
from kprof.inputs.torch_profiler.plausible import note_oddities


def test_nesting_finds_the_innermost_operator_and_all_modules(tmp_path, kineto):
    """By time on the launching thread; another thread's operator at the same time is not taken."""
    builder = kineto.Builder()
    builder.module("Model_0", 0.0, 100.0)
    builder.module("MLP_0", 10.0, 50.0)
    builder.op("aten::linear", 12.0, 40.0, 1)
    builder.op("aten::addmm", 14.0, 30.0, 2)
    builder.op("elsewhere", 15.0, 30.0, 3, tid=999)
    correlation = builder.launch(20.0, 5.0)
    builder.kernel("k", 40.0, 5.0, correlation)
    trace = load(builder.write(tmp_path / "t.json"))

    (kernel,) = trace.activities
    assert [o.name for o in trace.operator_chain(kernel.operator)] == ["aten::addmm", "aten::linear"]
    assert trace.modules(kernel) == ["nn.Module: MLP_0", "nn.Module: Model_0"]
    assert [r.name for r in stack_of(trace, kernel)] == [
        "aten::addmm", "aten::linear", "nn.Module: MLP_0", "nn.Module: Model_0",
    ]  # fmt: skip


def test_an_operator_that_has_ended_is_no_parent(tmp_path, kineto):
    """What ends when the next one begins is beside it, not around it."""
    builder = kineto.Builder()
    builder.op("first", 0.0, 10.0, 1)
    builder.op("second", 10.0, 10.0, 2)
    builder.launch(25.0, 1.0)
    trace = load(builder.write(tmp_path / "t.json"))

    assert trace.operators[1].parent == -1
    assert trace.launches[0].operator == -1


def test_the_external_id_helps_where_the_launch_is_missing(tmp_path, kineto):
    """A kernel whose call is not in the trace still names its operator."""
    builder = kineto.Builder()
    builder.op("aten::mm", 0.0, 10.0, 42)
    builder.kernel("k", 30.0, 5.0, 900, **{"External id": 42})
    trace = load(builder.write(tmp_path / "t.json"))

    assert trace.activities[0].launch == -1
    assert trace.operators[trace.activities[0].operator].name == "aten::mm"


def test_backward_operators_reach_the_modules_of_their_forward(tmp_path, kineto):
    """Same sequence number, and a forward thread: the backward GEMM belongs to the MLP."""
    builder = kineto.Builder()
    builder.module("MLP_0", 0.0, 50.0)
    builder.op("aten::linear", 5.0, 20.0, 1, **{"Sequence number": 17, "Fwd thread id": 0})
    builder.op("LinearBackward0", 100.0, 30.0, 2, tid=200, **{"Sequence number": 17, "Fwd thread id": 1})
    builder.op("aten::mm", 105.0, 20.0, 3, tid=200)
    correlation = builder.launch(110.0, 5.0, tid=200)
    builder.kernel("Cijk", 130.0, 5.0, correlation)
    trace = load(builder.write(tmp_path / "t.json"))

    assert trace.modules(trace.activities[0]) == ["nn.Module: MLP_0"]


def test_stacks_keep_every_frame_when_asked(tmp_path, kineto):
    """By default only modules are kept: Python frames are most of a trace."""
    builder = kineto.Builder()
    builder.add("python_function", "train.py(10): main", 0.0, 90.0, **{"Python id": 1})
    builder.module("MLP_0", 5.0, 50.0)
    path = builder.write(tmp_path / "t.json")

    assert [f.name for f in load(path).frames] == ["nn.Module: MLP_0"]
    assert [f.parent for f in load(path, stacks=True).frames] == [-1, 0]


def test_allocator_events_when_asked(tmp_path, kineto):
    """Bytes with their sign, and the totals after them."""
    builder = kineto.Builder()
    event = builder.add(
        "cpu_instant_event", "[memory]", 5.0, 0.0, Bytes=-512, **{"Device Id": 0, "Total Allocated": 1024}
    )
    event["ph"] = "i"
    (found,) = load(builder.write(tmp_path / "t.json"), memory=True).memory

    assert (found.bytes, found.total_allocated, found.time_ns) == (-512, 1024, 5000)


def test_triton_metadata_of_inductor_is_kept(tmp_path, kineto):
    """The operator around an Inductor kernel names source and warps."""
    builder = kineto.Builder()
    builder.op(
        "triton_poi_fused_0", 0.0, 30.0, 1, kernel_file="/tmp/x.py", kernel_hash="abc", num_warps=4, num_stages=1
    )
    trace = load(builder.write(tmp_path / "t.json"))

    operator = trace.operators[0]
    assert (operator.kernel_file, operator.kernel_hash, operator.num_warps) == ("/tmp/x.py", "abc", 4)


_THREAD = st.sampled_from([1, 2, None, 1 << 70])
_NUMBER = st.none() | st.integers(0, 6) | st.just(1 << 70)
_TIME = st.tuples(st.integers(0, 30), st.integers(0, 12))
_CALL = st.sampled_from(["hipLaunchKernel", "hipGraphLaunch", "hipExtModuleLaunchKernel"])
_GRID = st.sampled_from([None, (4, 1, 1), (6, 1, 1)])
_BLOCK = st.sampled_from([None, (2, 1, 1), (4, 1, 1)])
_KIND = st.sampled_from(["kernel", "kernel", "copy"])
_RECORDS = st.fixed_dictionaries(
    {
        "frames": st.lists(st.tuples(_TIME, _THREAD), max_size=12),
        "operators": st.lists(st.tuples(_TIME, _THREAD, _NUMBER), max_size=12),
        "launches": st.lists(st.tuples(_TIME, _THREAD, _NUMBER, _CALL, _NUMBER), max_size=12),
        "activities": st.lists(
            st.tuples(_TIME, st.integers(0, 1), _NUMBER, _NUMBER, _KIND, _GRID, _BLOCK, _NUMBER), max_size=16
        ),
    }
)


def linked(records):
    """A trace of such records with everything that is found when all of a file is known."""
    trace = LinkedTrace(TraceInfo("t.json", vendor="amd"))
    for (start, duration), thread in records["frames"]:
        trace.frames.append(PythonFrame("f", 0, thread, start, duration))
    for (start, duration), thread, external in records["operators"]:
        trace.operators.append(Operator("o", "operator", 0, thread, start, duration, external_id=external))
    for (start, duration), thread, correlation, name, lds in records["launches"]:
        sizes = {"grid": (8, 1, 1), "lds_bytes": lds}
        trace.launches.append(RuntimeCall(name, 0, thread, start, duration, correlation, **sizes))
    for (start, duration), stream, correlation, external, kind, grid, block, lds in records["activities"]:
        numbers = {"correlation": correlation, "external_id": external, "lds_bytes": lds}
        sizes = {"grid_as_written": grid, "workgroup_size": block}
        trace.activities.append(Activity("k", kind, 0, 0, stream, start, duration, **numbers, **sizes))
    log = IssueLog("t.json")
    link(trace, log)
    settle_grids(trace, log)
    note_oddities(trace, log)
    return [list(table) for table in (trace.frames, trace.operators, trace.launches, trace.activities)], log.all()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=_RECORDS)
def test_whole_columns_are_linked_as_records_are(monkeypatch, records):
    """Nested, touching and crossing times, repeated, missing and huge numbers: tables and remarks are the same."""
    one_by_one = linked(records)
    with monkeypatch.context() as patch:
        patch.setattr(link_columns, "ENOUGH", 0)
        assert linked(records) == one_by_one
