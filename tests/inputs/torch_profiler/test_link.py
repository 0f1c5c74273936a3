"""From a kernel to its launch, operator, module, forward operator and Python stack."""

from operator import itemgetter

from hypothesis import given, settings
from hypothesis import strategies as st

from kprof.inputs.torch_profiler import load
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.link import link, stack_of
from kprof.inputs.torch_profiler.load import _settle_grid, settle_grids
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
    assert [f.parent for f in load(path, shortest_frame_us=0).frames] == [-1, 0]


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


_RANK = st.integers(0, 1)
_THREAD = st.sampled_from([1, 2, None, 1 << 70])
_NUMBER = st.none() | st.integers(0, 6) | st.just(1 << 70)
_TIME = st.tuples(st.integers(0, 30), st.integers(0, 12))
_CALL = st.sampled_from(["hipLaunchKernel", "hipGraphLaunch", "hipExtModuleLaunchKernel"])
_GRID = st.sampled_from([None, (4, 1, 1), (6, 1, 1)])
_BLOCK = st.sampled_from([None, (2, 1, 1), (4, 1, 1)])
_KIND = st.sampled_from(["kernel", "kernel", "copy"])
_RECORDS = st.fixed_dictionaries(
    {
        "frames": st.lists(st.tuples(_RANK, _TIME, _THREAD), max_size=12),
        "operators": st.lists(st.tuples(_RANK, _TIME, _THREAD, _NUMBER, _NUMBER, _NUMBER), max_size=12),
        "launches": st.lists(st.tuples(_RANK, _TIME, _THREAD, _NUMBER, _CALL, _NUMBER), max_size=12),
        "activities": st.lists(
            st.tuples(_RANK, _TIME, st.integers(0, 1), _NUMBER, _NUMBER, _KIND, _GRID, _BLOCK, _NUMBER), max_size=16
        ),
    }
)


def traced(records):
    """A trace of such records, not linked yet."""
    trace = LinkedTrace(TraceInfo("t.json", vendor="amd"))
    for rank, (start, duration), thread in records["frames"]:
        trace.frames.append(PythonFrame("f", rank, thread, start, duration))
    for rank, (start, duration), thread, external, sequence, of_thread in records["operators"]:
        ids = {"external_id": external, "sequence": sequence, "forward_thread": of_thread}
        trace.operators.append(Operator("o", "operator", rank, thread, start, duration, **ids))
    for rank, (start, duration), thread, correlation, name, lds in records["launches"]:
        sizes = {"grid": (8, 1, 1), "lds_bytes": lds}
        trace.launches.append(RuntimeCall(name, rank, thread, start, duration, correlation, **sizes))
    for rank, (start, duration), stream, correlation, external, kind, grid, block, lds in records["activities"]:
        numbers = {"correlation": correlation, "external_id": external, "lds_bytes": lds}
        sizes = {"grid_as_written": grid, "workgroup_size": block}
        trace.activities.append(Activity("k", kind, rank, 0, stream, start, duration, **numbers, **sizes))
    return trace


def usable(number):
    """Whether an id can link: one beyond 64 bits links to nothing."""
    return number is not None and number < 1 << 63


