"""What real Kineto files do, one test a quirk; numbers are those of the list of format quirks (21 to 28)."""

import pytest

from kprof.inputs.torch_profiler import load
from kprof.inputs.torch_profiler.normalise import integer, kind_of, rank_of_file, rank_of_process
from kprof.inputs.torch_profiler.times import nanoseconds


def kinds(trace) -> set[str]:
    """Kinds of the issues."""
    return {i.kind for i in trace.issues}


def test_quirk_21_amd_kernels_without_grid_take_it_from_their_launch(tmp_path, kineto):
    """Before ROCm 6.3 the kernel says nothing of its grid; registers and LDS are unknown, not zero."""
    builder = kineto.Builder()
    correlation = builder.launch(
        10.0, 2.0, api="hipLaunchKernel", grid=[4, 2, 1], block=[64, 1, 1], **{"shared memory": 512}
    )
    builder.kernel("k", 20.0, 5.0, correlation, kind="Dispatch Kernel")
    builder.kernel("alone", 40.0, 5.0, 999, kind="Dispatch Kernel")
    known, alone = load(builder.write(tmp_path / "t.json")).activities

    assert (known.workgroups, known.work_items, known.workgroup_size) == ((4, 2, 1), (256, 2, 1), (64, 1, 1))
    assert (known.lds_bytes, known.registers) == (512, None)
    assert (alone.workgroups, alone.work_items, alone.lds_bytes) == (None, None, None)


@pytest.mark.parametrize(
    ("api", "unit", "workgroups", "work_items"),
    [
        ("hipExtModuleLaunchKernel", "work-items", (4, 1, 1), (1024, 1, 1)),
        ("hipLaunchKernel", "workgroups", (1024, 1, 1), (262144, 1, 1)),
        ("hipModuleLaunchKernel", "workgroups", (1024, 1, 1), (262144, 1, 1)),
        ("hipExtLaunchKernel", "workgroups", (1024, 1, 1), (262144, 1, 1)),
    ],
)
def test_quirk_22_the_grids_unit_follows_from_the_launch_call(tmp_path, kineto, api, unit, workgroups, work_items):
    """The same three numbers mean work-items after one call and workgroups after the others."""
    builder = kineto.Builder()
    builder.run("k", 100.0, 5.0, api=api, grid=[1024, 1, 1], block=[256, 1, 1])
    (kernel,) = load(builder.write(tmp_path / "t.json")).activities

    assert (kernel.grid_unit, kernel.workgroups, kernel.work_items) == (unit, workgroups, work_items)
    assert kernel.grid_as_written == (1024, 1, 1)


def test_quirk_22_without_its_launch_an_amd_grid_is_not_guessed(tmp_path, kineto):
    """A trace that begins mid-flight: neither unit is claimed, and that is said."""
    builder = kineto.Builder()
    builder.kernel("k", 100.0, 5.0, 77, grid=[1024, 1, 1], block=[256, 1, 1])
    trace = load(builder.write(tmp_path / "t.json"))

    assert trace.activities[0].workgroups is None
    assert "grid-unit-unknown" in kinds(trace)


def test_quirk_22_partial_workgroups_are_counted_up(tmp_path, kineto):
    """A global size that is no multiple of the workgroup is told."""
    builder = kineto.Builder()
    builder.run("k", 100.0, 5.0, api="hipExtModuleLaunchKernel", grid=[1000, 1, 1], block=[256, 1, 1])
    trace = load(builder.write(tmp_path / "t.json"))

    assert trace.activities[0].workgroups == (4, 1, 1)
    assert "grid-not-divisible" in kinds(trace)


