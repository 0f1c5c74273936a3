"""Rows of a tile that wrap round, against addresses that were counted one by one."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.model.fetched import fetched_shares
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.traffic import accesses
from kprof_analyzers.model.wraps import wrapped_shares
from tests.rules.literate import assembly, facts_of

MODULE = """\
#b = #ttg.blocked<{{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}}>
#r = #ttg.slice<{{dim = 1, parent = #b}}>
#c = #ttg.slice<{{dim = 0, parent = #b}}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func public @k(%x_ptr: !tt.ptr<f16>, %rows: i32, %pitch: i32) {{
    %each = arith.constant {tile} : i32
    %p = tt.get_program_id x : i32
    %first = arith.muli %p, %each : i32
    %fs = tt.splat %first : i32 -> tensor<{tile}xi32, #r>
    %r = tt.make_range {{end = {tile} : i32, start = 0 : i32}} : tensor<{tile}xi32, #r>
    %n = arith.addi %fs, %r : tensor<{tile}xi32, #r>
    %ms = tt.splat %rows : i32 -> tensor<{tile}xi32, #r>
    %w = arith.remsi %n, %ms : tensor<{tile}xi32, #r>
    {more}
    %e = tt.expand_dims %{used} {{axis = 1 : i32}} : tensor<{tile}xi32, #r> -> tensor<{tile}x1xi32, #b>
    %ps = tt.splat %pitch : i32 -> tensor<{tile}x1xi32, #b>
    %ep = arith.muli %e, %ps : tensor<{tile}x1xi32, #b>
    %eb = tt.broadcast %ep : tensor<{tile}x1xi32, #b> -> tensor<{tile}x32xi32, #b>
    %k = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32, #c>
    %ke = tt.expand_dims %k {{axis = 0 : i32}} : tensor<32xi32, #c> -> tensor<1x32xi32, #b>
    %kb = tt.broadcast %ke : tensor<1x32xi32, #b> -> tensor<{tile}x32xi32, #b>
    %at = arith.addi %eb, %kb : tensor<{tile}x32xi32, #b>
    %v = amdg.buffer_load %x_ptr[%at] : !tt.ptr<f16> -> tensor<{tile}x32xf16, #b>
    tt.return
  }}
}}
"""
BOTH = """%q = arith.divsi %n, %ms : tensor<{0}xi32, #r>
    %s = arith.addi %w, %q : tensor<{0}xi32, #r>"""


def launch(tile, rows, *, both=False, known=True):
    """One workgroup of a tile of so many rows; ``both``: the quotient is in the address, too."""
    text = MODULE.format(tile=tile, more=BOTH.format(tile) if both else "", used="s" if both else "w")
    arguments = {"rows": rows, "pitch": 4096} if known else {"pitch": 4096}
    return replace(facts_of(assembly("    s_nop 0")), ttgir=mlir.parse(text), grid=(1, 1, 1), arguments=arguments)


@given(tile=st.sampled_from([16, 64, 128]), rows=st.integers(1, 300))
def test_as_many_bytes_count_as_the_tile_has_different_addresses(tile, rows):
    """A tile of 64 x 32 of fp16 is 4,096 bytes; of a matrix of four rows 256 are different."""
    facts = launch(tile, rows)
    addresses = {(n % rows) * 4096 + k for n in range(tile) for k in range(32)}
    evaluator = Evaluator(facts.ttgir, facts.arguments, [(0, 0, 0)], (1, 1, 1))
    (load,) = accesses(facts, evaluator, {None: 1.0})
    assert load.tile_bytes == pytest.approx(2 * len(addresses))
    (whole,) = accesses(facts, evaluator, {None: 1.0}, wrapped=False)
    assert whole.tile_bytes == 2 * 32 * tile


def test_where_nothing_wraps_or_nothing_is_known_all_counts():
    """A matrix as high as the tile, one whose height is not known, and rows that the quotient tells apart."""
    assert wrapped_shares(launch(64, 64)) == {}
    assert wrapped_shares(launch(64, 4, known=False)) == {}
    assert wrapped_shares(launch(64, 4, both=True)) == {}
    assert list(wrapped_shares(launch(64, 4)).values()) == [4 / 64]


@pytest.mark.parametrize(("rows", "share"), [(1, 1 / 64), (63, 63 / 64), (64, None), (0, None), (-4, None)])
def test_fewer_rows_than_the_tile_has_and_at_least_one(rows, share):
    """A matrix without rows, or of less than none, is no launch."""
    assert list(wrapped_shares(launch(64, rows)).values()) == ([] if share is None else [share])


def changed(before, after):
    """A launch of a matrix of four rows whose program has other lines."""
    facts, text = launch(64, 4), MODULE.format(tile=64, more="", used="w")
    assert before in text
    return replace(facts, ttgir=mlir.parse(text.replace(before, after)))


