"""Lines that lanes lie in which the vector cache takes together, against looking at every lane."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.model.address_work import address_work
from tests.rules.literate import assembly, facts_of

LOAD = """\
#b = #ttg.blocked<{{sizePerThread = [{each}], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func public @k(%x_ptr: !tt.ptr<f16>, %n: i32) {{
    %step = arith.constant dense<{step}> : tensor<{tile}xi32, #b>
    %r = tt.make_range {{end = {tile} : i32, start = 0 : i32}} : tensor<{tile}xi32, #b>
    %at = arith.muli %r, %step : tensor<{tile}xi32, #b>
    %s = tt.splat %n : i32 -> tensor<{tile}xi32, #b>
    %m = arith.cmpi slt, %r, %s : tensor<{tile}xi32, #b>
    %v = amdg.buffer_load %x_ptr[%at], %m : !tt.ptr<f16> -> tensor<{tile}xf16, #b> loc(#loc1)
    tt.return
  }}
}}
#loc1 = loc("/user/k.py":7:0)
"""


BODY = """\
    .file 1 "/user" "k.py"
    .loc 1 7 0
    buffer_load_ushort v1, v2, s[0:3], 0 offen"""


def work(step, each, line, n=1 << 20, tile=1024):
    facts = facts_of(assembly(BODY))
    module = mlir.parse(LOAD.format(step=step, each=each, tile=tile))
    found = address_work(replace(facts, ttgir=module, grid=(1, 1, 1), arguments={"n": n}), line, 4)
    return found.get(next(i.index for i in facts.program.instructions if "buffer_load" in i.text), 1.0)


def lines(step, each, line, start):
    """Of four lanes whose first one reads at a byte."""
    return len({(start + lane * step * each * 2) // line for lane in range(4)})


@given(step=st.integers(1, 200), each=st.sampled_from([1, 2, 8]), line=st.sampled_from([64, 128]))
def test_lanes_take_a_cycle_for_each_line_that_they_lie_in(step, each, line):
    apart = step * each * 2
    aligned = line % apart == 0 or apart % line == 0
    starts = range(0, 64 * 4 * apart, 4 * apart) if aligned else range(0, line, 2)
    expected = sum(lines(step, each, line, start) for start in starts) / len(starts)
    assert work(step, each, line) == pytest.approx(expected, rel=0.03)


def test_lanes_beyond_the_end_take_none():
    assert work(1, 1, 64, n=256) == 0.25
    assert work(9, 1, 64, n=1 << 20) == pytest.approx(1 + 54 / 64)
