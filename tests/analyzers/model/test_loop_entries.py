"""Loops in loops and where their addresses go, against the same loops in Python."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.model.entries import branches_in, course, ends, over_each, over_iterations, reach, taken
from kprof_analyzers.model.scalars import Evaluator

WORKGROUPS = 4
NESTED = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%tiles: i32, %stride: i32, %end: i32, %bound: i32, %unknown: i32, %data: !tt.ptr<i1>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %pid = tt.get_program_id x : i32
    %seen = tt.load %data : !tt.ptr<i1>
    scf.for %t = %pid to %tiles step %stride : i32 {
      %low = arith.muli %t, %c2 : i32
      scf.for %k = %low to %end step %c3 : i32 {
      }
      scf.for %j = %c0 to %bound step %c2 : i32 {
      }
      %rest = arith.remsi %t, %c3 : i32
      %third = arith.cmpi eq, %rest, %c0 : i32
      scf.if %third {
        scf.for %i = %c0 to %bound step %c1 : i32 {
        }
      } else {
        %small = arith.cmpi slt, %t, %bound : i32
        scf.if %small {
          scf.for %h = %c0 to %t step %c1 : i32 {
          }
        }
      }
      scf.if %seen {
        scf.for %g = %c0 to %t step %c1 : i32 {
        }
      }
      scf.for %f = %c0 to %unknown step %t : i32 {
      }
    }
    tt.return
  }
}
"""


def is_where_it_was(found, before):
    """Whether an evaluator has the names of loops that it had, and what it knew; it may have worked out more."""
    now = found.snapshot()
    variables = [name for name in now if "@" not in name]
    return variables == [name for name in before if "@" not in name] and all(now[n] == v for n, v in before.items())


@cache
def module(text=NESTED):
    return mlir.parse(text)


def evaluator(text=NESTED, programs=range(WORKGROUPS), **arguments):
    return Evaluator(module(text), arguments, [(p, 0, 0) for p in programs], (len(programs), 1, 1))


def loops_of(found):
    return [op for op in found.module.operations if op.is_loop]


def in_python(tiles, stride, end, bound):
    """Iterations of the outer loop for each workgroup, and those of each loop in it, in the order of the text."""
    entries, inner = [], [[] for _ in range(5)]
    for workgroup in range(WORKGROUPS):
        turns = range(workgroup, tiles, stride)
        entries.append(len(turns))
        every = [
            [len(range(2 * t, end, 3)) for t in turns],
            [len(range(0, bound, 2)) for t in turns],
            [bound for t in turns if t % 3 == 0],
            [t for t in turns if t % 3 and t < bound],
            # A condition from memory: taken for true.
            list(turns),
        ]
        for found, counts in zip(inner, every, strict=True):
            found.append(sum(counts))
    return entries, inner


@given(st.integers(1, 20), st.integers(1, 5), st.integers(0, 50), st.integers(0, 20))
def test_entries_and_iterations_are_those_of_the_loops_in_python(tiles, stride, end, bound):
    """For bounds that depend on the iteration and such as do not, and in branches, on either side."""
    found = evaluator(tiles=tiles, stride=stride, end=end, bound=bound)
    outer, *inner = loops_of(found)
    entries, wanted = in_python(tiles, stride, end, bound)
    assert over_iterations(found, outer) is None
    for loop, iterations in zip(inner, wanted, strict=False):
        before = found.snapshot()
        assert over_iterations(found, loop) == (entries, iterations)
        # The evaluator is where it was.
        assert is_where_it_was(found, before)


def test_a_loop_of_unknown_bounds_has_no_number():
    """Nor is anything lost of what was known before."""
    found = evaluator(tiles=8, stride=2, end=9, bound=3)
    outer, *inner = loops_of(found)
    found.enter(outer)
    before = found.snapshot()
    assert over_iterations(found, inner[-1]) is None
    assert is_where_it_was(found, before)
    unknown = evaluator(tiles=8, end=9, bound=3)
    assert over_iterations(unknown, loops_of(unknown)[1]) is None
    unknown = evaluator(stride=2, end=9, bound=3)
    assert over_iterations(unknown, loops_of(unknown)[2]) is None


@pytest.mark.parametrize(("tiles", "entries"), [(1, [1, 0, 0, 0]), (64, [64, 63, 62, 61]), (65, None), (0, None)])
def test_a_loop_is_gone_through_for_up_to_64_iterations(tiles, entries):
    """Of the workgroup that has most; where there is none at all, nothing is."""
    found = evaluator(tiles=tiles, stride=1, end=200, bound=3)
    outer, first, second, *_ = loops_of(found)
    for loop in (first, second):
        got = over_iterations(found, loop)
        assert (None if got is None else got[0]) == entries
    assert len(list(over_each(found, outer))) == (entries[0] if entries else 0)


