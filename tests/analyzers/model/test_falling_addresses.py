"""Tiles that are read from their end to their beginning: as long and as contiguous as those that are read forwards."""

import pytest

from kprof.inputs import mlir
from kprof_analyzers.memory.addressing import tile
from kprof_analyzers.memory.dataflow import global_loads
from kprof_analyzers.model.traffic import _run, extent
from kprof_analyzers.rules.global_memory.stride_of_512 import _row

TTGIR = """#b = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @k(%x: !tt.ptr<f16>) {
    %r = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #b>
    %last = arith.constant dense<2047> : tensor<2048xi32, #b>
    %two = arith.constant dense<2> : tensor<2048xi32, #b>
    %back = arith.subi %last, %r : tensor<2048xi32, #b>
    %pairs = arith.muli %back, %two : tensor<2048xi32, #b>
    %v = amdg.buffer_load %x[OFFSET] : !tt.ptr<f16> -> tensor<2048xf16, #b>
    tt.return
  }
}
"""


@pytest.mark.parametrize(
    ("offset", "elements", "side_by_side", "row"),
    [("%r", 2048, 4096, 2048), ("%back", 2048, 4096, 2048), ("%pairs", 4095, 2, 0)],
)
def test_of_2048_elements(offset, elements, side_by_side, row):
    """Every second element of f16: 2047 steps of 2 and the last element, and no two of them side by side."""
    (load,) = global_loads(mlir.parse(TTGIR.replace("OFFSET", offset)))
    assert extent(load, tile(load), {}) == elements
    assert _run(load, tile(load), 2) == side_by_side
    assert _row(load) == row
