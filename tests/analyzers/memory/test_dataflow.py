"""Where values come from through regions that are gone through once, as the stages of a warp pipeline are printed."""

import pytest

from kprof.inputs import mlir
from kprof_analyzers.memory.dataflow import Dataflow

STAGES = """\
module {
  tt.func public @k(%A: !tt.ptr<f16>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %end:2 = scf.for %i = %c0 to %n step %c1 iter_args(%at = %A, %kept = %c0) -> (!tt.ptr<f16>, i32)  : i32 {
      %read = scf.execute_region -> f16 no_inline {
        %x = tt.load %at : !tt.ptr<f16>
        scf.yield %x : f16
      } {triton.warp_pipeline.stage = "memory"}
      %both:2 = scf.execute_region -> (!tt.ptr<f16>, i32) no_inline {
        %next = tt.addptr %at, %c64 : !tt.ptr<f16>, i32
        %more = arith.addi %kept, %c1 : i32
        scf.yield %next, %more : !tt.ptr<f16>, i32
      } {triton.warp_pipeline.stage = "product"}
      %used = arith.addf %read, %read : f16
      scf.yield %both#0, %both#1 : !tt.ptr<f16>, i32
    }
    tt.return
  }
}
"""


@pytest.fixture
def flow():
    return Dataflow(mlir.parse(STAGES))


def test_the_loop_yields_what_its_own_end_says_and_not_a_regions(flow):
    (loop,) = flow.module.named("scf.for")
    (step,) = flow.module.named("tt.addptr")
    (load,) = flow.module.named("tt.load")
    pointer = flow.input(load, 0)
    assert flow.initial(pointer) == "%A"
    assert flow.carried(loop)[pointer] == flow.results(step)[0]
    assert flow.producer(flow.following(pointer)) is step


def test_a_regions_results_are_what_it_yields_one_by_one(flow):
    (addition,) = flow.module.named("arith.addf")
    (count,) = (op for op in flow.module.named("arith.addi") if op.results)
    assert flow.producer(flow.input(addition, 0)).name == "tt.load"
    (loop,) = flow.module.named("scf.for")
    counted = list(flow.carried(loop).values())[1]
    assert flow.producer(counted) is count
    assert "tt.load" not in {op.name for op in flow.back(counted)}


def test_names_from_before_a_region_are_known_behind_it(flow):
    (loop,) = flow.module.named("scf.for")
    for op in flow.module.operations:
        for value in flow.inputs(op):
            made = flow.producer(value) is not None or flow.initial(value) is not None
            assert made or value in {"%A", "%n"} or op is loop, (op.text, value)
