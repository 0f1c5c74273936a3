"""What a kernel loads and stores, and how often: against counting by hand."""

from dataclasses import replace

import pytest

import kprof_analyzers.model.kernel as parts
from kprof.inputs import mlir
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.launch import spread
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.traffic import Access
from kprof_analyzers.model.trips import Trips

LOOP = ["s_mov_b32 s0, 0", ".LBB0_1:", "s_cmp_lt_i32 s0, 64", "s_cbranch_scc1 .LBB0_1"]

BRANCHES = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%x: !tt.ptr<f32>, %n: i32, %unknown: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
    %low = arith.cmpi slt, %pid, %c1 : i32
    %at = tt.addptr %x, %pid : !tt.ptr<f32>, i32
    scf.if %low {
      %v0 = tt.load %at : !tt.ptr<f32>
    }
    scf.if %unknown {
      %v1 = tt.load %at : !tt.ptr<f32>
      scf.if %low {
        %v2 = tt.load %at : !tt.ptr<f32>
      }
    } else {
      %v3 = tt.load %at : !tt.ptr<f32>
    }
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.if %low {
        %v4 = tt.load %at : !tt.ptr<f32>
      } else {
        %v5 = tt.load %at : !tt.ptr<f32>
        scf.for %j = %c0 to %c1 step %c1 : i32 {
          %v6 = tt.load %at : !tt.ptr<f32>
        }
      }
    }
    tt.return
  }
}
"""


def loads_of(module):
    return [op for op in module.operations if op.name == "tt.load"]


@pytest.mark.parametrize(
    ("moved", "left_out"),
    [
        # Bytes of the seven loads; the last three are a loop's, where no condition holds for all iterations.
        ((1, 2, 3, 9, 4, 1, 1), (1, 2, 5, 6)),
        ((1, 9, 3, 9, 4, 9, 9), (3, 4)),
        # Equal sides: the first one stays.
        ((1, 2, 3, 5, 4, 2, 2), (3, 5, 6)),
    ],
)
def test_of_a_branch_of_unknown_condition_the_side_that_moves_more_is_gone_through(moved, left_out):
    module = mlir.parse(BRANCHES)
    evaluator = Evaluator(module, {"n": 8}, [(0, 0, 0), (1, 0, 0)], (2, 1, 1))
    every = [Access(op, size / 4, 0, 4.0) for op, size in zip(loads_of(module), moved, strict=True)]
    found = parts.one_side(every, evaluator, {})
    assert tuple(n for n, access in enumerate(found) if access.times == 0) == left_out
    assert [a.times for n, a in enumerate(found) if n not in left_out] == [4.0] * (7 - len(left_out))
    # How often is known: nothing is left out.
    assert parts.one_side(every, evaluator, {op.index: 0.5 for op in loads_of(module)}) == every


LOOPS = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%x: !tt.ptr<f32>, %n: i32, %unknown: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c5 = arith.constant 5 : i32
    scf.for %i = %c0 to %unknown step %c1 : i32 {
      scf.for %j = %c0 to %c5 step %c1 : i32 {
        scf.for %l = %c0 to %c3 step %c1 : i32 {
        }
      }
    }
    scf.for %m = %c0 to %c3 step %c1 : i32 {
      scf.for %o = %c0 to %c5 step %c1 : i32 {
      }
    }
    tt.return
  }
}
"""


