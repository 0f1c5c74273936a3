"""Single comparisons of a mask, each against counting the lanes that pass."""

import operator
from dataclasses import replace

import pytest

from kprof.inputs import mlir
from kprof_analyzers.model.masks import masked
from tests.analyzers.model.test_masks import COMPARE
from tests.rules.literate import assembly, facts_of

MODULE = """\
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
#w = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
#r = #ttg.slice<{dim = 1, parent = #w}>
#c = #ttg.slice<{dim = 0, parent = #w}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%x: !tt.ptr<f16>, %n: i32, %turns: i32, %shift: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %each = arith.constant 64 : i32
    %p = tt.get_program_id x : i32
    %first = arith.muli %p, %each : i32
    %fs = tt.splat %first : i32 -> tensor<64xi32, #b>
    %lane = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #b>
    %at = arith.addi %fs, %lane : tensor<64xi32, #b>
    %ns = tt.splat %n : i32 -> tensor<64xi32, #b>
    BODY
    tt.return
  }
}
"""
LOAD = "%v = amdg.buffer_load %x[%lane], %m : !tt.ptr<f16> -> tensor<64xf16, #b>"


def found_of(body, programs=1, **arguments):
    """The masked load of a program, in so many workgroups."""
    module = mlir.parse(MODULE.replace("BODY", body))
    facts = facts_of(assembly("    s_nop 0"))
    (found,) = masked(replace(facts, ttgir=module, grid=(programs, 1, 1), arguments=arguments))
    return found


def share_of(body, programs=1, **arguments):
    return found_of(body, programs, **arguments).share


@pytest.mark.parametrize("how", sorted(COMPARE))
@pytest.mark.parametrize("size_first", [False, True])
def test_every_predicate_either_way_round(how, size_first):
    """Lanes 0 to 63 of one workgroup, and of the second one 64 to 127, against 20 and against 84."""
    sides = "%ns, %at" if size_first else "%at, %ns"
    for n in (20, 84):
        body = f"%m = arith.cmpi {how}, {sides} : tensor<64xi32, #b>\n    {LOAD}"
        passed = [COMPARE[how](*((n, at) if size_first else (at, n))) for at in range(128)]
        assert share_of(body, 2, n=n) == sum(passed) / 128


@pytest.mark.parametrize("how", ["eq", "ne"])
def test_other_predicates_are_not_followed(how):
    found = found_of(f"%m = arith.cmpi {how}, %at, %ns : tensor<64xi32, #b>\n    {LOAD}", n=20)
    (bound,) = found.bounds
    assert (found.share, bound.share, bound.extent, bound.size, bound.fullest) == (None, None, 1, None, 1)


def test_a_comparison_of_single_numbers_lets_all_lanes_pass_or_none():
    """Three of five workgroups."""
    body = f"%one = arith.cmpi slt, %p, %n : i32\n    %m = tt.splat %one : i1 -> tensor<64xi1, #b>\n    {LOAD}"
    found = found_of(body, 5, n=3)
    assert (found.share, found.bounds[0].extent, found.bounds[0].size) == (3 / 5, 1, "n")


ROWS = """%row = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #r>
    %col = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #c>
    %nr = tt.splat %n : i32 -> tensor<4xi32, #r>
    %nc = tt.splat %n : i32 -> tensor<32xi32, #c>
    %below = arith.cmpi slt, %row, %nr : tensor<4xi32, #r>
    %left = arith.cmpi slt, %col, %nc : tensor<32xi32, #c>
    %b1 = tt.expand_dims %below {axis = 1 : i32} : tensor<4xi1, #r> -> tensor<4x1xi1, #w>
    %b2 = tt.broadcast %b1 : tensor<4x1xi1, #w> -> tensor<4x32xi1, #w>
    %l1 = tt.expand_dims %left {axis = 0 : i32} : tensor<32xi1, #c> -> tensor<1x32xi1, #w>
    %l2 = tt.broadcast %l1 : tensor<1x32xi1, #w> -> tensor<4x32xi1, #w>
    %m = arith.andi %b2, %l2 : tensor<4x32xi1, #w>
    %z = arith.constant dense<0> : tensor<4x32xi32, #w>
    %v = amdg.buffer_load %x[%z], %m : !tt.ptr<f16> -> tensor<4x32xf16, #w>"""


@pytest.mark.parametrize("n", [0, 3, 20, 40])
def test_rows_and_columns_of_a_tile_are_bounded_each_by_itself(n):
    """Of 4 x 32 elements."""
    found = found_of(ROWS, n=n)
    assert found.share == sum(r < n and c < n for r in range(4) for c in range(32)) / 128
    assert [bound.extent for bound in found.bounds] == [4, 32]


