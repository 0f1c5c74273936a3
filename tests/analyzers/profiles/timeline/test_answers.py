"""Top lists, gaps, launch-bound stretches, ranks, comparison, Triton kernels: by hand on small traces."""

import json

import pytest

from kprof.inputs.torch_profiler import load
from kprof_analyzers.profiles.timeline.categories import load_categories
from kprof_analyzers.profiles.timeline.compare import TraceSide, compare
from kprof_analyzers.profiles.timeline.files import TraceFile
from kprof_analyzers.profiles.timeline.gaps import find_gaps
from kprof_analyzers.profiles.timeline.launch_bound import launch_bound_stretches
from kprof_analyzers.profiles.timeline.ranks import compare_ranks, rank_part
from kprof_analyzers.profiles.timeline.steps import kernels_step
from kprof_analyzers.profiles.timeline.top import top_kernels, top_operators
from kprof_analyzers.profiles.timeline.triton_kernels import triton_kernels

RULES = load_categories()


def test_top_kernels_name_category_operator_and_grid(tmp_path, kineto):
    """Sorted by time; the grid is in workgroups whatever the call."""
    trace = load(kineto.small_model(kineto.Builder()).write(tmp_path / "t.json"))
    first, second = top_kernels(trace, RULES)[:2]

    assert (first.name, first.category, first.count, first.total_ns) == ("Cijk_Alik_Bljk_up", "MLP GEMM", 2, 60_000)
    assert (first.operators, first.workgroups) == ({"aten::addmm": 60_000}, (2, 1, 1))
    assert (second.name, second.mean_ns) == ("attn_fwd", 20_000)
    assert round(first.share, 4) == round(60 / 144, 4)


def test_operators_own_and_subtree_time(tmp_path, kineto):
    """An operator owns what it launches itself; its parents get it in their subtree, once under recursion."""
    builder = kineto.Builder()
    builder.op("outer", 0.0, 100.0, 1)
    builder.op("aten::mm", 10.0, 30.0, 2)
    builder.op("aten::mm", 12.0, 20.0, 3)
    builder.kernel("a", 50.0, 7.0, builder.launch(15.0, 2.0))
    builder.kernel("b", 60.0, 5.0, builder.launch(50.0, 2.0))
    found = {o.name: o for o in top_operators(load(builder.write(tmp_path / "t.json")))}

    assert (found["aten::mm"].direct_ns, found["aten::mm"].subtree_ns, found["aten::mm"].calls) == (7000, 7000, 2)
    assert (found["outer"].direct_ns, found["outer"].subtree_ns) == (5000, 12_000)


def test_gaps_and_their_causes(tmp_path, kineto):
    """Three gaps: the CPU was late, the CPU waited, the kernel had long been launched."""
    builder = kineto.Builder()
    builder.kernel("a", 100.0, 10.0, builder.launch(90.0, 2.0))
    builder.op("aten::slow", 105.0, 90.0, 1)
    builder.kernel("b", 200.0, 10.0, builder.launch(190.0, 2.0))
    builder.add("cuda_runtime", "hipDeviceSynchronize", 205.0, 80.0)
    early = builder.launch(206.0, 1.0, tid=101)
    builder.kernel("c", 300.0, 10.0, builder.launch(290.0, 2.0))
    builder.kernel("d", 400.0, 10.0, early)
    report = find_gaps(load(builder.write(tmp_path / "t.json")), RULES)

    assert {g.after: (g.cause, g.duration_ns) for g in report.gaps} == {
        "b": ("launch-bound", 90_000),
        "c": ("synchronisation", 90_000),
        "d": ("queued", 90_000),
    }
    late = next(g for g in report.gaps if g.after == "b")
    assert late.cpu == {"aten::slow": 83_000, "(no operator)": 5000, "hipLaunchKernel": 2000}
    assert late.stack == ["aten::slow"]
    assert (report.total_ns, report.count) == (270_000, 3)


