"""Loops in a ``scf.while``: entries, iterations and branches, against stream-K counted step by step."""

from collections import Counter
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.model.entries import over_iterations
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.whiles import Counts, walk

COUNTDOWN = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%turns: i32, %data: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %pid = tt.get_program_id x : i32
    %from = arith.addi %pid, %turns : i32
    %few = arith.cmpi slt, %pid, %c3 : i32
    %loaded = tt.load %data : !tt.ptr<i32>
    BEFORE
    %end:2 = scf.while (%left = %from, %sum = FIRST) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi sgt, %left, %c0 : i32
      scf.condition(%more) %left, %sum : i32, i32
    } do {
    ^bb0(%left: i32, %sum: i32):
      INSIDE
      %less = arith.subi %left, %c1 : i32
      %new = NEXT : i32
      scf.yield %less, %new : i32, i32
    }
    AFTER
    tt.return
  }
}
"""


def walked(turns, workgroups=5, *, first="%c0", following="arith.addi %sum, %left", inside="", before="", after=""):
    """Counts of a loop that workgroup p goes through ``p + turns`` times, and its loops."""
    text = COUNTDOWN.replace("FIRST", first).replace("NEXT", following).replace("INSIDE", inside)
    module = mlir.parse(text.replace("BEFORE", before).replace("AFTER", after))
    arguments = {} if turns is None else {"turns": turns}
    evaluator = Evaluator(module, arguments, [(p, 0, 0) for p in range(workgroups)], (workgroups, 1, 1))
    loops = [op for op in module.operations if op.is_loop]
    return walk(evaluator, loops[0]), *loops


def values(kept):
    """What a loop carries, in the order of its names."""
    return [kept[name] for name in sorted(kept)]


@pytest.mark.parametrize("turns", [-2, 0, 1, 7])
def test_a_loop_counts_down_for_each_workgroup_by_itself(turns):
    """From p + turns to 0, adding up what is left: what it begins with, what its last iteration has, what comes out."""
    found, loop = walked(turns)
    starts = [p + turns for p in range(5)]
    rounds = [max(0, start) for start in starts]
    assert found.entries == {loop.index: [1] * 5}
    assert found.iterations == {loop.index: rounds}
    assert values(found.first[loop.index]) == [starts, 0]
    assert values(found.last) == [[min(start, 0) for start in starts], [sum(range(n + 1)) for n in rounds]]
    assert found.whole(loop)
    if min(starts) > 0:
        assert values(found.final[loop.index]) == [[1] * 5, [sum(range(2, n + 1)) for n in rounds]]


def test_a_loop_that_nobody_goes_through_has_no_last_iteration():
    found, loop = walked(-9)
    assert found.iterations == {loop.index: [0] * 5}
    assert found.final == {}


def test_workgroups_that_do_not_come_to_a_loop_neither_enter_nor_iterate():
    """Three of five take the branch around it."""
    before, after = "scf.if %few {", "}"
    found, loop = walked(2, before=before, after=after)
    assert found.entries == {loop.index: [1, 1, 1, 0, 0]}
    assert found.iterations == {loop.index: [2, 3, 4, 0, 0]}


@pytest.mark.parametrize(("turns", "known"), [(0, True), (60, True), (90, True), (120, False), (None, False)])
def test_a_course_of_about_a_hundred_iterations_is_gone_through(turns, known):
    """A prediction takes no more for a loop; beyond it, as without the number, nothing is told."""
    found, loop = walked(turns, workgroups=1)
    assert found.iterations == {loop.index: [turns] if known else None}
    assert found.whole(loop) is known
    assert bool(found.last) is known


def test_what_comes_from_memory_is_carried_along_without_being_known():
    """The loop's course does not depend on it. Added to something it stays unknown."""
    found, loop = walked(2, first="%loaded")
    assert found.iterations == {loop.index: [2, 3, 4, 5, 6]}
    assert values(found.last) == [[0] * 5, None]
    assert values(found.final[loop.index]) == [[1] * 5]