@given(st.integers(1, 60), st.integers(1, 9))
def test_over_each_says_who_is_still_there(tiles, stride):
    found = evaluator(tiles=tiles, stride=stride, end=9, bound=3)
    outer = loops_of(found)[0]
    turns = [range(p, tiles, stride) for p in range(WORKGROUPS)]
    live = list(over_each(found, outer))
    assert live == [[n < len(each) for each in turns] for n in range(max(map(len, turns)))]


def test_over_each_goes_through_nothing_that_is_not_known():
    for arguments in ({"stride": 2}, {"tiles": 2}):
        found = evaluator(**arguments)
        assert list(over_each(found, loops_of(found)[0])) == []


@given(st.integers(0, 30), st.integers(1, 30))
def test_branches_are_taken_by_the_workgroups_whose_conditions_hold(tile, bound):
    """In the iteration that workgroup 0 begins with tile, the others with the following ones."""
    found = evaluator(tiles=tile + 40, stride=1, end=9, bound=bound)
    outer, _, plain, third, small, seen, _ = loops_of(found)
    # Each workgroup's own tile.
    found.restart({**found.outside(None), "%t": [tile + p for p in range(WORKGROUPS)]})
    tiles = [tile + p for p in range(WORKGROUPS)]
    assert taken(found, plain, outer.index) == [True] * WORKGROUPS
    assert taken(found, third, outer.index) == [t % 3 == 0 for t in tiles]
    assert taken(found, small, outer.index) == [t % 3 != 0 and t < bound for t in tiles]
    assert taken(found, seen, outer.index) == [True] * WORKGROUPS
    # A condition that all of them share.
    found.restart({**found.outside(None), "%t": tile})
    assert taken(found, third, outer.index) == [tile % 3 == 0] * WORKGROUPS


def test_branches_directly_in_a_loop():
    """Both sides of the first, not the one in it, and the side of the second that there is."""
    operations = module().operations
    outer = next(op for op in operations if op.is_loop)
    ifs = [op.index for op in operations if op.name == "scf.if"]
    found = branches_in(module(), outer.index)
    assert sorted(found) == [(ifs[0], 0), (ifs[0], 1), (ifs[1], 0), (ifs[2], 0)]
    assert all((op.parent, op.region) == branch for branch, op in found.items())
    # The first operation of a side stands for it.
    assert [found[branch].name for branch in sorted(found)] == ["scf.for", "arith.cmpi", "scf.for", "scf.for"]
    # Other loops have none.
    assert branches_in(module(), next(op.index for op in operations if op.is_loop and op.loop == outer.index)) == {}


POINTERS = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%A: !tt.ptr<f16>, %from: i32, %to: i32, %by: i32, %pitch: i32, %idle: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
    %row = arith.muli %pid, %pitch : i32
    %before = tt.addptr %A, %row : !tt.ptr<f16>, i32
    %once = tt.load %before : !tt.ptr<f16>
    %last = arith.addi %to, %pid : i32
    %end = scf.for %k = %from to %last step %by iter_args(%ptr = %before) -> (!tt.ptr<f16>) : i32 {
      %carried = tt.load %ptr : !tt.ptr<f16>
      %at = tt.addptr %before, %k : !tt.ptr<f16>, i32
      %counted = tt.load %at : !tt.ptr<f16>
      %lost = tt.addptr %before, %idle : !tt.ptr<f16>, i32
      %nowhere = tt.load %lost : !tt.ptr<f16>
      %next = tt.addptr %ptr, %pitch : !tt.ptr<f16>, i32
      scf.yield %next : !tt.ptr<f16>
    }
    %all = scf.while (%w = %before) : (!tt.ptr<f16>) -> !tt.ptr<f16> {
      %go = arith.cmpi slt, %w, %end : i32
      scf.condition(%go) %w : !tt.ptr<f16>
    } do {
    ^bb0(%w: !tt.ptr<f16>):
      %walked = tt.load %before : !tt.ptr<f16>
      scf.yield %w : !tt.ptr<f16>
    }
    tt.return
  }
}
"""
SMALL = st.integers(0, 12)


def loads_of(found):
    return [op for op in found.module.operations if op.name == "tt.load"]


def base_of(found, load):
    """Where the argument's memory begins: what workgroup 0 has before the loop."""
    corner = found.corner(load)
    return corner[0] if isinstance(corner, list) else corner


