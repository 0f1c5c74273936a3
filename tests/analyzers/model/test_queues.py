"""Tiles drawn from counters in memory, and what the compiler makes of such loops."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import amdgcn, mlir
from kprof_analyzers.model import predict
from kprof_analyzers.model.outline import outline
from kprof_analyzers.model.queues import drawn, is_queue
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.trips import loop_trips

ROOT = Path(__file__).resolve().parents[3]
QUEUE = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%counters: !tt.ptr<i32>, %tiles: i32, %data: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %true = arith.constant true
    %pid = tt.get_program_id x : i32
    %xcd = arith.remsi %pid, %c8 : i32
    %place = arith.muli %xcd, %c8 : i32
    %counter = tt.addptr %counters, %place : !tt.ptr<i32>, i32
    %first = tt.atomic_rmw add, acq_rel, gpu, %counter, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %last = scf.while (%drawn = %first) : (i32) -> i32 {
      %more = arith.cmpi slt, %drawn, %tiles : i32
      scf.condition(%more) %drawn : i32
    } do {
    ^bb0(%drawn: i32):
      scf.for %k = %c0 to %tiles step %c1 : i32 {
      }
      %next = tt.atomic_rmw add, acq_rel, gpu, %counter, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
      scf.yield %next : i32
    }
    tt.return
  }
}
"""


def loops(text, workgroups, **arguments):
    found = Evaluator(mlir.parse(text), arguments, [(p, 0, 0) for p in range(workgroups)], (workgroups, 1, 1))
    return found, *(op for op in found.module.operations if op.is_loop)