def test_quirk_23_one_graph_launch_for_hundreds_of_kernels(tmp_path, kineto):
    """Every kernel of the graph finds the call; the call knows how many; no grid is invented."""
    builder = kineto.Builder()
    builder.op("replay", 5.0, 50.0, 1)
    correlation = builder.launch(10.0, 20.0, api="hipGraphLaunch")
    for n in range(400):
        builder.kernel(f"k{n % 3}", 100.0 + n, 0.5, correlation, kind="Dispatch Task")
    trace = load(builder.write(tmp_path / "t.json"))

    assert trace.launches[0].activities == 400
    assert all(a.graph and a.launch == 0 and a.operator == 0 and a.workgroups is None for a in trace.activities)


def test_quirk_24_hsa_node_numbers_and_empty_product_names_stay_as_written(tmp_path, kineto):
    """Device 9 is an HSA node; an empty name is not replaced by a guess; the vendor is known nevertheless."""
    builder = kineto.Builder()
    builder.kernel("k", 10.0, 1.0, 1, device=9)
    path = builder.write(tmp_path / "t.json")
    path.write_bytes(path.read_bytes().replace(b"AMD Instinct MI300X", b""))
    trace = load(path)

    assert trace.activities[0].device == 9
    assert trace.info.devices == [""]
    assert trace.info.vendor == "amd"
    assert trace.info.versions["roctracer_version"] == "4.1"


def test_quirk_25_kernels_without_launch_overlaps_and_disorder(tmp_path, kineto):
    """All are kept; missing launches and overlaps within a stream are told; order does not matter."""
    builder = kineto.Builder()
    builder.run("late", 300.0, 10.0)
    builder.kernel("early", 100.0, 10.0, 901)
    builder.kernel("over", 105.0, 10.0, 902)
    trace = load(builder.write(tmp_path / "t.json"))

    assert {a.name: a.launch >= 0 for a in trace.activities} == {"late": True, "early": False, "over": False}
    assert {"warm-up", "overlap-in-stream"} <= kinds(trace)


def test_quirk_26_traces_of_2021(tmp_path, kineto):
    """Capitalised categories, text thread ids, integer times, lower-case external ids, zero durations."""
    builder = kineto.Builder()
    builder.add(
        "Operator", "aten::add", 1610366728298088, 50, pid=1, tid="300", **{"External id": 2, "Input dims": [[3]]}
    )
    builder.add(
        "Runtime", "cudaLaunchKernel", 1610366728298090, 5, pid=1, tid="300", correlation=9, **{"external id": 2}
    )
    builder.add("Kernel", "k", 1610366728298146, 0, pid=0, tid="stream 7", stream=7, device=0, correlation=9,
                **{"external id": 0})  # fmt: skip
    builder.add("Memset", "Memset (Device)", 1610366728299000, 1, pid=0, tid="stream 7", device=0, bytes=64)
    path = tmp_path / "t.json"
    path.write_bytes(b'{"schemaVersion": 1, "traceEvents": ' + builder.text("list") + b"}")
    trace = load(path)

    kernel, memset = trace.activities
    assert (kernel.start_ns, kernel.duration_ns, kernel.stream) == (1610366728298146000, 0, 7)
    assert trace.operators[kernel.operator].name == "aten::add"
    assert trace.operators[0].input_dims == "[[3]]"
    assert (memset.kind, memset.bytes, memset.stream) == ("memset", 64, 7)
    assert trace.info.vendor == "nvidia"
    assert "zero-duration" in kinds(trace)


def test_quirk_26_new_traces_keep_their_base_time_apart(tmp_path, kineto):
    """Times are float microseconds after baseTimeNanoseconds: whole ns, and the base is kept for the wall clock."""
    builder = kineto.Builder()
    builder.kernel("k", 6520430065016.281, 2.239, 1)
    trace = load(builder.write(tmp_path / "t.json"))

    assert (trace.activities[0].start_ns, trace.activities[0].duration_ns) == (6520430065016281, 2239)
    assert trace.info.base_time_ns == 1767189312000000000


