"""What masks let through, against counting the elements one by one."""

import operator
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.model.masks import fullest_shares, live_shares, masked
from tests.rules.literate import assembly, facts_of

COMPARE = {
    "slt": operator.lt,
    "ult": operator.lt,
    "sle": operator.le,
    "ule": operator.le,
    "sgt": operator.gt,
    "ugt": operator.gt,
    "sge": operator.ge,
    "uge": operator.ge,
}
HEAD = """\
#b = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32}} {{
"""
MODULE = (
    HEAD
    + """\
  tt.func public @k(%x_ptr: !tt.ptr<f16>, %n: i32, %count: i32) {{
    %c0 = arith.constant 0 : i32
    %by = arith.constant {by} : i32
    %apart = arith.constant dense<{apart}> : tensor<{tile}xi32, #b>
    %each = arith.constant {each} : i32
    %p = tt.get_program_id x : i32
    %first = arith.muli %p, %each : i32
    %fs = tt.splat %first : i32 -> tensor<{tile}xi32, #b>
    %r = tt.make_range {{end = {tile} : i32, start = 0 : i32}} : tensor<{tile}xi32, #b>
    %ra = arith.muli %r, %apart : tensor<{tile}xi32, #b>
    %o = arith.addi %fs, %ra : tensor<{tile}xi32, #b>
    %s = tt.splat %n : i32 -> tensor<{tile}xi32, #b>
    scf.for %i = %c0 to %count step %by  : i32 {{
      %is = tt.splat %i : i32 -> tensor<{tile}xi32, #b>
      %at = arith.addi %is, %o : tensor<{tile}xi32, #b>
      %m = arith.cmpi {how}, {sides} : tensor<{tile}xi32, #b>
      %v = amdg.buffer_load %x_ptr[%at], %m : !tt.ptr<f16> -> tensor<{tile}xf16, #b>
    }}
    tt.return
  }}
}}
"""
)


def facts(text, grid, **arguments):
    """A launch of a module."""
    return replace(facts_of(assembly("    s_nop 0")), ttgir=mlir.parse(text), grid=grid, arguments=arguments)


@given(
    how=st.sampled_from(sorted(COMPARE)),
    size_first=st.booleans(),
    tile=st.sampled_from([16, 64, 256]),
    apart=st.integers(1, 5),
    each=st.sampled_from([0, 16, 100]),
    programs=st.integers(1, 20),
    turns=st.integers(1, 20),
    by=st.sampled_from([1, 7, 64]),
    n=st.integers(0, 2000),
)
def test_the_share_is_what_counting_gives(how, size_first, tile, apart, each, programs, turns, by, n):
    """Over all workgroups, turns and elements, whichever side the size is on."""
    sides = "%s, %at" if size_first else "%at, %s"
    text = MODULE.format(by=by, apart=apart, each=each, tile=tile, how=how, sides=sides)
    (found,) = masked(facts(text, (programs, 1, 1), n=n, count=turns * by))
    numbers = [p * each + t * by + r * apart for p in range(programs) for t in range(turns) for r in range(tile)]
    passed = sum(COMPARE[how](n, at) if size_first else COMPARE[how](at, n) for at in numbers)
    assert found.share == passed / len(numbers)
    assert [(bound.extent, bound.size) for bound in found.bounds] == [(tile, "n")]


def test_what_is_not_known_is_not_counted():
    """Without the size, and without the grid where the workgroup's number counts."""
    text = MODULE.format(by=16, apart=1, each=16, tile=16, how="slt", sides="%at, %s")
    for known, grid in (({"count": 32}, (4, 1, 1)), ({"count": 32, "n": 20}, None), ({"n": 20}, (4, 1, 1))):
        (found,) = masked(facts(text, grid, **known))
        assert found.share is None
        assert live_shares(facts(text, grid, **known)) == {}


