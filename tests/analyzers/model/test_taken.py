"""Branches of outer loops: how often they are taken, which code is theirs, and what it costs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof.inputs.amdgcn import Loop
from kprof_analyzers.model import predict
from kprof_analyzers.model.entries import over_each
from kprof_analyzers.model.kernel import build
from kprof_analyzers.model.outline import BranchNode, LoopNode, loops_of, outline
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.taken import of_operations, taken_shares, with_branches

# Each workgroup has tiles from %pid on; one of %every is %phase behind the others, and needs more work.
TILES = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%tiles: i32, %every: i32, %phase: i32, %few: i32, %data: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %pid = tt.get_program_id x : i32
    scf.for %tile = %pid to %tiles step %c4 : i32 {
      scf.for %k = %c0 to %c8 step %c1 : i32 {
        tt.print "inner" : () loc(#inner)
      }
      %turn = arith.divsi %tile, %c4 : i32
      %rest = arith.remsi %turn, %every : i32
      %more = arith.cmpi eq, %rest, %phase : i32 loc(#asked)
      scf.if %more {
        tt.print "yes" : () loc(#yes)
        %low = arith.cmpi slt, %tile, %few : i32 loc(#yes)
        scf.if %low {
          tt.print "both" : () loc(#both)
        }
      } else {
        tt.print "no" : () loc(#no)
      }
      tt.print "always" : () loc(#always)
    }
    tt.return
  }
}
#inner = loc("k.py":5:0)
#asked = loc("k.py":8:0)
#yes = loc("k.py":9:0)
#both = loc("k.py":10:0)
#no = loc("k.py":11:0)
#always = loc("k.py":12:0)
"""
# The first iteration is told by what the loop carries.
CARRIED = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%tiles: i32, %data: !tt.ptr<i1>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %false = arith.constant false
    %end = scf.for %tile = %c0 to %tiles step %c1 iter_args(%first = %true) -> (i1) : i32 {
      scf.for %k = %c0 to %c1 step %c1 : i32 {
      }
      scf.if %first {
        tt.print "first" : ()
      } else {
        tt.print "others" : ()
      }
      scf.yield %false : i1
    }
    tt.return
  }
}
"""
WORKGROUPS = 4
COUNTS = st.integers(1, 8)


def evaluator(text=TILES, **arguments):
    return Evaluator(mlir.parse(text), arguments, [(p, 0, 0) for p in range(WORKGROUPS)], (WORKGROUPS, 1, 1))


def printed(module):
    """What is printed to the operation that does so."""
    return {op.text.split('"')[1]: op for op in module.operations if op.name == "tt.print"}


def branch_of(op):
    return op.parent, op.region


@given(tiles=st.integers(1, 90), every=COUNTS, phase=COUNTS, few=st.integers(0, 90))
def test_branches_of_a_counted_loop_are_taken_so_often(tiles, every, phase, few):
    """Against the program in Python; what every iteration takes is left out."""
    counts, iterations = dict.fromkeys(("yes", "no", "both"), 0), 0
    for workgroup in range(WORKGROUPS):
        for tile in range(workgroup, tiles, 4):
            iterations += 1
            more = (tile // 4) % every == phase
            counts["yes" if more else "no"] += 1
            counts["both"] += more and tile < few
    found = evaluator(tiles=tiles, every=every, phase=phase, few=few)
    names = printed(found.module)
    wanted = {name: count / iterations for name, count in counts.items() if count < iterations}
    shares = taken_shares(found)

    assert shares == {branch_of(names[name]): share for name, share in wanted.items()}
    of = of_operations(found.module, shares)
    assert {name: of[op.index] for name, op in names.items() if op.index in of} == wanted
    assert set(of.values()) <= set(wanted.values())


@given(st.integers(1, 60))
def test_every_iteration_is_gone_through_by_those_who_are_in_it(tiles):
    found = evaluator(tiles=tiles, every=1, phase=0, few=0)
    outer = next(op for op in found.module.operations if op.is_loop)
    seen = [[] for _ in range(WORKGROUPS)]
    for live in over_each(found, outer):
        tile = found.value("%tile")
        for workgroup in range(WORKGROUPS):
            seen[workgroup] += [tile[workgroup]] if live[workgroup] else []

    assert seen == [list(range(p, tiles, 4)) for p in range(WORKGROUPS)]
    assert "%tile" not in found.snapshot()


@given(st.integers(1, 60))
def test_what_a_loop_carries_decides_anew_in_each_iteration(tiles):
    found = evaluator(CARRIED, tiles=tiles)
    names = printed(found.module)
    wanted = {branch_of(names["others"]): (tiles - 1) / tiles}
    if tiles > 1:
        wanted[branch_of(names["first"])] = 1 / tiles

    assert taken_shares(found) == wanted


@pytest.mark.parametrize(
    ("text", "given"),
    [
        (TILES, {"tiles": 16, "few": 99}),  # conditions not known
        (TILES, {"every": 4, "phase": 0, "few": 99}),  # iterations not known
        (TILES, {"tiles": 300, "every": 4, "phase": 0, "few": 99}),  # too many to look at
        (TILES.replace("%turn = arith.divsi %tile, %c4 : i32", "%turn = tt.load %data : !tt.ptr<i32>"),
         {"tiles": 16, "every": 4, "phase": 0, "few": 99}),
    ],
)  # fmt: skip
def test_what_is_not_known_is_taken_always(text, given):
    assert taken_shares(evaluator(text, **given)) == {}


def test_what_becomes_unknown_is_taken_from_then_on():
    """The first iteration is known to take one side, the others may take either."""
    text = CARRIED.replace("scf.yield %false", "%was = tt.load %data : !tt.ptr<i1>\n      scf.yield %was")
    found = evaluator(text, tiles=8)

    assert taken_shares(found) == {branch_of(printed(found.module)["others"]): 7 / 8}


def test_a_branch_of_an_innermost_loop_is_none():
    """Its way is the longest one, as the compiler's predication makes it anyway."""
    inner = TILES.index("      scf.for %k")
    text = TILES[:inner] + TILES[TILES.index("      %turn") :]
    assert taken_shares(evaluator(text, tiles=16, every=4, phase=0, few=99)) == {}