def test_numbers_without_sign_wrap_round_as_well():
    assert list(wrapped_shares(changed("remsi", "remui")).values()) == [4 / 64]


def test_the_rows_of_another_launch_are_counted_anew():
    facts = launch(64, 4)
    assert wrapped_shares(facts) == wrapped_shares(facts)
    assert list(wrapped_shares(replace(facts, arguments={"rows": 8})).values()) == [8 / 64]


RANGE = "%n = arith.addi %fs, %r : tensor<64xi32, #r>"
TIMES = """%n1 = arith.addi %fs, %r : tensor<64xi32, #r>
    %by = arith.constant dense<{}> : tensor<64xi32, #r>
    %n = arith.muli %n1, %by : tensor<64xi32, #r>"""


@pytest.mark.parametrize(
    "after",
    [
        # Every second row, rows backwards, and one row for all: a remainder of these is not counted here.
        TIMES.format(2),
        TIMES.format(-1),
        "%n = arith.addi %fs, %fs : tensor<64xi32, #r>",
        # Rows whose numbers are loaded.
        "%n = amdg.buffer_load %x_ptr[%r] : !tt.ptr<i32> -> tensor<64xi32, #r>",
    ],
)
def test_only_a_remainder_of_consecutive_numbers_is_counted(after):
    assert wrapped_shares(changed(RANGE, after)) == {}


def test_a_divisor_for_each_row_is_no_wrap():
    """``rows % arange``: nothing begins anew at one place."""
    assert wrapped_shares(changed("arith.remsi %n, %ms", "arith.remsi %n, %r")) == {}
    from_four = "%four = tt.make_range {end = 68 : i32, start = 4 : i32} : tensor<64xi32, #r>"
    assert wrapped_shares(changed("%w = arith.remsi %n, %ms", f"{from_four}\n    %w = arith.remsi %n, %four")) == {}


@pytest.mark.parametrize(
    ("divisor", "grid", "shares"),
    [
        ("tt.get_num_programs x", (8, 3, 1), [8 / 64]),
        ("tt.get_num_programs y", (8, 3, 1), [3 / 64]),
        ("tt.get_num_programs z", (8, 3, 2), [2 / 64]),
        ("tt.get_num_programs y", (8,), [1 / 64]),
        ("tt.get_num_programs x", None, []),
        ("tt.get_num_programs y", None, []),
        ("tt.get_num_programs z", None, []),
        ("arith.addi %p, %rows", (8, 1, 1), []),  # another one for each workgroup
    ],
)
def test_a_divisor_that_the_grid_tells(divisor, grid, shares):
    facts = changed("%ms = tt.splat %rows", f"%many = {divisor} : i32\n    %ms = tt.splat %many")
    assert list(wrapped_shares(replace(facts, grid=grid)).values()) == shares


def test_a_remainder_of_one_number_is_no_tile():
    scalar = "%more = arith.remsi %first, %rows : i32\n    %fs = tt.splat %more"
    assert list(wrapped_shares(changed("%fs = tt.splat %first", scalar)).values()) == [4 / 64]


def test_both_axes_may_wrap():
    """Four of 64 rows and 16 of 32 columns differ: a sixteenth of the one and half of the other."""
    columns = """%sixteen = arith.constant dense<16> : tensor<32xi32, #c>
    %kk = arith.remsi %k, %sixteen : tensor<32xi32, #c>
    %ke = tt.expand_dims %kk"""
    assert list(wrapped_shares(changed("%ke = tt.expand_dims %k", columns)).values()) == [4 / 64 * 16 / 32]


def test_a_load_that_has_no_remainder_in_its_address_is_whole():
    """Beside one that wraps round; and one whose remainder only tells what another load found."""
    other = """%v = amdg.buffer_load %x_ptr[%at] : !tt.ptr<f16> -> tensor<64x32xf16, #b>
    %u = amdg.buffer_load %x_ptr[%kb] : !tt.ptr<f16> -> tensor<64x32xf16, #b>
    %i = amdg.buffer_load %x_ptr[%eb] : !tt.ptr<i32> -> tensor<64x32xi32, #b>
    %t = amdg.buffer_load %x_ptr[%i] : !tt.ptr<f16> -> tensor<64x32xf16, #b>"""
    facts = changed("%v = amdg.buffer_load %x_ptr[%at] : !tt.ptr<f16> -> tensor<64x32xf16, #b>", other)
    loads = [op for op in facts.ttgir.operations if op.name == "amdg.buffer_load"]
    assert wrapped_shares(facts) == {loads[0].index: 4 / 64, loads[2].index: 4 / 64}


def test_without_a_program_of_tensors_there_is_nothing_to_wrap():
    facts = facts_of(assembly("    s_nop 0"))
    assert wrapped_shares(facts) == {}
    assert fetched_shares(facts, 64) == {}
