"""What masks let through, against counting the elements one by one."""

import operator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.model.comparisons import Bound
from kprof_analyzers.model.masks import Masked, fullest_shares, live_shares, masked
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


ONE = (
    HEAD.format()
    + """\
  tt.func public @k(%x_ptr: !tt.ptr<f16>, %n: i32, %m: i32, %on: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %lane = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #b>
    %base = tt.splat %x_ptr : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #b>
    %at = tt.addptr %base, %lane : tensor<64x!tt.ptr<f16>, #b>, tensor<64xi32, #b>
    %other = arith.constant dense<0.0> : tensor<64xf16, #b>
    %all = arith.constant dense<true> : tensor<64xi1, #b>
    %none = arith.constant dense<false> : tensor<64xi1, #b>
    %ns = tt.splat %n : i32 -> tensor<64xi32, #b>
    %ms = tt.splat %m : i32 -> tensor<64xi32, #b>
    %below = arith.cmpi slt, %lane, %ns : tensor<64xi32, #b>
    %above = arith.cmpi sge, %lane, %ms : tensor<64xi32, #b>
    %both = arith.andi %below, %above : tensor<64xi1, #b>
    %either = arith.ori %below, %above : tensor<64xi1, #b>
    %left = arith.andi %either, %below : tensor<64xi1, #b>
    %right = arith.andi %below, %either : tensor<64xi1, #b>
"""
)
MASK = "%v = tt.load %at, %{}, %other : tensor<64x!tt.ptr<f16>, #b>"


def one(*lines, grid=(4, 1, 1), **arguments):
    """A launch of a program of 64 lanes that has these accesses."""
    return facts(ONE + "\n".join(lines) + "\n    tt.return\n  }\n}\n", grid, **arguments)


def test_masks_of_loads_and_stores_are_found_wherever_they_stand():
    """Behind the address; values that are stored or taken for lanes that are off are no masks."""
    lines = [
        MASK.format("below"),
        "%u = tt.load %at : tensor<64x!tt.ptr<f16>, #b>",
        "tt.store %at, %v, %below : tensor<64x!tt.ptr<f16>, #b>",
        "tt.store %at, %v : tensor<64x!tt.ptr<f16>, #b>",
        "%w = amdg.buffer_load %x_ptr[%lane], %below, %other stride = %n : !tt.ptr<f16> -> tensor<64xf16, #b>",
        "amdg.buffer_store %v, %x_ptr[%lane], %below : tensor<64xf16, #b>",
    ]
    launch = one(*lines, n=16)
    assert [(found.access.name, found.share) for found in masked(launch)] == [
        ("tt.load", 1 / 4),
        ("tt.load", 1.0),
        ("tt.store", 1 / 4),
        ("tt.store", 1.0),
        ("amdg.buffer_load", 1 / 4),
        ("amdg.buffer_store", 1 / 4),
    ]
    assert masked(launch) is masked(launch)
    assert list(live_shares(launch).values()) == [1 / 4] * 4
    assert list(fullest_shares(launch).values()) == [1 / 4] * 4


def test_without_any_mask_all_passes():
    (found,) = masked(one("%u = tt.load %at : tensor<64x!tt.ptr<f16>, #b>"))
    assert (found.share, found.most, found.bounds, found.tightest) == (1.0, 1, (), None)
    assert masked(facts_of(assembly("    s_nop 0"))) == ()


@pytest.mark.parametrize(
    ("mask", "share", "most", "bounds"),
    [
        ("below", 48 / 64, 48 / 64, 1),
        ("above", 56 / 64, 56 / 64, 1),
        ("both", 48 / 64 * 56 / 64, 48 / 64 * 56 / 64, 2),  # as if neither told of the other
        ("either", None, 1, 0),
        ("left", None, 1, 0),
        ("right", None, 1, 0),
        ("all", 1.0, 1, 0),
        ("none", None, 1, 0),
    ],
)
def test_a_mask_is_what_its_comparisons_let_through(mask, share, most, bounds):
    launch = one(MASK.format(mask), n=48, m=8)
    (found,) = masked(launch)
    assert (found.share, found.most, len(found.bounds)) == (share, most, bounds)
    assert list(live_shares(launch).values()) == ([most] if most < 1 else [])
    assert list(fullest_shares(launch).values()) == ([most] if most < 1 else [])


def test_a_comparison_that_all_lanes_pass_is_no_share_below_one():
    launch = one(MASK.format("below"), n=64)
    assert masked(launch)[0].share == 1
    assert live_shares(launch) == fullest_shares(launch) == {}


def test_the_tightest_comparison_lets_the_fewest_through():
    """What is not known is not among them."""
    wide, narrow, unknown = (Bound(None, share, 64, None) for share in (0.75, 0.0, None))
    found = Masked(None, None, (wide, unknown, narrow))
    assert found.tightest is narrow
    assert found.most == 0
    assert Masked(None, None, (wide, unknown)).most == 0.75
    assert Masked(None, None, (unknown,)).tightest is None


