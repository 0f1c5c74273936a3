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


def test_without_a_program_of_tensors_there_is_nothing_to_wrap():
    facts = facts_of(assembly("    s_nop 0"))
    assert wrapped_shares(facts) == {}
    assert fetched_shares(facts, 64) == {}
