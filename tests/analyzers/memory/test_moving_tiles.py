"""Which tiles the grid or a loop moves, in TTGIR written by hand; tests/rules/test_smaller_tiles.py has kernels."""

import pytest

from kprof.inputs import mlir
from kprof_analyzers.memory.moving_tiles import grid_divides, tiles_advance
from tests.rules.tile_fragments import HEAD

BY_GRID = ("%at = arith.muli %pid, %c64 : i32",)
BY_GRID_SWAPPED = ("%at = arith.muli %c64, %pid : i32",)
BY_ARGUMENT = ("%at = arith.muli %pid, %n : i32",)
OF_THE_ARGUMENT = ("%at = arith.muli %n, %c64 : i32",)
REDUCED = (
    '%sum = "tt.reduce"(%values) <{axis = 0 : i32}> ({',
    "^bb0(%a: f32, %b: f32):",
    "  %c = arith.addf %a, %b : f32",
    "  tt.reduce.return %c : f32",
    "}) : (tensor<64xf32, #blocked>) -> f32",
)
SCANNED = tuple(line.replace("reduce", "scan") for line in REDUCED)
PRODUCT = ("%d = tt.dot %values, %values, %values : tensor<64xf32, #blocked>",)
LOOP = ("scf.for %i = %c0 to %n step %c64 : i32 {", "}")


@pytest.mark.parametrize(
    ("lines", "size", "divides", "advances"),
    [
        ((), 64, False, False),
        (BY_GRID, 64, True, True),
        (BY_GRID_SWAPPED, 64, True, True),
        (BY_GRID, 32, False, False),
        (BY_ARGUMENT, 64, False, False),
        (OF_THE_ARGUMENT, 64, False, True),
        # Each workgroup sums its tile, so that a smaller tile would give other sums.
        ((*BY_GRID, *REDUCED), 64, False, False),
        ((*BY_GRID, *SCANNED), 64, False, False),
        # The reductions of a kernel with products, as in attention, leave tiles to the grid.
        ((*BY_GRID, *REDUCED, *PRODUCT), 64, True, True),
        ((*BY_GRID, *REDUCED, PRODUCT[0].replace("tt.dot", "tt.dot_scaled")), 64, True, True),
        (LOOP, 64, False, True),
        ((*BY_ARGUMENT, *LOOP, *REDUCED), 64, False, True),
    ],
)
def test_tiles_that_move(lines, size, divides, advances):
    module = mlir.parse(HEAD + "".join(f"    {line}\n" for line in lines) + "    tt.return\n  }\n}\n")
    assert grid_divides(module, size) is divides
    assert tiles_advance(module, size) is advances
