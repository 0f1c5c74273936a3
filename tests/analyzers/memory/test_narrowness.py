"""The code to write where a mask keeps accesses narrow: the bound along the contiguous axis is padded, no other."""

import pytest

from kprof_analyzers.memory.dataflow import global_loads
from kprof_analyzers.memory.narrowness import causes_of
from tests.analyzers.memory.test_addressing import module, scaled

ROWS = """    %cs = tt.splat %s : i32 -> tensor<64x1xi32, #b>
    %cm = arith.cmpi slt, %r1, %cs : tensor<64x1xi32, #b>
    %rm = tt.broadcast %cm : tensor<64x1xi1, #b> -> tensor<64x64xi1, #b>
"""
COLUMNS = """    %ns = tt.splat %n : i32 -> tensor<64x64xi32, #b>
    %m = arith.cmpi slt, %k2, %ns : tensor<64x64xi32, #b>
"""
BOTH = ROWS + COLUMNS.replace("%m =", "%nm =") + "    %m = arith.andi %nm, %rm : tensor<64x64xi1, #b>\n"
COMPUTED = """    %n8 = arith.muli %n, %n : i32
    %ns = tt.splat %n8 : i32 -> tensor<64x64xi32, #b>
    %m = arith.cmpi slt, %k2, %ns : tensor<64x64xi32, #b>
"""
N = "mask by n_PADDED, a multiple of 8 that is passed besides n: n_PADDED = tl.multiple_of(n_PADDED, 8); "
UNNAMED = "mask by PADDED, a multiple of 8 that is passed besides the bound: PADDED = tl.multiple_of(PADDED, 8); "


@pytest.mark.parametrize(
    ("mask", "fix"),
    [(COLUMNS, N), (BOTH, N), (COMPUTED, UNNAMED)],
    ids=["a bound of columns", "rows have another bound", "a bound that is computed"],
)
def test_the_bound_along_the_contiguous_axis_is_padded(mask, fix):
    """Rows masked by ``s`` do not make the loads narrow. ``n`` itself stays: a mean is divided by it."""
    body = scaled("%t") + mask + "    %v = amdg.buffer_load %x[%o], %m : !tt.ptr<f16> -> tensor<64x64xf16, #b>\n"
    (load,) = global_loads(module(body))
    (cause,) = causes_of(load)
    assert cause.fix == fix + "fill the padding with values that do not change the result"