# The assembly of TILES: two loops, and a branch behind the inner one.
MFMA = "v_mfma_f32_32x32x8_f16 v[16:31], v[100:101], v[102:103], v[16:31]"
ASSEMBLY = [
    '.file\t1 "/user" "k.py"',
    ".loc\t1 4 0",
    "s_mov_b32 s0, 0",
    ".LBB0_1:",
    "s_mov_b32 s1, 0",
    ".LBB0_2:",
    ".loc\t1 5 0",
    *[MFMA] * 4,
    "s_add_i32 s1, s1, 1",
    "s_cmp_lt_i32 s1, 8",
    "s_cbranch_scc1 .LBB0_2",
    ".loc\t1 8 0",
    "s_cmp_lg_u32 s2, 0",
    "s_cbranch_scc1 .LBB0_4",
    ".loc\t1 9 0",
    *[MFMA] * 20,
    ".LBB0_4:",
    ".loc\t1 12 0",
    "s_add_i32 s0, s0, 4",
    "s_cmp_lt_i32 s0, s3",
    "s_cbranch_scc1 .LBB0_1",
]
LAUNCH = {"tiles": 64, "few": 99}
ALWAYS, QUARTER, NEVER = ({"every": every, "phase": phase} for every, phase in ((1, 0), (4, 0), (1, 5)))


@pytest.fixture
def launch(kernel):
    """``launch(how, text)``: facts of the kernel above, with its TTGIR."""

    def make(how, text=TILES, body=ASSEMBLY):
        return replace(kernel(body, grid=(4,)), ttgir=mlir.parse(text), arguments={**LAUNCH, **how})

    return make


def test_a_branch_is_cut_out_of_its_loop_s_way(launch):
    """Its block alone, with its share; all of the way is still there, in order."""
    facts = launch(QUARTER)
    model = build(facts)
    (branch,) = (node for node in loops_of(model.nodes) if isinstance(node, BranchNode))
    (part,) = branch.body

    assert [facts.program.instructions[i].user_frame.line for i in part] == [9] * 20
    assert model.trips[branch.loop.index].mean == 0.25
    assert branch.loop.index not in {loop.index for loop in facts.program.loops}
    assert positions(model.nodes) == positions(outline(facts.program))


def test_files_are_the_same_in_whatever_folder(launch):
    """The compiler's two ends spell paths differently."""
    facts = launch(QUARTER, TILES.replace('"k.py"', '"elsewhere/k.py"'))
    assert any(isinstance(node, BranchNode) for node in loops_of(build(facts).nodes))


def test_a_branch_that_is_cut_out_is_no_natural_loop(launch):
    """Its record says so: neither a latch nor a depth nor a loop around it, and a number behind those of the loops."""
    facts = launch(QUARTER)
    (branch,) = (node for node in loops_of(build(facts).nodes) if isinstance(node, BranchNode))
    (block,) = (b for b in facts.program.blocks if b.start == branch.body[0].start)
    assert branch.loop == Loop(2, "", block.index, (block.index,), (), 0, None, tuple(branch.body[0]))


SKIP = ["s_cbranch_scc1 .LBB0_5", "s_nop 0", ".LBB0_5:"]
BEHIND, RARE = ASSEMBLY.index(".loc\t1 12 0") + 1, ASSEMBLY.index(".loc\t1 9 0") + 1


def test_blocks_that_follow_each_other_stay_one_stretch(launch):
    """Before, between and behind two branches; each way is there once, and ends where the branch begins."""
    lines = [".loc\t1 12 0", "s_nop 0", *SKIP]
    again = ["s_cbranch_scc1 .LBB0_6", ".loc\t1 9 0", *[MFMA] * 3, ".LBB0_6:", *lines]
    again = [line.replace("LBB0_5", "LBB0_7") for line in again]
    facts = launch(QUARTER, body=[*ASSEMBLY[:BEHIND], *SKIP, *again, *ASSEMBLY[BEHIND:]])
    (outer,) = (node for node in build(facts).nodes if isinstance(node, LoopNode))
    kinds = [type(part) for part in outer.body]
    assert kinds == [range, LoopNode, range, BranchNode, range, BranchNode, range]
    assert positions(outer.body) == list(range(outer.body[0].start, outer.body[-1].stop))
    numbers = [part.loop.index for part in outer.body if isinstance(part, BranchNode)]
    assert numbers == [2, 3]
    assert [build(facts).trips[number].mean for number in numbers] == [0.25, 0.25]


