"""Write-backs of L2 before atomics: counts by hand, and times that were published of kernels with them."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kprof
from kprof.analysis import ModelChange
from kprof.inputs import mlir
from kprof_analyzers.model import Effects, predict
from kprof_analyzers.model.explain import assumptions, explain
from kprof_analyzers.model.gains import without
from kprof_analyzers.model.kernel import build, simulate
from kprof_analyzers.model.traffic import Sharing
from kprof_analyzers.model.write_backs import delayed, queue_cycles, wavefronts_of, write_backs

FILE = """
import triton
import triton.language as tl


@triton.jit
def columns(g, x, o, n, H: tl.constexpr, R: tl.constexpr, C: tl.constexpr, SEM: tl.constexpr):
    rows = tl.program_id(0) * R + tl.arange(0, R)[:, None]
    cols = tl.program_id(1) * C + tl.arange(0, C)
    at = rows * H + cols[None, :]
    mask = (rows < n) & (cols < H)[None, :]
    part = tl.sum(tl.load(g + at, mask=mask, other=0.0).to(tl.float32) * tl.load(x + at, mask=mask, other=0.0), axis=0)
    tl.atomic_add(o + cols, part, mask=cols < H, sem=SEM)
"""


@pytest.mark.triton
def test_sums_of_columns_wait_for_the_write_backs(tmp_path):
    """Of a published program of 226 us this kernel is what its two others, 39 us, and the flush, 50 us, leave.

    Without the write-backs it is predicted at 29 us. KP107 says what cures it; its gain is that of the cured kernel.
    """
    file = tmp_path / "columns.py"
    file.write_text(FILE, encoding="utf-8")
    found = {}
    for sem in ("acq_rel", "relaxed"):
        (kernel,) = kprof.analyze(
            f"{file}::columns", arch="MI350X", signature="*bf16:16,*fp32:16,*fp32:16,i32",
            constexpr={"H": 2560, "R": 64, "C": 256, "SEM": sem}, grid=(124, 10), shape={"n": 7892},
            config={"num_warps": 8}, condition="warm", try_cures=False,
        ).kernels  # fmt: skip
        found[sem] = kernel.model.time_us, [f for f in kernel.findings if f.rule == "KP107"], kernel.model
    slow, (finding,), model = found["acq_rel"]
    fast, none, other = found["relaxed"]
    assert slow == pytest.approx(226 - 39 - 50, rel=0.25)
    assert model.bound == "memory latency"
    assert fast < 40
    assert none == []
    assert slow - fast <= finding.gain.us <= 1.05 * (slow - fast)
    assert finding.gain.at_most
    said = "an L2 does its share of the 4,960 write-backs before atomics one by one, 170 ns each"
    assert said in model.assumptions
    assert not any("write-backs" in line for line in other.assumptions)


ATOMIC = ["buffer_wbl2 sc1", "s_waitcnt vmcnt(0)", "global_atomic_add_f32 v0, v1, s[0:1]", "buffer_inv sc1"]
LOOP = [".LBB0_1:", *ATOMIC, "s_add_i32 s0, s0, 1", "s_cmp_lt_i32 s0, 3", "s_cbranch_scc1 .LBB0_1"]
PLACED = ['.file\t1 "/user" "k.py"', ".loc\t1 9 0", *ATOMIC[:1], ".loc\t1 10 0", *ATOMIC[:1]]
MODULE = """
#b = #ttg.blocked<{{sizePerThread = [{each}], threadsPerWarp = [64], warpsPerCTA = [8], order = [0]}}>
#odd = #ttg.unheard_of<{{}}>
module attributes {{"ttg.num-warps" = 8 : i32, "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func public @k(%o: !tt.ptr<f32>, %x: f32) {{
    {body}
    tt.return
  }}
}}
#loc1 = loc("/user/k.py":9:1)
#loc2 = loc("/user/k.py":10:1)
#loc3 = loc("/user/k.py":11:1)
"""
TILE = "%{name} = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (tensor<{size}x!tt.ptr<f32>, #b>, tensor<{size}xf32, #b>, tensor<{size}xi1, #b>) -> tensor<{size}xf32, {layout}> loc(#loc{line})"  # noqa: E501
SCALAR = "%s = tt.atomic_rmw fadd, acq_rel, gpu, %o, %x : (!tt.ptr<f32>, f32) -> f32 loc(#loc{line})"


def tile(line=1, size=256, layout="#b", name="t"):
    return TILE.format(line=line, size=size, layout=layout, name=name)


def module(*body, size=256, each=1):
    return mlir.parse(MODULE.format(size=size, each=each, body="\n    ".join(body)))


def counted(facts):
    model = build(facts)
    assert write_backs(facts, model.nodes, model.trips) == model.write_backs
    return model.write_backs


def test_each_wavefront_executes_each_write_back(kernel):
    assert counted(kernel(ATOMIC)) == (4, 1)
    assert counted(kernel(ATOMIC * 3, warps=8)) == (24, 3)
    assert counted(kernel(ATOMIC[2:])) == (0, 0)


def test_iterations_count(kernel):
    facts = kernel(LOOP)
    trips = next(iter(build(facts).trips.values())).mean
    assert trips > 1
    assert counted(facts) == (4 * trips, trips)


def test_a_workgroup_of_unknown_size_has_four_wavefronts(kernel):
    facts = kernel(ATOMIC, warps=8)
    assert counted(replace(facts, resources=msgspec.structs.replace(facts.resources, num_warps=None))) == (4, 1)


def test_wavefronts_without_elements_of_their_own_execute_none(kernel):
    """256 elements are in four of eight wavefronts; a scalar is of one."""
    facts = kernel(PLACED, warps=8)
    assert counted(replace(facts, ttgir=module(tile(1), SCALAR.format(line=2)))) == (4 + 1, 2)
    # The line of the second has no atomic: it may belong to any.
    assert counted(replace(facts, ttgir=module(tile(1)))) == (4 + 4, 2)
    assert counted(replace(facts, ttgir=module(SCALAR.format(line=1)))) == (1 + 1, 2)
    # Of several lines with atomics, the one with most wavefronts.
    both = module(tile(1), SCALAR.format(line=3))
    assert counted(replace(kernel(PLACED[-2:], warps=8), ttgir=both)) == (4, 1)
    # The larger of two atomics of a line counts, in whatever order.
    for both in ([tile(1), SCALAR.format(line=1)], [SCALAR.format(line=1), tile(1)]):
        assert counted(replace(facts, ttgir=module(*both, SCALAR.format(line=2).replace("%s", "%u")))) == (4 + 1, 2)
    assert counted(replace(facts, ttgir=module())) == (16, 2)


@pytest.mark.parametrize(
    ("size", "each", "layout", "waves"),
    [
        (256, 1, "#b", 4),
        (256, 4, "#b", 1),
        (512, 1, "#b", 8),
        (4096, 1, "#b", 8),
        (256, 1, "#odd", 6),
        (64, 1, "#b", 1),
    ],
)
def test_wavefronts_of_a_tile(size, each, layout, waves):
    (atomic,) = module(tile(1, size, layout), size=size, each=each).named("tt.atomic_rmw")
    assert wavefronts_of(atomic, 6) == waves


def test_wavefronts_of_a_tile_with_two_axes():
    """Two rows of 64 elements are in two of eight wavefronts."""
    text = MODULE.format(size="2x64", each="1, 1", body=tile(size="2x64"))
    text = text.replace("[64]", "[1, 64]").replace("[8]", "[8, 1]").replace("order = [0]", "order = [1, 0]")
    (atomic,) = mlir.parse(text).named("tt.atomic_rmw")
    assert wavefronts_of(atomic, 6) == 2


def test_a_tile_without_layout_is_in_all_wavefronts():
    (atomic,) = mlir.parse(MODULE.format(size=256, each=1, body=tile()).replace(", #b>", ">")).named("tt.atomic_rmw")
    assert wavefronts_of(atomic, 6) == 6


@given(cycles=st.floats(0, 1e6), queue=st.floats(0, 1e6), phases=st.floats(0, 50))
def test_a_launch_waits_for_the_longer_of_work_and_write_backs(cycles, queue, phases):
    """And for all of both where there is a single round."""
    found = delayed(cycles, queue, phases)
    assert max(cycles, queue) <= found <= (cycles + queue) * (1 + 1e-9)
    if phases <= 1:
        assert found == pytest.approx(cycles + queue)
    assert delayed(cycles, 0.0, phases) == cycles
    assert delayed(100.0, 40.0, 4.0) == 110


NOTHING = Sharing(1.0, 1.0, 0.0, 0.0, None, known=True)


def test_write_backs_of_a_die_are_one_after_the_other(kernel):
    """Of 256 workgroups of four wavefronts on eight dies 128 each, 170 ns: 21.76 us beside 10 us of work."""
    facts = kernel(ATOMIC, product="MI350X", grid=(256,))
    model = replace(build(facts), sharing=NOTHING)
    run = simulate(model, 1)
    assert queue_cycles(model.machine, 1024.0) / model.machine.clock_mhz == pytest.approx(128 * 0.170)
    one = explain(model, run, 22_000.0, [])
    assert one.time_us == pytest.approx(10 + 21.76 + 1.3)
    assert one.shares["memory latency"] >= 21.76 / 33.06 - 1e-4
    # Waiting for one address is no addition to it.
    contended = replace(model, sharing=replace(NOTHING, contended=200.0))
    assert explain(contended, run, 22_000.0, []).time_us == pytest.approx(43.6 + 1.3)
    gone = without(contended, ModelChange(leave_out=("write_backs",)))
    assert explain(gone, run, 22_000.0, []).time_us == pytest.approx(11.3)
    assert (contended.write_backs, gone.write_backs, gone.sharing.contended) == ((4, 1), (0, 0), 0)


def test_write_backs_of_several_rounds_overlap_with_work(kernel):
    """Two rounds of 10 us in all: 43.52 us of write-backs and half of the work, or two write-backs of a wavefront."""
    facts = kernel(ATOMIC, product="MI350X", grid=(256,))
    model = replace(build(facts), sharing=NOTHING)
    twice = replace(model, where=replace(model.where, rounds=2, last=0, total=512))
    assert explain(twice, simulate(model, 1), 22_000.0, []).time_us == pytest.approx(43.52 + 5 + 1.3)
    again = replace(model, write_backs=(8.0, 2.0))
    assert explain(again, simulate(model, 1), 22_000.0, []).time_us == pytest.approx(43.52 + 5 + 1.3)


def test_write_backs_can_be_left_out(kernel):
    facts = kernel(ATOMIC, product="MI350X", grid=(256,))
    assert build(facts, Effects(write_backs=False)).write_backs == (0, 0)
    assert predict(facts).time_us - predict(facts, effects=Effects(write_backs=False)).time_us == pytest.approx(21.76)


def test_what_is_assumed_of_write_backs_is_said(kernel):
    known, unknown = (kernel(ATOMIC, product=name, grid=(512,)) for name in ("MI350X", "MI300X"))
    told = [[line for line in assumptions(build(facts), []) if "write-backs" in line] for facts in (known, unknown)]
    assert told == [
        ["an L2 does its share of the 2,048 write-backs before atomics one by one, 170 ns each"],
        ["the cost of L2 write-backs before atomics on gfx942 is not known: none is assumed"],
    ]
    assert not any("write-backs" in line for line in assumptions(build(kernel(ATOMIC[2:], product="MI350X")), []))