def test_gaps_can_be_limited(tmp_path, kineto):
    """By length and by number; the sums are over all that are long enough."""
    builder = kineto.Builder()
    for n in range(10):
        builder.kernel("k", n * n * 10.0, 1.0, n)
    report = find_gaps(load(builder.write(tmp_path / "t.json")), RULES, at_least_ns=60_000, limit=2)

    assert [g.duration_ns for g in report.gaps] == [169_000, 149_000]
    assert report.count == 6
    assert set(report.by_cause) == {"unknown"}


def test_launch_bound_stretches(tmp_path, kineto):
    """Thirty tiny kernels fed one by one are a stretch; thirty queued ahead are none."""
    builder = kineto.Builder()
    for n in range(30):
        builder.run("tiny", 1000.0 + n * 50, 5.0)
    for n in range(30):
        builder.run("busy", 9000.0 + n * 50, 50.0, at=5000.0 + n)
    (stretch,) = launch_bound_stretches(load(builder.write(tmp_path / "t.json")))

    assert stretch.launches in {29, 30}
    assert stretch.mean_kernel_ns == 5000
    assert stretch.mean_interval_ns == 50_000
    assert stretch.idle_ns == stretch.duration_ns - stretch.busy_ns > 0.85 * stretch.duration_ns


def test_ranks_and_the_one_all_wait_for(tmp_path, kineto):
    """The rank with the shortest collective came last; skew is the longest compute over the median."""
    parts = []
    for rank, (compute, wait) in enumerate([(100.0, 60.0), (100.0, 60.0), (150.0, 10.0)]):
        builder = kineto.Builder()
        builder.kernel("Cijk", 10.0, compute, 1, rank=rank)
        builder.kernel("ncclDevKernel", 10.0 + compute, wait, 2, rank=rank)
        parts.append(rank_part(load(builder.write(tmp_path / f"r{rank}.json")), RULES))
    report = compare_ranks(parts)

    assert report.stragglers == {2: 100_000}
    assert report.compute_skew == 0.5
    assert (report.matched, report.unmatched) == (1, 0)
    assert report.collectives[0].durations == {0: 60_000, 1: 60_000, 2: 10_000}


def test_collectives_that_do_not_match_are_not_paired(tmp_path, kineto):
    """One rank has one more: shifted pairs would be wrong, so none is made, and it is said."""
    parts = []
    for rank in range(2):
        builder = kineto.Builder()
        for n in range(2 + rank):
            builder.kernel("ncclDevKernel", 10.0 + n * 20, 5.0, n, rank=rank)
        parts.append(rank_part(load(builder.write(tmp_path / f"r{rank}.json")), RULES))
    report = compare_ranks(parts)

    assert (report.matched, report.unmatched, report.stragglers) == (0, 5, {})
    assert any("no counterpart" in n for n in report.notes)


def _rank(tmp_path, kineto, rank, world, *kernels, name="all"):
    """One rank's part: kernels by name and duration, of a job of ``world`` ranks."""
    builder = kineto.Builder()
    for n, (kernel, duration) in enumerate(kernels):
        builder.kernel(kernel, 10.0 + n * 100, duration, n, rank=rank)
    path = builder.write(tmp_path / f"{name}{rank}.json")
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "distributedInfo": {"rank": rank, "world_size": world}}))
    return rank_part(load(path), RULES)


def test_some_of_the_ranks_cannot_say_who_is_waited_for(tmp_path, kineto):
    """The same two ranks: of two, one comes last; of 128, it may be any other."""
    kernels = [("ncclDevKernel_AllReduce", 60.0)], [("ncclDevKernel_AllReduce", 10.0)]
    whole = compare_ranks([_rank(tmp_path, kineto, r, 2, *k) for r, k in enumerate(kernels)])
    part = compare_ranks([_rank(tmp_path, kineto, r, 128, *k) for r, k in enumerate(kernels)])

    assert (whole.stragglers, whole.missing) == ({1: 50_000}, 0)
    assert (part.stragglers, part.missing, part.world_size) == ({}, 126, 128)
    assert part.matched == 1
    assert "2 of 128 ranks are here" in part.notes[0]


