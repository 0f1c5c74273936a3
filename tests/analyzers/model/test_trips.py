"""Iterations of loops and tiles of workgroups, from small TTGIR modules with known answers."""

from dataclasses import replace
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.model.entries import over_iterations, reach
from kprof_analyzers.model.machine import Channels
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.traffic import Access, footprint, sharing, within_caches

CHANNELS = Channels(line=128, interleave=256, short=0.5, most=2.0)
PERSISTENT = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%M: i32, %K: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c63 = arith.constant 63 : i32
    %c64 = arith.constant 64 : i32
    %c8 = arith.constant 8 : i32
    %pid = tt.get_program_id x : i32
    %tiles = arith.divsi %M, %c64 : i32
    %sum = arith.addi %K, %c63 : i32
    %steps = arith.divsi %sum, %c64 : i32
    scf.for %tile = %pid to %tiles step %c8 : i32 {
      %inner = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %c0) -> (i32) : i32 {
        scf.yield %acc : i32
      }
    }
    tt.return
  }
}
"""
WHILE = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%share: i32, %steps: i32) {
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
      scf.yield %stop : i32
    }
    tt.return
  }
}
"""

SHARED = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%share: i32, %steps: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
    %at = arith.muli %pid, %share : i32
    %end = arith.addi %at, %share : i32
    %first = arith.divsi %at, %steps : i32
    %before = arith.subi %steps, %c1 : i32
    %sum = arith.addi %end, %before : i32
    %last = arith.divsi %sum, %steps : i32
    scf.for %tile = %first to %last step %c1 : i32 {
      %start = arith.muli %tile, %steps : i32
      %stop = arith.addi %start, %steps : i32
      %from = arith.maxsi %at, %start : i32
      %to = arith.minsi %end, %stop : i32
      scf.for %k = %from to %to step %c1 : i32 {
      }
      %owner = arith.cmpi ne, %from, %start : i32
      scf.if %owner {
        tt.print "part" : ()
      } else {
        scf.for %other = %c0 to %tile step %c1 : i32 {
        }
      }
    }
    tt.return
  }
}
"""


def evaluator(text, arguments, programs):
    """An evaluator for workgroups of a one-dimensional grid."""
    return Evaluator(mlir.parse(text), arguments, [(p, 0, 0) for p in programs], (len(programs), 1, 1))


@given(st.integers(1, 4000), st.integers(1, 4000))
def test_bounds_from_arguments_and_program_numbers(rows, depth):
    """``range(pid, M // 64, 8)`` and ``range(0, cdiv(K, 64))``, against Python's own ranges."""
    found = evaluator(PERSISTENT, {"M": rows, "K": depth}, range(8))
    outer, inner = (op for op in found.module.operations if op.is_loop)
    iterations = found.trips(outer)
    found.enter(outer)

    assert iterations == [len(range(p, rows // 64, 8)) for p in range(8)]
    assert found.trips(inner) == ceil(depth / 64)


def test_an_unknown_argument_gives_no_number():
    """Unknown is not zero."""
    found = evaluator(PERSISTENT, {"M": 128}, range(8))
    outer, inner = (op for op in found.module.operations if op.is_loop)

    assert found.trips(outer) == [1, 1, 0, 0, 0, 0, 0, 0]
    assert found.trips(inner) is None


@given(st.integers(1, 40), st.integers(1, 40))
def test_a_while_loop_is_followed_iteration_by_iteration(share, steps):
    """Stream-K: a workgroup's share of the steps lies in so many tiles."""
    found = evaluator(WHILE, {"share": share, "steps": steps}, range(6))
    outer, inner = (op for op in found.module.operations if op.is_loop)
    tiles = [((p + 1) * share - 1) // steps - p * share // steps + 1 for p in range(6)]

    assert found.trips(outer) == tiles
    assert found.trips(inner) == [ceil(share / t) for t in tiles]


@given(st.integers(1, 40), st.integers(1, 40))
def test_branches_of_a_while_loop_count_where_they_are_taken(share, steps):
    """The first workgroup of each tile only."""
    inner = "scf.for %k = %at to %stop step %c1 : i32 {\n      }"
    begun = "%start = arith.muli %tile, %steps : i32\n%owner = arith.cmpi eq, %start, %at : i32\n"
    text = WHILE.replace(inner, f"{begun}scf.if %owner {{\n{inner}\n}}")
    found = evaluator(text, {"share": share, "steps": steps}, range(6))
    outer, loop = (op for op in found.module.operations if op.is_loop)
    tiles = [range(p * share // steps, -(-(p + 1) * share // steps)) for p in range(6)]
    owned = [
        sum(min((t + 1) * steps, (p + 1) * share) - t * steps for t in mine if t * steps >= p * share)
        for p, mine in enumerate(tiles)
    ]

    assert found.trips(outer) == [len(mine) for mine in tiles]
    assert found.trips(loop) == [ceil(iterations / len(mine)) for iterations, mine in zip(owned, tiles, strict=True)]


@given(st.integers(1, 40), st.integers(1, 40))
def test_iterations_are_added_up_over_the_loop_around(share, steps):
    """Stream-K with a counted loop: blocks of each tile, and what only the first workgroup of a tile does."""
    found = evaluator(SHARED, {"share": share, "steps": steps}, range(6))
    outer, inner, reduce = (op for op in found.module.operations if op.is_loop)
    tiles = [range(p * share // steps, -(-(p + 1) * share // steps)) for p in range(6)]

    assert found.trips(outer) == [len(mine) for mine in tiles]
    assert over_iterations(found, outer) is None
    assert over_iterations(found, inner) == ([len(mine) for mine in tiles], [share] * 6)
    owned = [sum(t for t in mine if t * steps >= p * share) for p, mine in enumerate(tiles)]
    assert over_iterations(found, reduce) == ([len(mine) for mine in tiles], owned)


def test_data_ends_a_while_loop_unknown():
    """A bound that was loaded is not guessed."""
    text = WHILE.replace("%end = arith.addi %from, %share : i32", "%end = tt.load %share : !tt.ptr<i32>")
    found = evaluator(text, {"share": 4, "steps": 4}, range(6))
    outer = next(op for op in found.module.operations if op.is_loop)

    assert found.trips(outer) is None


SPLIT_K = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%A: !tt.ptr<f16>, %K: i32, %turns: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %pid = tt.get_program_id x : i32
    %depth = arith.muli %turns, %c64 : i32
    %from = arith.muli %pid, %depth : i32
    %at = tt.addptr %A, %from : !tt.ptr<f16>, i32
    %end = scf.for %k = %c0 to %turns step %c1 iter_args(%ptr = %at) -> (!tt.ptr<f16>) : i32 {
      %a = tt.load %ptr : !tt.ptr<f16>
      %next = tt.addptr %ptr, %c64 : !tt.ptr<f16>, i32
      scf.yield %next : !tt.ptr<f16>
    }
    tt.return
  }
}
"""


@given(st.integers(1, 50), st.integers(1, 16))
def test_a_loop_reaches_as_far_as_its_pointers_go(turns, workgroups):
    """Split-K: each workgroup goes on where the one before stops, 64 elements an iteration."""
    found = evaluator(SPLIT_K, {"turns": turns}, range(workgroups))
    (load,) = (op for op in found.module.operations if op.name == "tt.load")
    low, high = reach(found, load)

    assert high - low == 64 * (turns * workgroups - 1)
    assert reach(found, found.module.operations[-1]) is None


def test_overlapping_places_are_counted_once():
    """Sixteen workgroups that begin in different places of the same 4 KiB."""
    apart = access(list(range(16)), size=1024)
    assert footprint([apart], 16, 16) == 16 * 1024
    assert footprint([replace(apart, span=4096.0)], 16, 16) == 4096


def access(corners, size=1024, times=1.0, run=512, name="tt.load"):
    """A load with these tile corners."""
    (op,) = mlir.parse(f'"{name}"() : () -> ()').operations
    return Access(op, size, corners, times, None, run)


def test_tiles_that_run_together_are_shared_on_their_xcd():
    """Four workgroups on two XCDs: one operand is the same for all, the other different for each."""
    found = sharing([access([0, 0, 0, 0]), access([1, 2, 3, 4])], 2, 4, CHANNELS)

    assert found.beyond_l2 == pytest.approx((1 / 2 + 1) / 2)
    assert found.beyond_mall == pytest.approx((1 / 4 + 1) / 2)
    assert found.loaded == 2048


def test_what_fits_a_cache_comes_from_memory_once():
    """16 workgroups load the same 1 KiB ten times each."""
    alone = access(list(range(16)), times=10.0)
    found = sharing([alone], 1, 16, CHANNELS)
    different = footprint([access([0] * 16, times=1.0)], 16, 16)
    kept = within_caches(found, different, 16, (4096.0, 65536.0), 1)

    assert found.beyond_mall == 1
    assert different == 1024
    assert kept.beyond_mall == pytest.approx(1024 / (10 * 16 * 1024))


def test_a_load_of_unknown_address_is_taken_to_miss():
    """And the model says so."""
    found = sharing([access(None)], 8, 64, CHANNELS)

    assert (found.beyond_l2, found.beyond_mall, found.known) == (1.0, 1.0, False)


def test_short_runs_make_more_work():
    """64 bytes of a row against rows that fill a channel's interleave."""
    short, long = (sharing([access([0, 1], run=run)], 1, 2, CHANNELS) for run in (64, 512))
    assert short.effort > long.effort == 1
