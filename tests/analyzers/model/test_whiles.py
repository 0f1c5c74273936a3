"""Loops in a ``scf.while``: entries, iterations and branches, against stream-K counted step by step."""

from collections import Counter
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.model.entries import over_iterations
from kprof_analyzers.model.scalars import Evaluator

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