@given(st.integers(1, 80), st.sampled_from([8, 24, 304]))
def test_a_queue_is_divided_among_those_who_draw_from_it(tiles, workgroups):
    """Every XCD has a counter: its n-th workgroup draws n first, and goes on in steps of their number."""
    found, outer, inner = loops(QUEUE, workgroups, tiles=tiles)
    each = workgroups // 8

    assert found.trips(outer) == [len(range(p // 8, tiles, each)) for p in range(workgroups)]
    assert sum(found.trips(outer)) == 8 * tiles
    iterations = found.trips(inner)
    assert all(t == tiles or not drawn for t, drawn in zip(iterations, found.trips(outer), strict=True))


HEAD = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%counters: !tt.ptr<i32>, %tiles: i32, %data: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %true = arith.constant true
    %pid = tt.get_program_id x : i32
    %group = arith.remsi %pid, %c2 : i32
    %place = arith.muli %group, %tiles : i32
    %own = tt.addptr %counters, %place : !tt.ptr<i32>, i32
"""
TYPES = "(!tt.ptr<i32>, i32, i1) -> i32"
END = "    tt.return\n  }\n}\n"


def drawn_by(lines, programs, grid, **arguments):
    """What the first draw of these lines is for each workgroup."""
    text = HEAD + "".join(f"    {line}\n" for line in lines) + END
    found = Evaluator(mlir.parse(text), {"tiles": 5, **arguments}, programs, grid)
    return drawn(found, next(op for op in found.module.operations if op.name == "tt.atomic_rmw"), 0)


def draw(counter="%own", step="%c1", name="%first"):
    return f"{name} = tt.atomic_rmw add, acq_rel, gpu, {counter}, {step}, %true : {TYPES}"


ROW = [(p, 0, 0) for p in range(6)]


def test_the_first_draw_counts_those_of_the_same_counter():
    """Two counters of three workgroups each; in steps of what is added; one counter of all."""
    assert drawn_by([draw()], ROW, (6, 1, 1)) == [0, 0, 1, 1, 2, 2]
    assert drawn_by([draw(step="%c2")], ROW, (6, 1, 1)) == [0, 0, 2, 2, 4, 4]
    assert drawn_by([draw("%counters")], ROW, (6, 1, 1)) == [0, 1, 2, 3, 4, 5]


def test_a_part_of_the_workgroups_stands_for_all():
    """Every third of a grid of 18, also where the grid has several dimensions: the next draw is three further on."""
    for grid in ((18, 1, 1), (9, 2, 1), (3, 2, 3)):
        assert drawn_by([draw("%counters")], ROW, grid) == [0, 3, 6, 9, 12, 15]
        assert drawn_by([draw("%counters", step="%c2")], ROW, grid) == [0, 6, 12, 18, 24, 30]
    # Seven workgroups for each two that are looked at: a whole number of draws is between them.
    assert drawn_by([draw("%counters")], [(0, 0, 0), (3, 0, 0)], (7, 1, 1)) == [0, 4]


def test_those_that_have_done_less_draw_first():
    """Work is what all outer loops before have done: inner ones and later ones do not count."""
    work = ["scf.for %i = %pid to %tiles step %c1 : i32 {", "}"]
    same = ["scf.for %i = %c0 to %tiles step %c1 : i32 {", "}"]
    assert drawn_by([*work, draw("%counters")], ROW, (6, 1, 1)) == [5, 4, 3, 2, 1, 0]
    assert drawn_by([*same, *work, draw("%counters")], ROW, (6, 1, 1)) == [5, 4, 3, 2, 1, 0]
    # Twice the work in the other order outweighs it.
    back = ["scf.for %i = %c0 to %pid step %c1 : i32 {", "}"]
    assert drawn_by([*work, *back, *back, draw("%counters")], ROW, (6, 1, 1)) == [0, 1, 2, 3, 4, 5]
    assert drawn_by([draw("%counters"), *work], ROW, (6, 1, 1)) == [0, 1, 2, 3, 4, 5]
    # An inner loop's iterations are no work of their own, and a loop of unknown length says nothing.
    inner = ["scf.for %o = %c0 to %c1 step %c1 : i32 {", *work, "}"]
    assert drawn_by([*inner, draw("%counters")], ROW, (6, 1, 1)) == [0, 1, 2, 3, 4, 5]
    unknown = ["%n = tt.load %data : !tt.ptr<i32>", "scf.for %u = %c0 to %n step %c1 : i32 {", "}"]
    assert drawn_by([*unknown, *work, draw("%counters")], ROW, (6, 1, 1)) == [5, 4, 3, 2, 1, 0]


def test_what_cannot_be_known_is_not_drawn():
    """A counter from memory, a step from memory, a step that differs, tensors of counters."""
    loaded = "%n = tt.load %data : !tt.ptr<i32>"
    place = "%far = test.place %n : (i32) -> !tt.ptr<i32>"
    assert drawn_by([loaded, draw(step="%n")], ROW, (6, 1, 1)) is None
    assert drawn_by([loaded, place, draw("%far")], ROW, (6, 1, 1)) is None
    assert drawn_by([draw(step="%pid")], ROW, (6, 1, 1)) is None
    tensor = draw().replace(TYPES, "(!tt.ptr<i32>, i32, i1) -> tensor<4xi32>")
    assert drawn_by([tensor], ROW, (6, 1, 1)) is None
    assert drawn_by([draw().replace("add,", "max,")], ROW, (6, 1, 1)) is None
    assert drawn_by(["%first = tt.atomic_rmw add, acq_rel, gpu, %own : (!tt.ptr<i32>) -> i32"], ROW, (6, 1, 1)) is None
    # The mask may be left out.
    two = "%first = tt.atomic_rmw add, acq_rel, gpu, %own, %c1 : (!tt.ptr<i32>, i32) -> i32"
    assert drawn_by([two], ROW, (6, 1, 1)) == [0, 0, 1, 1, 2, 2]


QUEUE_OF_TWO = QUEUE
for one, two in (
    ("scf.while (%drawn = %first) : (i32) -> i32", "scf.while (%a = %c0, %drawn = %first) : (i32, i32) -> (i32, i32)"),
    ("scf.condition(%more) %drawn : i32", "scf.condition(%more) %a, %drawn : i32, i32"),
    ("^bb0(%drawn: i32)", "^bb0(%a: i32, %drawn: i32)"),
    ("scf.yield %next : i32", "scf.yield %c1, %next : i32, i32"),
):
    QUEUE_OF_TWO = QUEUE_OF_TWO.replace(one, two)


def test_a_queue_is_a_loop_that_carries_what_it_drew():
    """Also beside other values; not a loop with bounds, nor one that does not go on with it."""
    for text in (QUEUE, QUEUE_OF_TWO):
        found, outer, inner = loops(text, 16, tiles=20)
        assert is_queue(outer, found) is True
        assert is_queue(inner, found) is False
        assert found.trips(outer) == [len(range(p // 8, 20, 2)) for p in range(16)]
    for text in (
        QUEUE.replace("scf.yield %next", "scf.yield %drawn"),
        QUEUE.replace(f"%next = {draw('%counter').partition(' = ')[2]}", "%next = arith.addi %drawn, %c8 : i32"),
        QUEUE.replace("      %next = tt.atomic_rmw", "      %next = tt.atomic_cas"),
    ):
        assert text != QUEUE
        found, outer, inner = loops(text, 16, tiles=20)
        assert is_queue(outer, found) is False
        assert is_queue(inner, found) is False
    twice = QUEUE.replace("      %next = ", f"      {draw('%counter', name='%lost')}\n      %next = ")
    found, outer, _ = loops(twice, 16, tiles=20)
    assert is_queue(outer, found) is True


def test_a_queue_in_larger_steps_or_of_a_part_of_the_grid():
    """A step of eight tiles; every second workgroup of 32 is looked at, each counter has four of them."""
    found, outer, _ = loops(QUEUE.replace("%counter, %c1, %true", "%counter, %c8, %true"), 16, tiles=100)
    assert found.trips(outer) == [len(range(p // 8 * 8, 100, 16)) for p in range(16)]
    found = Evaluator(mlir.parse(QUEUE), {"tiles": 100}, [(p, 0, 0) for p in range(16)], (16, 2, 1))
    (outer, _) = (op for op in found.module.operations if op.is_loop)
    assert found.trips(outer) == [len(range(p // 8 * 2, 100, 4)) for p in range(16)]


def test_few_workgroups_and_a_first_number_that_is_no_draw():
    """One workgroup of eight is looked at; none is; all begin with tile 0 and draw from then on."""
    found = Evaluator(mlir.parse(QUEUE), {"tiles": 100}, [(0, 0, 0)], (8, 1, 1))
    (outer, _) = (op for op in found.module.operations if op.is_loop)
    assert found.trips(outer) in (13, [13])
    assert drawn_by([draw("%counters")], [], (6, 1, 1)) == []
    found, outer, _ = loops(QUEUE.replace("(%drawn = %first)", "(%drawn = %c0)"), 16, tiles=20)
    assert found.trips(outer) in (10, [10] * 16)


def test_what_comes_after_a_queue_or_is_damaged():
    """Another loop's end is not the queue's; a draw without a result, and an end with too many values, are no draws."""
    after = """    %sum = scf.for %q = %c0 to %tiles step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      scf.yield %s : i32
    }
    tt.return"""
    found, outer, *_ = loops(QUEUE.replace("    tt.return", after), 16, tiles=20)
    assert is_queue(outer, found) is True
    found, outer, _ = loops(QUEUE.replace("scf.yield %next : i32", "scf.yield %c1, %next : i32, i32"), 16, tiles=20)
    assert is_queue(outer, found) is False
    nameless = draw().removeprefix("%first = ").replace("-> i32", "-> ()")
    assert drawn_by([nameless], ROW, (6, 1, 1)) == [0, 0, 1, 1, 2, 2]


def test_one_counter_for_all():
    """A counter at one place, the same number for each workgroup."""
    text = QUEUE.replace("tt.addptr %counters, %place", "tt.addptr %counters, %c8")
    found, outer, _ = loops(text, 12, tiles=50)
    assert found.trips(outer) == [len(range(p, 50, 12)) for p in range(12)]


def test_what_else_is_atomic_is_not_a_queue():
    """A maximum, or a step that comes from memory, is not known; loops whose bounds do not change are."""
    for text in (
        QUEUE.replace("atomic_rmw add", "atomic_rmw max"),
        QUEUE.replace("%xcd = arith.remsi %pid, %c8 : i32", "%xcd = tt.load %data : !tt.ptr<i32>").replace(
            "%counter, %c1, %true", "%counter, %xcd, %true"
        ),
    ):
        found, outer, inner = loops(text, 16, tiles=20)
        assert found.trips(outer) is None
        assert found.trips(inner) == 20


def test_a_compare_and_swap_is_taken_to_succeed(kernel):
    """The loop that the assembly has around one is no loop of the kernel's."""
    body = [".LBB0_1:", "global_atomic_cmpswap v0, v1, v[2:3], s[0:1] sc0", "s_waitcnt vmcnt(0)"]
    facts = kernel([*body, "s_cbranch_scc1 .LBB0_1"])
    found = loop_trips(facts, outline(facts.program), None)
    assert [t.mean for t in found.values()] == [16.0]  # nothing is known without a TTGIR

    module = mlir.parse(QUEUE[: QUEUE.index("%last")] + "tt.return\n}\n}\n")
    facts = replace(facts, ttgir=module)
    evaluator = Evaluator(module, {}, [(0, 0, 0)], (1, 1, 1))
    (trips,) = loop_trips(facts, outline(facts.program), evaluator).values()
    assert (trips.mean, trips.known) == (1.0, False)
    assert "compare-and-swap" in trips.source


def spilled(places, loads):
    """A loop of matrix instructions with so many reloads of spilled registers outside or in it."""
    reloads = [f"scratch_load_dword v{n % 8}, off, off offset:{4 * n}" for n in range(loads)] + ["s_waitcnt vmcnt(0)"]
    sums = [f"v[{16 + 4 * n}:{19 + 4 * n}]" for n in range(16)]
    body = [f"v_mfma_f32_16x16x16_f16 {one}, v[100:101], v[102:103], {one}" for one in sums] * 12
    around, inside = (reloads, []) if places == "outside" else ([], reloads)
    start, back = ["s_mov_b32 s0, 0", ".LBB0_1:"], ["s_cmp_lt_i32 s0, 64", "s_cbranch_scc1 .LBB0_1"]
    return [*start, *inside, *body, *back, *around]


def test_115_spills_at_the_edge_cost_nothing_and_in_the_loop_a_lot(kernel):
    """The fastest published tile spills 115 registers, none of them in its loop: it must not be ruled out."""
    plain, edge, inside = (
        predict(kernel(spilled(places, count), warps=8)).time_us
        for places, count in (("outside", 0), ("outside", 115), ("inside", 115))
    )
    assert plain <= edge < 1.15 * plain
    assert inside > 1.5 * plain


def test_few_wavefronts_wait_for_what_they_spilled_just_before(kernel):
    """The vector cache keeps no line for a store: a reload of what was just written comes from L2.

    Published rows with few workgroups take 1.6 times what they would if reloads hit in the vector cache.
    """
    work = {}
    for groups in (32, 304 * 32):
        for apart in (0, 400):
            body = []
            for n in range(48):
                body += [
                    f"scratch_store_dword off, v{n % 8}, off offset:{4 * n + apart}",
                    f"scratch_load_dword v{n % 8}, off, off offset:{4 * n}",
                    "s_waitcnt vmcnt(0)",
                ]
            work[groups, apart] = predict(kernel(body, warps=1, grid=(groups,))).time_us - 1.3
    assert work[32, 0] > 1.4 * work[32, 400]


@pytest.mark.triton
def test_the_published_form_is_predicted_like_the_counted_one():
    """The tile of tritonBLAS 256 x 256 x 64, 8 wavefronts, drawn from counters and dealt out; the drawn one spills."""
    sys.path.insert(0, str(ROOT))
    try:
        from validation.benchmarks.model.compiling import Facts, Point
        from validation.benchmarks.model.kernels.tritonblas import KERNEL
    finally:
        sys.path.remove(str(ROOT))
    size = {"M": 8192, "N": 8192, "K": 8192}
    points = [Point("tritonblas", size, {**KERNEL.config, "STEAL": steal}, "MI300X") for steal in (False, True)]
    dealt, drawn = Facts().prepare(points)
    assert dealt is not None
    assert drawn is not None
    times = [predict(one) for one in (dealt, drawn)]

    assert all(loop.trips_known for one in times for loop in one.loops)
    assert times[1].time_us == pytest.approx(times[0].time_us, rel=0.05)
    assert times[1].bound == "matrix"


def test_loops_that_the_compiler_doubled_turn_once(kernel):
    """LLVM puts the drawing around the work on a tile: two loops for one of the kernel's."""
    work = [
        "s_nop 0",
        ".LBB0_2:",
        *["v_add_u32 v1, v2, v3"] * 60,
        ".LBB0_3:",
        "v_add_u32 v1, v2, v3",
        "s_cbranch_scc1 .LBB0_3",
    ]
    text = [".LBB0_1:", *work, "s_cbranch_scc0 .LBB0_2", "s_nop 0", "s_cbranch_vccnz .LBB0_1"]
    facts = kernel(text)
    module = mlir.parse(QUEUE)
    facts = replace(facts, ttgir=module)
    evaluator = Evaluator(module, {"tiles": 24}, [(p, 0, 0) for p in range(16)], (16, 1, 1))
    found = loop_trips(facts, outline(facts.program), evaluator)
    assert isinstance(facts.program, amdgcn.AssemblyKernel)
    assert [round(t.mean) for t in found.values()] == [1, 12, 24]