def listed(value):
    return [value] * WORKGROUPS if isinstance(value, int) else value


@given(SMALL, SMALL, st.integers(1, 5), st.integers(0, 100))
def test_addresses_at_the_first_and_the_last_iteration(first, length, step, pitch):
    """Counted ones move by the step, carried ones by the pitch; a loop of no iterations stays at its first."""
    found = evaluator(POINTERS, **{"from": first, "to": first + length, "by": step, "pitch": pitch})
    (loop, _), (once, carried, counted, nowhere, walked) = loops_of(found), loads_of(found)
    base = base_of(found, once)
    turns = [range(first, first + length + p, step) for p in range(WORKGROUPS)]
    iterations = found.trips(loop)
    assert listed(iterations) == [len(each) for each in turns]
    found.enter(loop, first=True)
    before = found.snapshot()

    def at(load):
        start, end = ends(found, load, iterations)
        return [a - base for a in listed(start)], [b - base for b in listed(end)]

    rows = [p * pitch for p in range(WORKGROUPS)]
    assert at(counted) == (
        [row + first for row in rows],
        [row + (each[-1] if each else first) for row, each in zip(rows, turns, strict=True)],
    )
    assert at(carried) == (rows, [row + pitch * max(0, len(each) - 1) for row, each in zip(rows, turns, strict=True)])
    assert at(once) == at(walked) == (rows, rows)
    assert is_where_it_was(found, before)
    assert ends(found, nowhere, iterations) is None
    assert ends(found, counted, None) is None
    places = [row + at_ for row, each in zip(rows, turns, strict=True) for at_ in (first, each[-1] if each else first)]
    low, high = reach(found, counted)
    assert (low - base, high - base) == (min(places), max(places))
    assert reach(found, once) is None
    assert reach(found, walked) is None
    assert reach(found, nowhere) is None


def test_one_workgroup_reaches_from_its_first_to_its_last_tile():
    found = evaluator(POINTERS, range(1), **{"from": 2, "to": 12, "by": 5, "pitch": 7})
    once, carried, counted, *_ = loads_of(found)
    base = base_of(found, once)
    found.enter(loops_of(found)[0], first=True)
    assert [tuple(at - base for at in reach(found, load)) for load in (counted, carried)] == [(2, 7), (0, 7)]


def test_unknown_bounds_leave_addresses_unknown():
    found = evaluator(POINTERS, **{"from": 2, "by": 5, "pitch": 7})
    once, carried, counted, *_ = loads_of(found)
    assert reach(found, counted) is None
    assert ends(found, carried, 3) is None
    assert ends(found, once, 3) is not None


@given(SMALL, SMALL, st.integers(1, 5), st.integers(0, 100))
def test_what_a_loop_counts_and_carries_in_its_first_and_last_iteration(first, length, step, pitch):
    """The last one of each workgroup; the first where it has none at all."""
    found = evaluator(POINTERS, **{"from": first, "to": first + length, "by": step, "pitch": pitch})
    (loop, _), (once, *_) = loops_of(found), loads_of(found)
    base = base_of(found, once)
    (pointer,) = found.flow.carried(loop)
    turns = [range(first, first + length + p, step) for p in range(WORKGROUPS)]
    assert course(found, loop, last=False) == {"%k": first}
    last = course(found, loop, last=True)
    assert listed(last["%k"]) == [each[-1] if each else first for each in turns]
    assert [at - base for at in listed(last[pointer])] == [
        p * pitch + pitch * max(0, len(each) - 1) for p, each in enumerate(turns)
    ]
    # Without a pitch nothing is known of the pointer, and without an end nothing at all.
    bare = evaluator(POINTERS, **{"from": first, "to": first + length, "by": step})
    assert set(course(bare, loop, last=True)) == {"%k"}
    for known in (True, False):
        assert course(evaluator(POINTERS, **{"from": first, "by": step}), loop, last=known) == {}


@given(SMALL, st.integers(1, 20), st.integers(1, 5), st.integers(0, 100))
def test_over_each_carries_pointers_on(first, length, step, pitch):
    found = evaluator(POINTERS, **{"from": first, "to": first + length, "by": step, "pitch": pitch})
    (loop, _), (once, carried, counted, *_) = loops_of(found), loads_of(found)
    base = base_of(found, once)
    before = found.snapshot()
    for number, live in enumerate(over_each(found, loop)):
        assert len(live) == WORKGROUPS
        for load, offset in ((carried, number * pitch), (counted, first + number * step)):
            assert [at - base for at in listed(found.corner(load))] == [p * pitch + offset for p in range(WORKGROUPS)]
    assert is_where_it_was(found, before)
