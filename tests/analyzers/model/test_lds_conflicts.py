"""Bank conflicts of LDS instructions, from a tile whose conflicts are counted by hand."""

from dataclasses import replace

import pytest

from kprof_analyzers.model.lds import conflict_shares
from tests.rules.literate import assembly, facts_of

# A lane reads four halves, eight bytes, of a row of 128 bytes: 32 banks of four bytes. 16 lanes that run down a column
# are served together: all want the same two banks, each another dword, so that 15 more cycles follow each one.
SAME_BANKS = 15
MODULE = """\
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [64, 1], warpsPerCTA = [1, 4], order = [1, 0]}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#swizzled = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%n: i32) {
    %cst = arith.constant dense<0.0> : tensor<64x64xf16, #b>
    %one = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #plain, #smem, mutable>
    %two = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #swizzled, #smem, mutable>
"""
END = """
    tt.return
  }
}
#at9 = loc("/user/k.py":9:1)
#at10 = loc("/user/k.py":10:1)
"""
OPERAND = "tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>"
READ = f"%a = ttg.local_load %one : !ttg.memdesc<64x64xf16, #plain, #smem, mutable> -> {OPERAND}"
SWIZZLED = f"%b = ttg.local_load %two : !ttg.memdesc<64x64xf16, #swizzled, #smem, mutable> -> {OPERAND}"
WRITE = "ttg.local_store %cst, %{} : tensor<64x64xf16, #b> -> !ttg.memdesc<64x64xf16, #{}, #smem, mutable>"
BODY = """\
	.loc 1 9 1 ; k.py:9:1
	ds_read_b64 v[0:1], v8
	v_add_f32_e32 v0, v1, v2
	ds_write_b64 v8, v[0:1]
	.loc 1 10 1 ; k.py:10:1
	ds_read_b64 v[4:5], v8 offset:16
	global_load_dword v1, v[2:3], off
	.loc 1 0 0
	ds_read_b64 v[6:7], v8 offset:24"""
READ_9, WRITE_9, READ_10 = 0, 2, 3


def shares(*lines, body=BODY, arch="gfx942"):
    return conflict_shares(facts_of(replace(assembly(body), ttgir=MODULE + "\n".join(lines) + END, arch=arch)))


def test_the_reads_of_a_line_have_the_conflicts_of_its_tile():
    """Neither its writes, nor reads of other lines or of none."""
    assert shares(f"{READ} loc(#at9)") == {READ_9: SAME_BANKS}
    assert shares(f"{READ} loc(#at10)") == {READ_10: SAME_BANKS}
    assert shares(READ) == {}


def test_a_swizzle_of_as_many_rows_as_lanes_has_none():
    assert shares(f"{SWIZZLED} loc(#at9)") == {}


def test_accesses_of_a_line_get_their_mean():
    """Two tiles of as many cycles, of which one has conflicts; three reads of which two have them."""
    assert shares(f"{READ} loc(#at9)", f"{SWIZZLED} loc(#at9)") == {READ_9: SAME_BANKS / 2}
    three = [f"{READ} loc(#at9)", f"{SWIZZLED} loc(#at9)", f"{READ} loc(#at9)"]
    assert shares(*three) == pytest.approx({READ_9: SAME_BANKS * 2 / 3})


def test_writes_are_told_from_reads():
    """Lanes of a column that write eight bytes each, served 16 at a time, too."""
    found = shares(f"{WRITE.format('one', 'plain')} loc(#at9)")
    assert found == {WRITE_9: SAME_BANKS}
    both = shares(f"{WRITE.format('one', 'plain')} loc(#at9)", f"{SWIZZLED} loc(#at9)")
    assert both == {WRITE_9: SAME_BANKS}


def test_lines_whose_reads_the_hardware_transposes_are_left_out():
    """Their lanes swap data, so that addresses do not follow from the layout."""
    body = BODY.replace("ds_read_b64 v[0:1], v8", "ds_read_b64_tr_b16 v[0:1], v8")
    lines = f"{READ} loc(#at9)", f"{READ} loc(#at10)"
    assert shares(*lines, body=body, arch="gfx950").keys() == {READ_10}
    assert shares(*lines, arch="gfx950").keys() == {READ_9, READ_10}


def test_where_the_groups_of_lanes_are_not_known_nothing_is_told():
    assert shares(f"{READ} loc(#at9)", arch="gfx90a") == {}


def test_without_a_program_of_tensors_nothing_is_told():
    assert conflict_shares(facts_of(assembly(BODY))) == {}