def test_what_the_body_sets_is_known_where_all_workgroups_have_been_there():
    """With no iterations workgroup 0 still has what it loaded."""
    last = [values(walked(turns, first="%loaded", following="arith.constant 7")[0].last)[1] for turns in (1, 0)]
    assert last == [[7] * 5, None]


def test_loops_inside_are_entered_as_often_as_iterations_pass_them():
    """A ``for`` of as many iterations as are left, which workgroups from 3 on skip; one of unknown end."""
    body = """scf.if %few {
        scf.for %i = %c0 to %left step %c1 : i32 {
        }
      }
      scf.for %j = %c0 to %loaded step %c1 : i32 {
      }"""
    found, outer, inner, unknown = walked(2, inside=body)
    rounds = [2, 3, 4, 5, 6]
    assert found.entries == {outer.index: [1] * 5, inner.index: rounds, unknown.index: rounds}
    summed = [sum(range(n + 1)) if p < 3 else 0 for p, n in enumerate(rounds)]
    assert found.iterations == {outer.index: rounds, inner.index: summed, unknown.index: None}
    assert found.whole(inner)
    assert not found.whole(unknown)


def test_a_branch_is_counted_by_the_iterations_that_take_it():
    """Of all 20 iterations those of workgroups 0 to 2, 2 + 3 + 4, take the one side, the others the other one."""
    body = """scf.if %few {
        tt.print "few" : ()
      } else {
        tt.print "many" : ()
      }"""
    found, loop = walked(2, inside=body)
    (branch,) = {index for index, _ in found.passed[loop.index]}
    assert found.passed == {loop.index: {(branch, 0): (9, 20), (branch, 1): (11, 20)}}


def test_a_loop_in_one_that_was_given_up_is_not_counted_whole():
    loops = [op for op in mlir.parse(STREAM_K).operations if op.is_loop]
    outer, inner, _ = loops
    assert Counts(iterations={outer.index: [3], inner.index: [5]}).whole(inner)
    assert not Counts(iterations={outer.index: None, inner.index: [5]}).whole(inner)
    assert not Counts(iterations={outer.index: [3], inner.index: None}).whole(inner)
    assert Counts(iterations={outer.index: [3], inner.index: None}).whole(outer)