def test_a_mask_may_be_one_of_several_results():
    """Of a branch that gives a number and a mask, in either order: its comparisons are not followed, but it is one."""
    numbers, bits = "tensor<64xi32, #b>", "tensor<64xi1, #b>"
    for kinds, values, which in (((numbers, bits), "%lane, %below", 1), ((bits, numbers), "%below, %lane", 0)):
        branch = f"""%r:2 = scf.if %on -> ({", ".join(kinds)}) {{
      scf.yield {values} : {", ".join(kinds)}
    }} else {{
      scf.yield {values} : {", ".join(kinds)}
    }}"""
        (found,) = masked(one(branch, MASK.format(f"r#{which}"), n=48))
        assert (found.share, found.most, found.bounds) == (None, 1, ())


CARRIED = """%r = scf.for %i = %c0 to %m step %c1 iter_args(%on2 = %below) -> (tensor<64xi1, #b>)  : i32 {{
      %v = tt.load %at, %on2, %other : tensor<64x!tt.ptr<f16>, #b>
      scf.yield %below : tensor<64xi1, #b>
    }}"""


def test_a_mask_that_a_loop_carries_is_one():
    (found,) = masked(one(CARRIED.format(), n=48, m=3))
    assert (found.share, found.bounds) == (None, ())


def test_a_mask_that_loops_give_is_one():
    """Their result, also where an outer loop carries it on: its comparisons are not followed."""
    after = MASK.format("r").replace("%v =", "%w =")
    for loops in (CARRIED.format(), GIVEN_BY_TWO):
        *_, found = masked(one(loops, after, n=48, m=3))
        assert (found.access.results, found.share, found.bounds) == (("%w",), None, ())


def test_a_damaged_loop_that_yields_its_own_result_ends():
    """Its result is no mask, as that of nothing that is known."""
    itself = CARRIED.format().replace("scf.yield %below", "scf.yield %r")
    *_, found = masked(one(itself, MASK.format("r").replace("%v =", "%w ="), n=48, m=3))
    assert found.bounds == ()


GIVEN_BY_TWO = """%r = scf.for %i = %c0 to %m step %c1 iter_args(%outer = %below) -> (tensor<64xi1, #b>)  : i32 {
      %inner = scf.for %j = %c0 to %m step %c1 iter_args(%on2 = %outer) -> (tensor<64xi1, #b>)  : i32 {
        scf.yield %on2 : tensor<64xi1, #b>
      }
      scf.yield %inner : tensor<64xi1, #b>
    }"""
NESTED = """scf.for %i = %c0 to %m step %c1  : i32 {
      scf.for %j = %c0 to %m step %c1  : i32 {
        %far = arith.addi %i, %j : i32
        %fs = tt.splat %{} : i32 -> tensor<64xi32, #b>
        %there = arith.addi %lane, %fs : tensor<64xi32, #b>
        %off = arith.cmpi slt, %there, %ns : tensor<64xi32, #b>
        %v = tt.load %at, %off, %other : tensor<64x!tt.ptr<f16>, #b>
      }
    }"""


@pytest.mark.parametrize("turns", [1, 2, 5, 8])
def test_loops_further_out_are_in_their_middle_iteration(turns):
    """Lanes below n - i - j pass: for every j, with i in the middle."""
    (found,) = masked(one(NESTED.replace("%{}", "%far"), n=48, m=turns))
    assert found.share == sum(48 - turns // 2 - j for j in range(turns)) / (64 * turns)
    assert found.bounds[0].fullest == (48 - turns // 2) / 64
    # The inner loop alone is gone through from its first iteration on; where only i counts that stays in the middle.
    assert masked(one(NESTED.replace("%{}", "%j"), n=48, m=turns))[0].share == sum(range(48, 48 - turns, -1)) / (
        64 * turns
    )
    assert masked(one(NESTED.replace("%{}", "%i"), n=48, m=turns))[0].share == (48 - turns // 2) / 64


def test_loads_before_and_after_an_inner_loop_are_in_the_first_iteration_of_theirs():
    """Lanes below n - i pass, for every i, although the loop within sets the outer variable to its middle."""
    load = """%fs{0} = tt.splat %i : i32 -> tensor<64xi32, #b>
      %there{0} = arith.addi %lane, %fs{0} : tensor<64xi32, #b>
      %off{0} = arith.cmpi slt, %there{0}, %ns : tensor<64xi32, #b>
      %v{0} = tt.load %at, %off{0}, %other : tensor<64x!tt.ptr<f16>, #b>"""
    inner = NESTED.replace("%{}", "%j").partition("\n")[2]
    body = f"scf.for %i = %c0 to %m step %c1  : i32 {{\n{load.format(1)}\n{inner}".rstrip().removesuffix("}")
    found = masked(one(f"{body}{load.format(2)}\n    }}", n=48, m=5))
    counted = sum(48 - i for i in range(5)) / (64 * 5)
    assert [access.share for access in found] == [counted] * 3


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
