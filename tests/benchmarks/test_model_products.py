"""Products do 2 x M x N x K operations, however the compiler writes them: an oracle for the iterations of loops."""

import pytest

from kprof_analyzers.model.executions import executions
from kprof_analyzers.model.kernel import build
from kprof_analyzers.model.occupancy_gain import roofline
from kprof_analyzers.model.trips import Trips
from validation.benchmarks.model.compiling import Facts, Point

SHAPE = {"M": 512, "N": 8192, "K": 8192, "xcds": 1, "batch": 1, "out": "bf16", "trans_b": True, "atomic": False}
BLOCKS = {"dtype": "fp8e4nv", "scales": "blocks"}
CONFIG = {"BLOCK_K": 128, "GROUP_M": 1, "SPLIT_K": 1, "waves_per_eu": 0, "num_stages": 2, "matrix_instr_nonkdim": 16}
STREAMK = {"GRID": 304, "BLOCK_K": 64, "kpack": 2, "num_stages": 2, "waves_per_eu": 0, "matrix_instr_nonkdim": 16}


def flops(point):
    (facts,) = Facts(1, 300).prepare([point])
    found = roofline(build(facts), {})
    return facts, {kind: count for kind, count in found.flops.items() if kind.startswith("matrix")}


@pytest.mark.triton
@pytest.mark.parametrize(("product", "dtype"), [("MI355X", "fp8e4nv"), ("MI300X", "fp8e4b8")])
@pytest.mark.parametrize(("rows", "columns", "warps"), [(256, 128, 8), (128, 128, 4), (32, 32, 1)])
def test_block_scaled_products(product, dtype, rows, columns, warps):
    """Each lane loads scales of its own beside the tiles: more bytes than the tiles have, and no second iteration."""
    config = {**CONFIG, "BLOCK_M": rows, "BLOCK_N": columns, "num_warps": warps, "MODIFIER": ""}
    facts, found = flops(Point("gemm_split", {**SHAPE, **BLOCKS, "dtype": dtype}, config, product))
    # The path that is followed may leave out one block of K of 64.
    assert found == {"matrix_fp8": pytest.approx(2 * 512 * 8192 * 8192, rel=1.01 / 64)}
    assert max(loop.flops for loop in facts.loops) * warps == pytest.approx(2 * rows * columns * 128, rel=1e-9)


@pytest.mark.triton
@pytest.mark.parametrize("trans_b", [True, False])
def test_whole_tiles_of_stream_k(trans_b):
    """As many tiles as workgroups: none is shared. K is filled up to whole blocks, the last of them on its own."""
    config = {**STREAMK, "BLOCK_M": 256, "BLOCK_N": 256, "GROUP_M": 8, "num_warps": 8}
    _, found = flops(Point("streamk", {"M": 4864, "N": 4096, "K": 4098, "trans_b": trans_b}, config, "MI300X"))
    assert found == {"matrix_fp16": pytest.approx(2 * 4864 * 4096 * 4160, rel=0.02)}


@pytest.mark.triton
@pytest.mark.parametrize(("rows", "columns", "depth", "stages"), [(32, 64, 128, 4), (16, 64, 64, 6)])
def test_a_loop_that_the_compiler_unrolls_loads_as_much(rows, columns, depth, stages):
    """Loads that go straight to LDS: LLVM makes one iteration of two, and every tile is still loaded once."""
    sizes = {"BLOCK_M": rows, "BLOCK_N": columns, "BLOCK_K": depth, "num_stages": stages, "num_warps": 4}
    shape = {**SHAPE, "N": 1024, "K": 7168, "dtype": "bf16", "scales": "none"}
    (facts,) = Facts(1, 300).prepare([Point("gemm_split", shape, {**CONFIG, **sizes, "MODIFIER": ""}, "MI355X")])
    model = build(facts)
    # Some iterations are before or after the loop, so the factor is near to a whole number.
    unrolled = {round(trips.unrolled) for trips in model.trips.values()}
    straight = any("to_local" in op.name for op in facts.ttgir.operations)
    assert unrolled == ({2} if straight else {1})
    assert model.sharing.loaded == 2 * (rows + columns) * 7168
    (loop,) = (op for op in facts.ttgir.operations if op.is_loop)
    inside = next(op for op in facts.ttgir.operations if op.loop == loop.index)
    assert executions(facts, inside) == 7168 // depth - (stages - 1)


def test_iterations_as_written():
    assert Trips(5.5, unrolled=2).written == 11


@pytest.mark.triton
@pytest.mark.parametrize("parts", [2, 4])
def test_parts_of_k_behind_a_signal(parts):
    """One of a tile's workgroups sets it to zero; each does its part of K, in a loop that LLVM makes half as long."""
    config = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "SPLIT_K": parts, "num_warps": 4, "num_stages": 3}
    point = Point("split_signals", {"M": 512, "N": 1024, "K": 7168}, config, "MI355X")
    facts, found = flops(point)
    assert facts.grid == (8 * 16, parts)
    assert build(facts).sharing.stored == 64 * 64 * 2 / parts
    assert build(facts).sharing.loaded == 2 * (64 + 64) * 7168 / parts
    # What is left of an unrolled loop may be counted beside it: two blocks of K at most.
    whole, blocks = 2 * 512 * 1024 * 7168, 7168 / 64 / parts
    assert whole <= found["matrix_bf16"] <= whole * (1 + 2 / blocks)