LOOP = (
    HEAD
    + """\
  tt.func public @k(%x_ptr: !tt.ptr<f16>, %n: i32, %count: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %blocks = arith.constant {blocks} : i32
    %deep = arith.constant {deep} : i32
    %r = tt.make_range {{end = {tile} : i32, start = 0 : i32}} : tensor<{tile}xi32, #b>
    %s = tt.splat %n : i32 -> tensor<{tile}xi32, #b>
    scf.for %i = %c0 to %count step %c1  : i32 {{
      %turn = arith.{how} %i, %blocks : i32
      %k = arith.muli %turn, %deep : i32
      %ks = tt.splat %k : i32 -> tensor<{tile}xi32, #b>
      %at = arith.addi %ks, %r : tensor<{tile}xi32, #b>
      %m = arith.cmpi slt, %at, %s : tensor<{tile}xi32, #b>
      %v = amdg.buffer_load %x_ptr[%at], %m : !tt.ptr<f16> -> tensor<{tile}xf16, #b>
    }}
    tt.return
  }}
}}
"""
)


@given(
    how=st.sampled_from(["remsi", "divsi"]),
    blocks=st.integers(1, 20),
    deep=st.sampled_from([16, 32]),
    count=st.integers(1, 2500),
    n=st.integers(1, 700),
)
def test_what_begins_anew_in_a_loop_is_no_straight_line(how, blocks, deep, count, n):
    """A convolution goes through its channels once for each place of the kernel."""
    (found,) = masked(facts(LOOP.format(how=how, blocks=blocks, deep=deep, tile=32), (4, 1, 1), n=n, count=count))
    turns = [i % blocks if how == "remsi" else i // blocks for i in range(count)]
    passed = [min(32, max(0, n - turn * deep)) for turn in turns]
    # Divided by one it is a straight line, of which a step in so many is looked at.
    exact = count <= (64 if how == "divsi" and blocks == 1 else 256)
    assert abs(found.share - sum(passed) / (32 * count)) <= (0.0 if exact else 0.12)
    if min(passed) == 32:
        assert found.share == 1


QUOTIENT = (
    HEAD
    + """\
  tt.func public @k(%x_ptr: !tt.ptr<f16>, %images: i32) {{
    %tile = arith.constant {tile} : i32
    %w = arith.constant dense<{width}> : tensor<{tile}xi32, #b>
    %h = arith.constant dense<{height}> : tensor<{tile}xi32, #b>
    %p = tt.get_program_id x : i32
    %first = arith.muli %p, %tile : i32
    %fs = tt.splat %first : i32 -> tensor<{tile}xi32, #b>
    %r = tt.make_range {{end = {tile} : i32, start = 0 : i32}} : tensor<{tile}xi32, #b>
    %m = arith.addi %fs, %r : tensor<{tile}xi32, #b>
    %x = arith.remsi %m, %w : tensor<{tile}xi32, #b>
    %line = arith.divsi %m, %w : tensor<{tile}xi32, #b>
    %image = arith.divsi %line, %h : tensor<{tile}xi32, #b>
    %s = tt.splat %images : i32 -> tensor<{tile}xi32, #b>
    %known = arith.cmpi slt, %image, %s : tensor<{tile}xi32, #b>
    %wraps = arith.cmpi slt, %x, %s : tensor<{tile}xi32, #b>
    %mask = arith.andi %known, %{which} : tensor<{tile}xi1, #b>
    %v = amdg.buffer_load %x_ptr[%m], %mask : !tt.ptr<f16> -> tensor<{tile}xf16, #b>
    tt.return
  }}
}}
"""
)


@given(
    tile=st.sampled_from([64, 256]),
    width=st.integers(1, 30),
    height=st.integers(1, 30),
    images=st.integers(1, 4),
    programs=st.integers(1, 12),
)
def test_quotients_pass_as_often_as_counting_says(tile, width, height, images, programs):
    text = QUOTIENT.format(tile=tile, width=width, height=height, which="known")
    launch = facts(text, (programs, 1, 1), images=images)
    (found,) = masked(launch)
    each = [sum(m // (width * height) < images for m in range(p * tile, (p + 1) * tile)) for p in range(programs)]
    assert found.bounds[0].share == sum(each) / (tile * programs)
    assert found.bounds[0].fullest == max(each) / tile
    assert fullest_shares(launch).get(found.access.index, 1.0) == (max(each) / tile) ** 2


def test_numbers_that_begin_anew_in_a_tile_are_not_known_and_the_rest_counts():
    launch = facts(QUOTIENT.format(tile=64, width=8, height=4, which="wraps"), (2, 1, 1), images=1)
    (found,) = masked(launch)
    assert (found.share, found.most) == (None, 32 / 128)
    assert [bound.share for bound in found.bounds] == [32 / 128, None]
    assert live_shares(launch) == {found.access.index: 32 / 128}