def test_quirk_26_profiles_older_than_kineto(tmp_path):
    """2020's export has no categories: processes named after the side they are on."""
    path = tmp_path / "t.json"
    path.write_text(
        '[{"name": "aten::mm", "ph": "X", "ts": 1.5, "dur": 9.0, "tid": 1, "pid": "CPU functions", "args": {}},'
        ' {"name": "sgemm", "ph": "X", "ts": 4.0, "dur": 3.0, "tid": 2, "pid": "CUDA functions", "args": {}}]'
    )
    trace = load(path)

    assert [(a.name, a.duration_ns) for a in trace.activities] == [("sgemm", 3000)]
    assert [o.name for o in trace.operators] == ["aten::mm"]


def test_quirk_27_merged_ranks_by_process_offset(tmp_path, kineto):
    """Ranks from 1e8 steps in the process number; ids that repeat between ranks are kept apart."""
    builder = kineto.Builder()
    for rank in range(3):
        offset = rank * 100_000_000
        builder.add("cpu_op", f"op{rank}", 10.0, 50.0, pid=offset + 100, tid=100, **{"External id": 1})
        builder.add("cuda_runtime", "hipLaunchKernel", 12.0, 2.0, pid=offset + 100, tid=100, correlation=5)
        builder.add("kernel", "k", 30.0, 5.0, pid=offset + 2 + rank, tid=0, device=2 + rank, stream=0, correlation=5)
    trace = load(builder.write(tmp_path / "merged.json", "list"))

    assert trace.info.ranks == [0, 1, 2]
    assert [(a.rank, a.device, trace.operators[a.operator].name) for a in trace.activities] == [
        (0, 2, "op0"),
        (1, 3, "op1"),
        (2, 4, "op2"),
    ]


def test_quirk_27_merged_ranks_by_argument(tmp_path, kineto):
    """Where the merging tool wrote the rank into the arguments it is taken from there."""
    builder = kineto.Builder()
    builder.kernel("k", 30.0, 5.0, 5, device=7, rank=3)
    (kernel,) = load(builder.write(tmp_path / "merged.json", "list")).activities

    assert (kernel.rank, kernel.device) == (3, 7)


@pytest.mark.parametrize(("text", "duration"), [("NaN", 0), ("Infinity", 0), ("-3", 0)])
def test_quirk_28_numbers_never_seen_are_survived_and_told(tmp_path, text, duration):
    """No published file has NaN, infinities or negative durations; one that has is read and flagged."""
    path = tmp_path / "t.json"
    path.write_text(
        '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 2, "tid": 0, "ts": 5, "dur": ' + text + "}]}"
    )
    trace = load(path)

    assert [a.duration_ns for a in trace.activities] == [duration]
    assert kinds(trace) & {"not-finite", "negative-duration", "no-duration"}


def test_the_rank_of_a_file():
    """By the trace's own word, else by its name, else unknown."""
    assert rank_of_file({"distributedInfo": {"rank": 6}}, "rank_1.json") == 6
    assert rank_of_file({}, "profile_trace_rank_3.json.gz") == 3
    assert rank_of_file({}, "worker12_step_4.json") == 12
    assert rank_of_file({}, "1782763266.42-TP-1.trace.json.gz") == 1
    assert rank_of_file({}, "http-2.json") is None
    assert rank_of_file({}, "trace.json") is None
    assert rank_of_process(3194582) is None
    assert rank_of_process(303194585) == 3


def test_loose_values():
    """Numbers that come as text, and times that a double cannot hold in nanoseconds."""
    assert [integer(v) for v in (7, 7.0, "7", "0x10", "stream 7", "stream 7 ", "none", None, float("nan"))] == [
        7, 7, 7, 16, 7, 7, None, None, None,
    ]  # fmt: skip
    assert nanoseconds(1610366728298146) == 1610366728298146000
    assert nanoseconds(2.0005) == 2000 or nanoseconds(2.0005) == 2001
    assert kind_of("Kernel") == kind_of("kernel") == "kernel"
    assert kind_of("brand_new_category") == "unknown"