# The first workgroup of a tile waits for those that have the rest of it; the others hand in their parts.
STREAM_K = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%share: i32, %steps: i32, %data: !tt.ptr<i32>) {
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
    %from = arith.muli %pid, %share : i32
    %end = arith.addi %from, %share : i32
    %last = scf.while (%at = %from) : (i32) -> i32 {
      %more = arith.cmpi slt, %at, %end : i32
      scf.condition(%more) %at : i32
    } do {
    ^bb0(%at: i32):
      %tile = arith.divsi %at, %steps : i32
      %next = arith.addi %tile, %c1 : i32
      %bound = arith.muli %next, %steps : i32
      %stop = arith.minsi %bound, %end : i32
      scf.for %k = %at to %stop step %c1 : i32 {
      }
      %start = arith.muli %tile, %steps : i32
      %part = arith.cmpi ne, %at, %start : i32
      scf.if %part {
        tt.print "part" : ()
      } else {
        %open = arith.cmpi slt, %stop, %bound : i32
        scf.if %open {
          %all = scf.while (%seen = %stop) : (i32) -> i32 {
            %wait = arith.cmpi slt, %seen, %bound : i32
            scf.condition(%wait) %seen : i32
          } do {
          ^bb0(%seen: i32):
            %then = arith.addi %seen, %share : i32
            scf.yield %then : i32
          }
        }
      }
      scf.yield %stop : i32
    }
    tt.return
  }
}
"""
WORKGROUPS = 6
SIZES = st.integers(1, 30)


def stream_k(share, steps):
    """For each workgroup where each of its tiles begins, and how often it does what."""
    begins, done = [], []
    for workgroup in range(WORKGROUPS):
        at, end = workgroup * share, (workgroup + 1) * share
        begins.append([])
        done.append(Counter())
        while at < end:
            begins[-1].append(at)
            bound = (at // steps + 1) * steps
            stop = min(bound, end)
            done[-1]["steps"] += len(range(at, stop))
            if at % steps:
                done[-1]["part"] += 1
            else:
                done[-1]["first"] += 1
                if stop < bound:
                    done[-1]["open"] += 1
                    done[-1]["waits"] += len(range(stop, bound, share))
            at = stop
    return begins, done


def evaluated(share, steps, text=STREAM_K):
    """The evaluator, and the loop over tiles with the two in it."""
    found = Evaluator(
        mlir.parse(text),
        {"share": share, "steps": steps},
        [(p, 0, 0) for p in range(WORKGROUPS)],
        (WORKGROUPS, 1, 1),
    )
    loops = [op for op in found.module.operations if op.is_loop]
    found.trips(loops[0])
    return found, *loops


@given(SIZES, SIZES)
def test_iterations_of_all_entries_are_added_up(share, steps):
    """Also of a loop that not every iteration comes to: it is entered then, and left at once."""
    begins, done = stream_k(share, steps)
    found, outer, inner, wait = evaluated(share, steps)
    entries = [len(tiles) for tiles in begins]

    assert found.trips(outer) == entries
    assert over_iterations(found, outer) is None
    assert over_iterations(found, inner) == (entries, [d["steps"] for d in done]) == (entries, [share] * WORKGROUPS)
    assert over_iterations(found, wait) == (entries, [d["waits"] for d in done])
    assert found.trips(wait) == [ceil(d["waits"] / n) for d, n in zip(done, entries, strict=True)]


@given(SIZES, SIZES)
def test_branches_are_counted_as_they_are_taken(share, steps):
    """A branch in a branch only where both are taken."""
    begins, done = stream_k(share, steps)
    found, outer, _, _ = evaluated(share, steps)
    part, is_open = (op.index for op in found.module.operations if op.name == "scf.if")
    wanted = {(part, 0): "part", (part, 1): "first", (is_open, 0): "open"}
    every = sum(map(len, begins))

    assert found.passed(outer) == {branch: (sum(d[name] for d in done), every) for branch, name in wanted.items()}


@given(SIZES, SIZES)
def test_the_first_and_the_last_iteration(share, steps):
    """Each workgroup's own: some have more tiles than others."""
    begins, _ = stream_k(share, steps)
    found, outer, inner, _ = evaluated(share, steps)
    for last, place in ((False, 0), (True, -1)):
        found.at(outer, last=last)
        found.inside(outer.index)
        begun = [tiles[place] for tiles in begins]
        stops = [min((at // steps + 1) * steps, (p + 1) * share) for p, at in enumerate(begun)]
        assert found.value("%at") == begun
        assert found.trips_here(inner) == [stop - at for stop, at in zip(stops, begun, strict=True)]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (8, STREAM_K.replace("%end = arith.addi %from, %share : i32", "%end = tt.load %data : !tt.ptr<i32>")),
        (400, STREAM_K),
    ],
)
def test_a_course_that_is_given_up_says_nothing(share, text):
    """Data ends the loop, or it is too long: part of it is not the whole."""
    found, outer, inner, wait = evaluated(share, 2, text)

    assert found.trips(outer) is None
    assert over_iterations(found, inner) is None
    assert over_iterations(found, wait) is None
    assert not found.passed(outer)


def test_a_wait_for_data_leaves_the_loops_beside_it_known():
    """Nobody knows how long; the tiles and their steps are what they are."""
    text = STREAM_K.replace("%then = arith.addi %seen, %share : i32", "%then = tt.load %data : !tt.ptr<i32>")
    begins, _ = stream_k(5, 8)
    found, _, inner, wait = evaluated(5, 8, text)

    assert over_iterations(found, inner) == ([len(tiles) for tiles in begins], [5] * WORKGROUPS)
    assert over_iterations(found, wait) is None