class OneByOne:
    """The links of a trace found record by record, each by looking at all others."""

    def __init__(self, trace):
        self.frames, self.operators, self.launches, self.activities = map(
            list, (trace.frames, trace.operators, trace.launches, trace.activities)
        )
        for kind, table in enumerate((self.frames, self.operators, self.launches)):
            for row, each in enumerate(table):
                frame, operator = self.around(each, kind, row, 0), self.around(each, kind, row, 1)
                if kind == 0:
                    each.parent = frame
                elif kind == 1:
                    each.frame, each.parent = frame, operator
                    each.forward = self.forward_of(each)
                else:
                    each.frame, each.operator = frame, operator
        self.repeated = self.overlapping = 0
        for each in self.activities:
            self.link(each)
        for row, each in enumerate(self.activities):
            self.collide(row, each)

    def around(self, inner, kind, row, wanted):
        """The row of the last frame (0) or operator (1) of the thread that had begun and is open; -1 of none."""

        def order(each, kind, row):
            return each.start_ns, -each.duration_ns, kind, row

        table = (self.frames, self.operators)[wanted]
        before = [
            (order(each, wanted, at), at)
            for at, each in enumerate(table)
            if (each.rank, each.thread) == (inner.rank, inner.thread)
            and order(each, wanted, at) < order(inner, kind, row)
            and each.start_ns + each.duration_ns > inner.start_ns
        ]
        return max(before)[1] if before else -1

    def forward_of(self, backward):
        """The first forward operator of its rank with its sequence number."""
        if backward.forward_thread in {0, None} or not usable(backward.sequence):
            return -1
        for row, each in enumerate(self.operators):
            if each.forward_thread in {0, None} and (each.rank, each.sequence) == (backward.rank, backward.sequence):
                return row
        return -1

    def link(self, activity):
        """Launch, operator, grid and LDS of an activity."""
        calls = [
            (each.start_ns, row)
            for row, each in enumerate(self.launches)
            if usable(activity.correlation) and (each.rank, each.correlation) == (activity.rank, activity.correlation)
        ]
        begun = [row for start, row in sorted(calls) if start <= activity.start_ns]
        activity.launch = begun[-1] if begun else min(calls)[1] if calls else -1
        if activity.launch >= 0:
            call = self.launches[activity.launch]
            call.activities += 1
            activity.operator, activity.graph = call.operator, "GraphLaunch" in call.name
            if activity.kind == "kernel" and not activity.graph and activity.lds_bytes is None:
                activity.lds_bytes = call.lds_bytes
        if activity.operator < 0 and usable(activity.external_id):
            found = (
                row
                for row, each in enumerate(self.operators)
                if (each.rank, each.external_id) == (activity.rank, activity.external_id)
            )
            activity.operator = next(found, -1)
        if activity.kind == "kernel":
            _settle_grid(self, activity, "amd")

    def collide(self, row, activity):
        """Count it where it is there twice, else where an earlier one of its stream has not ended."""

        def order(each, row):
            return each.start_ns, each.duration_ns, row

        mine = [
            (order(each, at), each)
            for at, each in enumerate(self.activities)
            if (each.rank, each.stream) == (activity.rank, activity.stream) and order(each, at) < order(activity, row)
        ]
        if not mine:
            return
        last = max(mine, key=itemgetter(0))[1]
        known = [(each.start_ns, each.duration_ns, mark(each.correlation)) for each in (last, activity)]
        if known[0] == known[1] and activity.duration_ns > 0:
            self.repeated += 1
        elif activity.start_ns < max(each.start_ns + each.duration_ns for _, each in mine):
            self.overlapping += 1


def mark(number):
    """Numbers beyond 64 bits are all the same."""
    return number if number is None or usable(number) else "huge"


@settings(max_examples=300, deadline=None)
@given(records=_RECORDS)
def test_whole_columns_are_linked_as_records_are(records):
    """Nested, touching and crossing times, two ranks, repeated, missing and huge numbers."""
    trace, log = traced(records), IssueLog("t.json")
    wanted = OneByOne(trace)
    link(trace, log)
    settle_grids(trace, log)
    overlapping = note_oddities(trace, log)
    assert list(trace.frames) == wanted.frames
    assert list(trace.operators) == wanted.operators
    assert list(trace.launches) == wanted.launches
    assert list(trace.activities) == wanted.activities
    assert overlapping == wanted.overlapping
    repeated = [issue.message for issue in log.all() if issue.kind == "repeated-activity"]
    assert [int(words.split(" ")[0]) for words in repeated] == [wanted.repeated] * (wanted.repeated > 0)