@pytest.mark.parametrize("same", ["tt.reshape", "tt.trans", "ttg.convert_layout", "tt.broadcast"])
def test_a_mask_in_another_order_or_layout_lets_as_many_through(same):
    body = f"""%k = arith.cmpi slt, %lane, %ns : tensor<64xi32, #b>
    %m = {same} %k : tensor<64xi1, #b> -> tensor<64xi1, #b>
    {LOAD}"""
    assert share_of(body, n=20) == 20 / 64


@pytest.mark.parametrize(("long", "share"), [(40, 20 / 64), (41, None), (1200, None)])
def test_a_chain_of_conversions_that_has_no_end_is_given_up(long, share):
    """40 are followed; only a damaged file has more: what Triton makes is a few operations long."""
    lines = ["%m0 = arith.cmpi slt, %lane, %ns : tensor<64xi32, #b>"]
    lines += [f"%m{n + 1} = ttg.convert_layout %m{n} : tensor<64xi1, #b> -> tensor<64xi1, #b>" for n in range(long)]
    assert share_of("\n    ".join([*lines, LOAD.replace("%m", f"%m{long}")]), n=20) == share


@pytest.mark.parametrize("how", ["divsi", "divui"])
def test_quotients_of_numbers_that_may_be_negative_are_not_followed(how):
    """They are rounded towards zero. Neither are those of unknown numbers, nor divisors below one."""
    body = f"""%s = tt.splat %shift : i32 -> tensor<64xi32, #b>
    %on = arith.addi %at, %s : tensor<64xi32, #b>
    %eight = arith.constant dense<8> : tensor<64xi32, #b>
    %q = arith.{how} %on, %eight : tensor<64xi32, #b>
    %m = arith.cmpi slt, %q, %ns : tensor<64xi32, #b>
    {LOAD}"""
    counted = sum(at // 8 < 10 for at in range(128)) / 128
    assert share_of(body, 2, n=10, shift=0) == counted
    # Workgroup 0 begins at -64, workgroup 1 at 0.
    assert share_of(body, 2, n=10, shift=-64) is None
    assert share_of(body, 2, n=10) is None
    assert share_of(body.replace("dense<8>", "dense<0>"), 2, n=10, shift=0) is None
    assert share_of(body.replace("dense<8>", "dense<1>"), 2, n=10, shift=0) == 10 / 128


@pytest.mark.parametrize("how", ["remsi", "remui"])
def test_numbers_that_begin_anew_are_not_followed(how):
    for sides in ("%x8, %ns", "%ns, %x8"):
        body = f"""%eight = arith.constant dense<8> : tensor<64xi32, #b>
    %x8 = arith.{how} %lane, %eight : tensor<64xi32, #b>
    %m = arith.cmpi slt, {sides} : tensor<64xi32, #b>
    {LOAD}"""
        assert share_of(body, n=4) is None


@pytest.mark.parametrize(("by", "share"), [(3, 7 / 64), (1, 20 / 64), (0, None), (-1, None)])
def test_lanes_that_are_some_numbers_apart(by, share):
    """Lanes 0, 3, ... 18 are below 20; those that go backwards, or stand still, are not followed."""
    body = f"""%by = arith.constant dense<{by}> : tensor<64xi32, #b>
    %apart = arith.muli %lane, %by : tensor<64xi32, #b>
    %m = arith.cmpi slt, %apart, %ns : tensor<64xi32, #b>
    {LOAD}"""
    assert share_of(body, n=20) == share


def test_two_axes_in_one_comparison_and_lanes_on_both_sides_are_not_followed():
    assert share_of(f"%m = arith.cmpi slt, %lane, %at : tensor<64xi32, #b>\n    {LOAD}", n=20) is None
    both = (
        ROWS.partition("%b1")[0].replace("slt", "eq")
        + """
    %r1 = tt.expand_dims %row {axis = 1 : i32} : tensor<4xi32, #r> -> tensor<4x1xi32, #w>
    %r2 = tt.broadcast %r1 : tensor<4x1xi32, #w> -> tensor<4x32xi32, #w>
    %k1 = tt.expand_dims %col {axis = 0 : i32} : tensor<32xi32, #c> -> tensor<1x32xi32, #w>
    %k2 = tt.broadcast %k1 : tensor<1x32xi32, #w> -> tensor<4x32xi32, #w>
    %sum = arith.addi %r2, %k2 : tensor<4x32xi32, #w>
    %n2 = tt.splat %n : i32 -> tensor<4x32xi32, #w>
    %m = arith.cmpi slt, %sum, %n2 : tensor<4x32xi32, #w>
    %v = amdg.buffer_load %x[%sum], %m : !tt.ptr<f16> -> tensor<4x32xf16, #w>"""
    )
    assert share_of(both, n=20) is None


@pytest.mark.parametrize("sides", ["%k, %other", "%other, %k"])
def test_a_mask_of_which_one_half_is_not_known_is_not_known(sides):
    """Either half: one of them is a comparison, the other is not."""
    body = f"""%k = arith.cmpi slt, %lane, %ns : tensor<64xi32, #b>
    %other = arith.ori %k, %k : tensor<64xi1, #b>
    %m = arith.andi {sides} : tensor<64xi1, #b>
    {LOAD}"""
    assert share_of(body, n=20) is None
    assert share_of(body.replace(sides, "%k, %k"), n=20) == (20 / 64) ** 2


def test_a_comparison_of_tensors_that_says_it_is_of_single_numbers_is_not_followed():
    """As a damaged file may have it: its lanes lie along an axis that its result does not have."""
    body = f"%one = arith.cmpi slt, %lane, %ns : i32\n    %m = tt.splat %one : i1 -> tensor<64xi1, #b>\n    {LOAD}"
    assert share_of(body, n=20) is None


def test_lanes_in_another_shape_are_not_followed():
    """They go on along two axes: 20 of 64 are two and a half rows of eight. Neither are their quotients."""
    body = """%row = tt.reshape %lane : tensor<64xi32, #b> -> tensor<8x8xi32, #w>
    %n2 = tt.splat %n : i32 -> tensor<8x8xi32, #w>
    %m = arith.cmpi slt, %row, %n2 : tensor<8x8xi32, #w>
    %v = amdg.buffer_load %x[%row], %m : !tt.ptr<f16> -> tensor<8x8xf16, #w>"""
    assert share_of(body, n=20) is None


BENT = f"""scf.for %i = %c0 to %turns step %c1  : i32 {{
      %two = arith.constant 2 : i32
      %half = arith.OPERATION %i, %two : i32
      %on = arith.muli %half, %shift : i32
      %is = tt.splat %on : i32 -> tensor<64xi32, #b>
      %at2 = arith.addi %at, %is : tensor<64xi32, #b>
      %m = arith.cmpi slt, %at2, %ns : tensor<64xi32, #b>
      {LOAD}
    }}"""


@pytest.mark.parametrize(("operation", "of"), [("divsi", operator.floordiv), ("remsi", operator.mod)])
@pytest.mark.parametrize("turns", [2, 3, 5, 8, 200])
def test_numbers_that_do_not_go_on_as_they_begin_are_worked_out_for_each_iteration(operation, of, turns):
    """Every lane of two workgroups in every iteration; the fullest iteration of one of them, too."""
    found = found_of(BENT.replace("OPERATION", operation), 2, turns=turns, shift=10, n=100)
    passed = [
        sum(64 * workgroup + lane + 10 * of(i, 2) < 100 for lane in range(64))
        for workgroup in (0, 1)
        for i in range(turns)
    ]
    assert found.share == pytest.approx(sum(passed) / (64 * len(passed)))
    assert found.bounds[0].fullest == max(passed) / 64


TURNS = f"""scf.for %i = %c0 to %turns step %c1  : i32 {{
      %is = tt.splat %i : i32 -> tensor<64xi32, #b>
      %on = arith.addi %lane, %is : tensor<64xi32, #b>
      %m = arith.cmpi slt, %on, %ns : tensor<64xi32, #b>
      {LOAD}
    }}"""


@pytest.mark.parametrize("turns", [1, 2, 3, 20, 64])
def test_iterations_of_a_loop_move_the_lanes(turns):
    passed = [i + lane < 40 for i in range(turns) for lane in range(64)]
    found = found_of(TURNS, n=40, turns=turns)
    assert found.share == sum(passed) / len(passed)
    assert found.bounds[0].fullest == 40 / 64


def test_a_loop_without_iterations_counts_as_its_first_one_would():
    assert share_of(TURNS, n=40, turns=0) == 40 / 64


SPLAT = ": i32 -> tensor<64xi32, #b>"


@pytest.mark.parametrize(
    ("size", "name"),
    [
        (f"%ns = tt.splat %n {SPLAT}", "n"),
        ("%ns = arith.constant dense<40> : tensor<64xi32, #b>", "40"),
        (
            f"%e = arith.extsi %n : i32 to i64\n    %t = arith.trunci %e : i64 to i32\n    %ns = tt.splat %t {SPLAT}",
            "n",
        ),
        (f"%e = arith.addi %n, %c0 : i32\n    %ns = tt.splat %e {SPLAT}", None),
        (f"%ns = tt.splat %p {SPLAT}", None),
    ],
)
def test_what_lanes_are_compared_with_has_a_name(size, name):
    """The kernel's argument or a number; of what is computed there is none."""
    body = f"{size}\n    %m = arith.cmpi slt, %lane, %ns : tensor<64xi32, #b>\n    {LOAD}"
    text = MODULE.replace(f"%ns = tt.splat %n {SPLAT}", "").replace("BODY", body)
    facts = replace(facts_of(assembly("    s_nop 0")), ttgir=mlir.parse(text), grid=(4, 1, 1), arguments={"n": 40})
    (found,) = masked(facts)
    assert found.bounds[0].size == name