@pytest.mark.parametrize(
    ("rare", "others", "unknown", "is_cut"),
    [(2, 3, 0, False), (2, 2, 0, False), (3, 2, 0, True), (1, 0, 9, True), (1, 1, 0, False), (0, 3, 0, False)],
)
def test_a_block_is_a_branch_s_where_most_of_its_instructions_say_so(launch, rare, others, unknown, is_cut):
    """Instructions of the branch's line, of a line that every iteration comes to, and of no line at all."""
    body = [".loc\t1 9 0", *[MFMA] * rare, ".loc\t1 12 0", *[MFMA] * others, ".loc\t1 0 0", *[MFMA] * unknown]
    facts = launch(QUARTER, body=[*ASSEMBLY[: RARE - 1], *body, *ASSEMBLY[ASSEMBLY.index(".LBB0_4:") :]])
    assert any(isinstance(node, BranchNode) for node in loops_of(build(facts).nodes)) is is_cut


def test_of_two_branches_in_a_block_the_rarer_one_counts(launch):
    """A quarter of the iterations takes the branch, and of these half the one in it: tiles below 32 of 64."""
    lines = [".loc\t1 9 0", *[MFMA] * 3, ".loc\t1 10 0", *[MFMA] * 3]
    facts = launch(
        {**QUARTER, "few": 32}, body=[*ASSEMBLY[: RARE - 1], *lines, *ASSEMBLY[ASSEMBLY.index(".LBB0_4:") :]]
    )
    model = build(facts)
    (branch,) = (node for node in loops_of(model.nodes) if isinstance(node, BranchNode))
    assert model.trips[branch.loop.index].mean == 0.125


def positions(nodes):
    """Instructions of an outline, in order."""
    return [i for n in nodes for i in (positions(n.body) if isinstance(n, LoopNode) else n)]


SHARED_LINE = TILES.replace('"always" : () loc(#always)', '"always" : () loc(#yes)')


@pytest.mark.parametrize(
    ("how", "text"),
    [
        (ALWAYS, TILES),
        ({"every": 4}, TILES),
        (QUARTER, SHARED_LINE),
        (QUARTER, TILES.replace('"k.py":9', '"other.py":9')),
    ],
)
def test_where_no_branch_is_known_nothing_is_cut(launch, how, text):
    """Taken always, or of unknown condition, or of lines that others have, too."""
    facts = launch(how, text)
    model = build(facts)
    nodes = outline(facts.program)

    assert model.nodes == nodes
    assert not [node for node in loops_of(model.nodes) if isinstance(node, BranchNode)]
    assert with_branches(facts.program, facts.ttgir, nodes, {}) == (nodes, {})


def test_innermost_loops_are_never_cut(launch):
    """Even where lines of theirs are said to be rare: iterations of those are simulated as they are."""
    facts = launch(QUARTER)
    nodes = outline(facts.program)
    rare = {op.index: 0.5 for op in facts.ttgir.operations if op.name == "tt.print" and '"inner"' in op.text}

    assert with_branches(facts.program, facts.ttgir, nodes, rare) == (nodes, {})


def test_a_branch_costs_as_often_as_it_is_taken(launch):
    never, quarter, always = (predict(launch(how)) for how in (NEVER, QUARTER, ALWAYS))
    most = predict(launch(QUARTER, TILES.replace("cmpi eq, %rest", "cmpi ne, %rest")))

    assert never.cycles < quarter.cycles < most.cycles < always.cycles
    assert quarter.cycles - never.cycles == pytest.approx((always.cycles - never.cycles) / 4, rel=0.1)
    # As long as a kernel that has no such code.
    start, end = ASSEMBLY.index(".loc\t1 9 0"), ASSEMBLY.index(".LBB0_4:")
    without = predict(launch(ALWAYS, body=ASSEMBLY[:start] + ASSEMBLY[end:]))
    assert never.cycles == pytest.approx(without.cycles, rel=0.02)


def test_loops_are_reported_as_before(launch):
    """A branch is no loop, and an iteration of the loop around has its share of it."""
    never, quarter, always = (predict(launch(how)) for how in (NEVER, QUARTER, ALWAYS))
    assert {tuple(loop.header for loop in found.loops) for found in (never, quarter, always)} == {
        (".LBB0_1", ".LBB0_2")
    }
    cycles = [found.loops[0].cycles_per_iteration for found in (never, quarter, always)]
    assert cycles[1] - cycles[0] == pytest.approx((cycles[2] - cycles[0]) / 4, rel=0.1)
    assert sum(quarter.shares.values()) == pytest.approx(1, abs=0.01)
