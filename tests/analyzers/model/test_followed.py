"""Loads that go on in a line: how rarely they begin another one, against counting the lines that a loop touches."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.condition import FLUSHED
from kprof.inputs import mlir
from kprof_analyzers.model import Effects, predict
from kprof_analyzers.model.kernel import _begun, build, followed_loads
from kprof_analyzers.model.memory import memory_paths
from kprof_analyzers.model.program import FOLLOWED, LOAD, PARTS
from kprof_analyzers.model.scalars import Evaluator

LINE = 64
MODULE = """
#b = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}}>
module attributes {{"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func public @k(%p: !tt.ptr<f32>, %steps: i32, %step: i32, %row: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
    %r = tt.make_range {{end = 256 : i32, start = 0 : i32}} : tensor<256xi32, #b>
    %rows = tt.splat %row : i32 -> tensor<256xi32, #b>
    %o = arith.muli %r, %rows : tensor<256xi32, #b>
    %b = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #b>
    %a = tt.addptr %b, %o : tensor<256x!tt.ptr<f32>, #b>, tensor<256xi32, #b>
    scf.for %k = %c0 to %steps step %c1 : i32 {{
      %at = arith.muli %{counter}, %step : i32
      %s = tt.splat %at : i32 -> tensor<256xi32, #b>
      %w = tt.addptr %a, %s : tensor<256x!tt.ptr<f32>, #b>, tensor<256xi32, #b>
      %v = tt.load %w : tensor<256x!tt.ptr<f32>, #b> loc(#here)
    }}{after}
    tt.return
  }}
}}
#here = loc("/user/k.py":7:0)
"""
AFTER = "\n    %v2 = tt.load %a : tensor<256x!tt.ptr<f32>, #b> loc(#here)"
BODY = [
    '.file\t1 "/user" "k.py"',
    "s_mov_b32 s0, 0",
    ".LBB0_1:",
    ".loc\t1 7 0",
    "global_load_dword v0, v[80:81], off",
    "s_waitcnt vmcnt(0)",
    "s_add_i32 s0, s0, 1",
    "s_cmp_lt_i32 s0, 64",
    "s_cbranch_scc1 .LBB0_1",
    ".loc\t1 7 0",
    "global_load_dword v1, v[80:81], off",
]


def known(kernel, step, counter="k", after=""):
    module = mlir.parse(MODULE.format(counter=counter, after=after))
    arguments = {"steps": 64, "step": step, "row": 4096}
    facts = replace(kernel(BODY), ttgir=module, arguments=arguments, condition=FLUSHED)
    return facts, Evaluator(module, facts.arguments, [(n, 0, 0) for n in range(304)], (304, 1, 1))


@given(st.integers(0, 40))
def test_as_many_iterations_begin_a_line_as_lines_are_touched(step):
    module = mlir.parse(MODULE.format(counter="k", after=""))
    (load,) = [op for op in module.operations if op.name == "tt.load"]
    evaluator = Evaluator(module, {"steps": 64, "step": step, "row": 4096}, [(0, 0, 0), (1, 0, 0)], (2, 1, 1))
    share = _begun(evaluator, load, LINE)
    lines = len({4 * step * k // LINE for k in range(64 * LINE)})
    if share < 1:
        assert share == pytest.approx(lines / (64 * LINE), abs=1 / (32 * LINE))
    else:
        assert 4 * step * 2 >= LINE


def test_only_loads_of_the_loop_and_only_those_that_go_on(kernel):
    """A column of scales, one step further each time; not the same line of source behind the loop."""
    found, evaluator = known(kernel, 1, after=AFTER)
    inside = found.program.loops[0].instructions
    places = followed_loads(found, evaluator, LINE)
    assert places == {i: 4 / LINE for i in inside if found.program.instructions[i].opcode.is_load}
    whole, evaluator = known(kernel, LINE // 4)
    assert not followed_loads(whole, evaluator, LINE)
    unknown, evaluator = known(kernel, 1, counter="undefined")
    assert not followed_loads(unknown, evaluator, LINE)
    assert not followed_loads(found, None, LINE)


@pytest.mark.parametrize("step", [1, 4])
def test_they_wait_for_l2_and_in_part_for_what_is_behind_it(kernel, step):
    facts, _ = known(kernel, step)
    model = build(facts)
    near, far = model.paths[FOLLOWED], model.paths[LOAD]
    mine = model.paths[FOLLOWED + round(4 * step / LINE * PARTS)]
    assert near.latency <= mine.latency < far.latency
    assert mine.latency == pytest.approx(
        near.latency + (far.latency - near.latency) * round(4 * step / LINE * PARTS) / PARTS
    )
    alone = predict(facts, effects=Effects(followed_lines=False))
    assert predict(facts).time_us < alone.time_us


def test_short_runs_cost_as_much_on_the_way_from_l2_as_those_of_other_loads(kernel):
    """What finds its line in L2 saves the way behind it, not the one to the CU."""
    facts, _ = known(kernel, 1)
    model = build(facts)
    short = replace(model.sharing, effort=2.0)
    paths = memory_paths(model.facts, model.machine, model.effects, model.where, short)
    near_only = memory_paths(model.facts, model.machine, model.effects, model.where, short, near_only=True)
    assert paths[FOLLOWED].cycles_per_byte == near_only[LOAD].cycles_per_byte
    assert paths[FOLLOWED].cycles_per_byte == pytest.approx(
        2 * model.paths[FOLLOWED].cycles_per_byte / model.sharing.effort
    )