@pytest.fixture
def moved(kernel, gpu, monkeypatch):
    """``moved(...)``: what accesses are counted with, and the cycles that atomics of one address take."""

    def make(trips=(), *, caches=(4096.0, 1e6), xcds=8, running=304, **effects):
        told = {}

        def accesses(_facts, _evaluator, times, _come_to, **more):
            told.update(more, times=dict(times), known=_evaluator.known())
            return []

        monkeypatch.setattr(parts, "accesses", accesses)
        monkeypatch.setattr(parts, "on_one_address", lambda *_: 7.0)
        monkeypatch.setattr(parts, "together", lambda where, _: ([(n, 0, 0) for n in range(where.total)], running))
        facts = replace(kernel(LOOP, grid=(4,)), ttgir=mlir.parse(LOOPS))
        machine = gpu(l2=caches[0], mall=caches[1], xcds=xcds)
        where = spread(facts, machine, Effects())
        evaluator = Evaluator(facts.ttgir, {}, [(n, 0, 0) for n in range(4)], (4, 1, 1))
        loops = [op for op in facts.ttgir.operations if op.is_loop]
        found = [Trips(mean, operation=None if n is None else loops[n]) for n, mean in trips]
        _, shared = parts._traffic(facts, machine, where, evaluator, found, come_to={}, effects=Effects(**effects))
        told["times"] = {n: told["times"][op.index] for n, op in enumerate(loops) if op.index in told["times"]}
        return told, shared.contended

    return make


def test_a_loop_s_body_is_done_as_often_as_all_loops_around_it_say(moved):
    """Of the loop of unknown length one iteration counts; the others have 5 of 3 and 3 of 5."""
    assert moved()[0]["times"] == {1: 5, 2: 15, 3: 3, 4: 15}
    # The assembly's iterations come first: half of the workgroups have 5 and half of them 6.
    assert moved([(0, 7.0), (1, 5.5)])[0]["times"] == {0: 7, 1: 38.5, 2: 38.5 * 3, 3: 3, 4: 15}
    assert moved([(4, 2.0)])[0]["times"][4] == 2
    assert moved([(3, 2.5), (4, 2.0)])[0]["times"][4] == 5


def test_workgroups_begin_their_innermost_loops_and_are_in_the_middle_of_the_others(moved):
    """Of 3 iterations of the outer loop the one with number 1; a loop of the assembly alone is none of the TTGIR's."""
    known = moved([(None, 9.0), (3, 3.0), (4, 5.0)])[0]["known"]
    assert {name[1]: value for name, value in known.items() if name[1] in "mo"} == {"m": 1, "o": 0}
    assert moved([(3, 3.0)])[0]["known"].keys() == known.keys()


@pytest.mark.parametrize(
    ("caches", "running", "held"),
    [
        # Four workgroups on eight dies have two L2s each, and a quarter of the Infinity Cache.
        ((4096.0, 1e6), 4, (8192, 1e6 / 4)),
        ((4096.0, 1e6), 16, (2048, 1e6 / 16)),
        # Without an Infinity Cache: of all L2s together.
        ((4096.0, 0.0), 16, (2048, 8 * 4096 / 16)),
        ((4096.0, 0.0), 0, (8 * 4096, 8 * 4096)),
    ],
)
def test_a_workgroup_has_its_share_of_the_caches(moved, caches, running, held):
    assert moved(caches=caches, running=running)[0]["held"] == held
    assert moved(caches=caches, running=running, overlapping_loads=False)[0]["held"] == (0, 0)


def test_atomics_of_one_address_are_counted_unless_they_are_left_out(moved):
    assert moved()[1] == 7
    assert moved(contention=False)[1] == 0


RARE = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%x: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    scf.for %i = %c0 to %c4 step %c1 : i32 {
      scf.for %j = %c0 to %c4 step %c1 : i32 {
      }
      %first = arith.cmpi eq, %i, %c0 : i32
      scf.if %first {
        %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
        %b = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
        %a = tt.addptr %b, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
        %v = tt.load %a : tensor<64x!tt.ptr<f32>>
      }
    }
    tt.return
  }
}
"""


def test_what_one_of_four_iterations_loads_is_loaded_once(kernel):
    """Four iterations of which the first one takes the branch; without that effect it is loaded in all of them."""
    facts = replace(kernel(LOOP, grid=(4,)), ttgir=mlir.parse(RARE))
    assert [access.times for access in parts.build(facts).accesses] == [1]
    assert [access.times for access in parts.build(facts, Effects(rare_branches=False)).accesses] == [4]