def test_sends_and_receives_are_no_collectives(tmp_path, kineto):
    """They have no common end: summed, never matched, nobody is blamed for them."""
    parts = [
        _rank(tmp_path, kineto, rank, 2, ("ncclDevKernel_SendRecv(ncclDevComm*)", 30.0 + 40 * rank))
        for rank in range(2)
    ]
    report = compare_ranks(parts)

    assert report.point_to_point == {0: 30_000, 1: 70_000}
    assert (report.matched, report.unmatched, report.stragglers) == (0, 0, {})


def test_two_traces_kernel_by_kernel(tmp_path, kineto):
    """Faster, slower, new and gone; sums by category."""
    before, after = kineto.Builder(), kineto.Builder()
    for n in range(4):
        before.kernel("Cijk_a", n * 100.0, 50.0, n)
    before.kernel("attn_fwd", 1000.0, 10.0, 9)
    for n in range(2):
        after.kernel("Cijk_a", n * 100.0, 40.0, n)
    after.kernel("fmha_fwd", 1000.0, 30.0, 9)
    lists = [top_kernels(load(b.write(tmp_path / f"{n}.json")), RULES) for n, b in enumerate((before, after))]
    found = compare(TraceSide("a", lists[0]), TraceSide("b", lists[1]))

    assert [(k.name, k.delta_ns) for k in found.kernels] == [
        ("Cijk_a", -120_000),
        ("fmha_fwd", 30_000),
        ("attn_fwd", -10_000),
    ]
    assert found.kernels[0].mean_ratio == 0.8
    assert found.kernels[1].mean_ratio is None
    assert found.categories == {"GEMM": (200_000, 80_000), "attention": (10_000, 30_000)}


def test_triton_kernels_and_how_they_are_known(tmp_path, kineto):
    """By Inductor's metadata, by its names, by a plain name through the module API; BLAS is none."""
    builder = kineto.Builder()
    builder.op("triton_poi_fused_0", 0.0, 30.0, 1, kernel_file="/tmp/a.py", kernel_hash="h", num_warps=4, num_stages=1)
    shape = {"grid": [8, 1, 1], "block": [256, 1, 1]}
    builder.run("triton_poi_fused_0", 20.0, 5.0, api="hipModuleLaunchKernel", **shape)
    builder.run("triton_red_fused_1", 120.0, 4.0, api="hipLaunchKernel", **shape)
    builder.run("my_kernel", 220.0, 3.0, api="hipModuleLaunchKernel", grid=[8, 1, 1], block=[128, 1, 1])
    builder.run("Cijk_Alik_Bljk", 320.0, 9.0, api="hipModuleLaunchKernel", **shape)
    builder.run("my_other", 420.0, 2.0, api="hipLaunchKernel", **shape)
    found = triton_kernels(load(builder.write(tmp_path / "t.json")), 64)

    assert [(k.name, k.evidence, k.num_warps, k.source) for k in found] == [
        ("triton_poi_fused_0", "metadata", 4, "/tmp/a.py"),
        ("triton_red_fused_1", "name", 4, None),
        ("my_kernel", "launch", 2, None),
    ]
    assert found[0].workgroups == (8, 1, 1)


@pytest.mark.parametrize(
    ("devices", "wavefronts"),
    [
        ([{"name": "AMD Radeon RX 7900 XTX", "warpSize": 32}], 8),
        ([{"name": "", "warpSize": 64}], 4),
        ([{"name": "AMD Radeon RX 7900 XTX"}], 8),
        ([{"name": "AMD Instinct MI300X"}], 4),
        ([{"name": "AMD Instinct MI300X"}, {"name": "AMD Radeon RX 7900 XTX"}], None),
        ([{"name": "AMD something new"}], None),
        ([], None),
    ],
)
def test_wavefronts_are_counted_in_the_lanes_of_the_gpu(tmp_path, kineto, devices, wavefronts):
    """PyTorch writes the device's warpSize; else the product tells, which is 32 for RDNA; else it is not known."""
    builder = kineto.Builder()
    builder.run("triton_red_fused_1", 120.0, 4.0, api="hipLaunchKernel", grid=[8, 1, 1], block=[256, 1, 1])
    path = builder.write(tmp_path / "t.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**document, "deviceProperties": devices}), encoding="utf-8")
    (found,) = kernels_step(TraceFile(str(path), "kineto")).triton
    assert found.num_warps == wavefronts
