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


def found_of(text, line, n=1 << 20, together=4, **arguments):
    """What is found of a load of this TTGIR, by the load's position."""
    facts = facts_of(assembly(BODY))
    arguments["n"] = n
    module = None if text is None else mlir.parse(text)
    return address_work(replace(facts, ttgir=module, grid=(1, 1, 1), arguments=arguments), line, together)


def work(step, each, line, n=1 << 20, tile=1024, together=4):
    text = LOAD.format(step=step, each=each, tile=tile)
    found = found_of(text, line, n, together)
    assert set(found) <= {0}
    # What takes no more than neighbouring elements is not listed.
    assert found.get(0) != 1
    return found.get(0, 1.0)


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


@pytest.mark.parametrize(
    ("step", "each", "lines"),
    [
        (16, 1, 2.0),  # lanes 32 bytes apart, two of them in a line of 64
        (8, 2, 2.0),
        (-16, 1, 2.0),
        (32, 1, 4.0),  # a line each
        (128, 1, 4.0),  # four lines apart
        (1, 1, 1.0),
        (24, 1, 1 + 3 * 48 / 64),  # wherever the first one lies in its line
        (48, 1, 4.0),
    ],
)
def test_four_lanes_lie_in_so_many_lines_of_64_bytes(step, each, lines):
    assert work(step, each, 64) == lines
    # Of two lanes in a cycle half of that at most.
    assert work(step, each, 64, together=2) <= 2


TILE = """\
#b = #ttg.blocked<{{sizePerThread = [1, 1], threadsPerWarp = [{down}, {across}], warpsPerCTA = [4, 1], order = [1, 0]}}>
#r = #ttg.slice<{{dim = 1, parent = #b}}>
#c = #ttg.slice<{{dim = 0, parent = #b}}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func public @k(%x: !tt.ptr<f16>, %row: i32, %column: i32) {{
    %i = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #r>
    %j = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #c>
    %i2 = tt.expand_dims %i {{axis = 1 : i32}} : tensor<64xi32, #r> -> tensor<64x1xi32, #b>
    %j2 = tt.expand_dims %j {{axis = 0 : i32}} : tensor<64xi32, #c> -> tensor<1x64xi32, #b>
    %rs = tt.splat %row : i32 -> tensor<64x1xi32, #b>
    %cs = tt.splat %column : i32 -> tensor<1x64xi32, #b>
    %ri = arith.muli %i2, %rs : tensor<64x1xi32, #b>
    %cj = arith.muli %j2, %cs : tensor<1x64xi32, #b>
    %rb = tt.broadcast %ri : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
    %cb = tt.broadcast %cj : tensor<1x64xi32, #b> -> tensor<64x64xi32, #b>
    %at = arith.addi %rb, %cb : tensor<64x64xi32, #b>
    %v = amdg.buffer_load %x[%at] : !tt.ptr<f16> -> tensor<64x64xf16, #b> loc(#loc1)
    tt.return
  }}
}}
#loc1 = loc("/user/k.py":7:0)
"""


@pytest.mark.parametrize(("across", "found"), [(1, {}), (2, {}), (4, {0: 2.0}), (64, {0: 2.0})])
def test_lanes_of_several_rows_are_not_looked_at(across, found):
    """Where fewer lanes than four lie along the axis that the layout goes along first."""
    text = TILE.format(down=64 // across, across=across)
    assert found_of(text, 64, row=1, column=16) == found


def test_what_is_not_known_counts_as_neighbouring_elements():
    """No TTGIR, a layout without rows of lanes, a step from an argument that nobody gave, or from memory."""
    text = LOAD.format(step=16, each=1, tile=1024)
    assert found_of(text, 64) == {0: 2.0}
    assert found_of(None, 64) == {}
    linear = "#ttg.linear<{register = [], lane = [[1], [2], [4], [8], [16], [32]], warp = [[64], [128]], block = []}>"
    assert found_of("#b = " + linear + text[text.index("\n") :], 64) == {}
    named = text.replace("%step = arith.constant dense<16> :", "%step = tt.splat %d : i32 ->").replace(
        "%n: i32)", "%n: i32, %d: i32)"
    )
    assert found_of(named, 64) == {}
    assert found_of(named, 64, d=16) == {0: 2.0}
    assert found_of(named, 64, d=0) == {}


def test_accesses_of_one_line_have_their_mean():
    """A load of neighbouring elements beside one that lies in two lines; a store of the line is another access."""
    text = LOAD.format(step=16, each=1, tile=1024)
    load = next(line for line in text.splitlines() if "buffer_load" in line)
    near = load.replace("%v =", "%w =").replace("[%at]", "[%r]")
    assert found_of(text.replace(load, f"{load}\n{near}"), 64) == {0: 1.5}
    store = "    amdg.buffer_store %v, %x_ptr[%r], %m : !tt.ptr<f16>, tensor<1024xf16, #b> loc(#loc1)"
    assert found_of(text.replace(load, f"{load}\n{store}"), 64) == {0: 2.0}
