"""Data flow and strides of TTGIR modules, on names used twice, carried values and LDS."""

import pytest

from kprof.inputs import mlir
from kprof_analyzers.memory.addressing import Stride, element_bytes, strides
from kprof_analyzers.memory.dataflow import arguments, flow_of, global_loads
from kprof_analyzers.memory.narrowness import causes_of
from kprof_analyzers.memory.replication import products, replication

HEAD = """#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#r = #ttg.slice<{dim = 1, parent = #b}>
#c = #ttg.slice<{dim = 0, parent = #b}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %s: i32, %t: i32 {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %five = arith.constant 5 : i32
    %r0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #r>
    %r1 = tt.expand_dims %r0 {axis = 1 : i32} : tensor<64xi32, #r> -> tensor<64x1xi32, #b>
    %k0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #c>
    %k1 = tt.expand_dims %k0 {axis = 0 : i32} : tensor<64xi32, #c> -> tensor<1x64xi32, #b>
    %k2 = tt.broadcast %k1 : tensor<1x64xi32, #b> -> tensor<64x64xi32, #b>
    %two = arith.constant dense<2> : tensor<64x1xi32, #b>
"""
TAIL = "    tt.return\n  }\n}\n"
LOAD = "%v = amdg.buffer_load %x[{}] : !tt.ptr<f16> -> tensor<64x64xf16, #b>\n"


def module(body):
    """A function with rows %r1 and columns %k2 at hand."""
    return mlir.parse(HEAD + body + TAIL)


def scaled(by, name="o"):
    """Rows times something plus columns."""
    return f"""    %{name}s = tt.splat {by} : i32 -> tensor<64x1xi32, #b>
    %{name}m = arith.muli %r1, %{name}s : tensor<64x1xi32, #b>
    %{name}b = tt.broadcast %{name}m : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
    %{name} = arith.addi %{name}b, %k2 : tensor<64x64xi32, #b>
"""


def test_rows_by_a_stride_and_contiguous_columns():
    """The usual tile; sizes and arguments are read too."""
    found = module(scaled("%s") + "    " + LOAD.format("%o"))
    (load,) = global_loads(found)
    assert strides(load) == {0: Stride(1, ("s",)), 1: Stride()}
    assert element_bytes(load) == 2
    assert arguments(found) == ("x", "n", "s", "t")
    assert strides(load)[0].value({"s": 4096}) == 4096
    assert strides(load)[0].value({}) is None
    assert str(strides(load)[0]) == "s"


def test_gathered_rows_are_irregular_and_their_columns_are_not():
    """Row numbers that come from memory."""
    body = """    %g0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #r>
    %rows = amdg.buffer_load %x[%g0] : !tt.ptr<i32> -> tensor<64xi32, #r>
    %g1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #r> -> tensor<64x1xi32, #b>
    %gs = tt.splat %s : i32 -> tensor<64x1xi32, #b>
    %gm = arith.muli %g1, %gs : tensor<64x1xi32, #b>
    %gb = tt.broadcast %gm : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
    %o = arith.addi %gb, %k2 : tensor<64x64xi32, #b>
"""
    *_, load = global_loads(module(body + "    " + LOAD.format("%o")))
    assert strides(load) == {0: None, 1: Stride()}


def test_a_pointer_that_a_loop_moves_on_keeps_its_strides():
    """The carried offset's first value decides."""
    body = (
        scaled("%s")
        + "    %e:1 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (tensor<64x64xi32, #b>)  : i32 {\n"
    )
    body += "      " + LOAD.format("%p") + "      %q = arith.addi %p, %k2 : tensor<64x64xi32, #b>\n"
    body += "      scf.yield %q : tensor<64x64xi32, #b>\n    }\n"
    (load,) = global_loads(module(body))
    assert strides(load) == {0: Stride(1, ("s",)), 1: Stride()}
    assert load.loop is not None


def test_a_name_that_two_loops_use_is_two_values():
    """MLIR gives names away again once their region has ended."""
    loop = "    scf.for %i = %c0 to %n step %c1  : i32 {{\n{}      " + LOAD.format("%o") + "    }}\n"
    found = module(loop.format(scaled("%s")) + loop.format(scaled("%t")))
    assert [str(strides(load)[0]) for load in global_loads(found)] == ["s", "t"]


def test_products_of_two_positions_are_irregular():
    """Rows times columns have no stride."""
    body = "    %b1 = tt.broadcast %r1 : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>\n"
    body += "    %o = arith.muli %b1, %k2 : tensor<64x64xi32, #b>\n    " + LOAD.format("%o")
    (load,) = global_loads(module(body))
    assert strides(load) == {0: None, 1: None}


def test_constants_are_multiplied_in():
    """A stride that was made a constant."""
    body = "    %m = arith.muli %r1, %two : tensor<64x1xi32, #b>\n"
    body += "    %b1 = tt.broadcast %m : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>\n"
    body += "    %o = arith.addi %b1, %k2 : tensor<64x64xi32, #b>\n    " + LOAD.format("%o")
    (load,) = global_loads(module(body))
    assert strides(load)[0] == Stride(2)


def test_what_goes_through_lds_is_followed_on_demand():
    """From a read back to the store into the same buffer and its load."""
    body = """    %buf = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
    scf.for %i = %c0 to %n step %c1  : i32 {
      %v = amdg.buffer_load %x[%k2] : !tt.ptr<f16> -> tensor<64x64xf16, #b>
      ttg.local_store %v, %buf : tensor<64x64xf16, #b> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
      %l = ttg.local_load %buf : !ttg.memdesc<64x64xf16, #s, #smem, mutable> -> tensor<64x64xf16, #b>
    }
"""
    found = module(body)
    (read,) = found.named("ttg.local_load")
    flow = flow_of(found)
    value = flow.inputs(read)[0]
    assert "amdg.buffer_load" in [op.name for op in flow.back(value, memory=True)]
    assert "amdg.buffer_load" not in [op.name for op in flow.back(value)]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (scaled("%s") + "    " + LOAD.format("%o"), ["s is not known to be a multiple of 16"]),
        (scaled("%t") + "    " + LOAD.format("%o"), []),
        (scaled("%five") + "    " + LOAD.format("%o"), ["its address is only known to be a multiple of 2 bytes"]),
    ],
)
def test_why_a_load_is_narrow(body, words):
    """A stride without divisibility is named; with it there is nothing to say; of a number what follows from it."""
    (load,) = global_loads(module(body))
    assert [cause.words for cause in causes_of(load)] == words


def test_a_mask_along_the_tile_is_named():
    """Where all else would allow wide loads."""
    body = scaled("%t") + "    %m = arith.cmpi slt, %k2, %k2 : tensor<64x64xi32, #b>\n"
    body += "    %v = amdg.buffer_load %x[%o], %m : !tt.ptr<f16> -> tensor<64x64xf16, #b>\n"
    (load,) = global_loads(module(body))
    assert [cause.words for cause in causes_of(load)] == ["its mask may change inside 16 bytes"]


@pytest.mark.parametrize(("warps", "copies"), [("4, 1", 1), ("8, 1", 2), ("4, 2", 1), ("8, 2", 2)])
def test_repeated_matrix_work(warps, copies):
    """64 rows keep four wavefronts busy, one below the other."""
    mma = f"#ttg.amd_mfma<{{version = 3, warpsPerCTA = [{warps}], instrShape = [16, 16, 16], isTransposed = true}}>"
    a, b = (f"#ttg.dot_op<{{opIdx = {i}, parent = #mma, kWidth = 4}}>" for i in (0, 1))
    text = f"""#mma = {mma}
module attributes {{"ttg.num-warps" = 4 : i32}} {{
  tt.func public @k(%n: i32, %l: tensor<64x32xf16, {a}>, %w: tensor<32x64xf16, {b}>, %d: tensor<64x64xf32, #mma>) {{
    scf.for %i = %n to %n step %n  : i32 {{
      %r = tt.dot %l, %w, %d : tensor<64x32xf16, {a}> * tensor<32x64xf16, {b}> -> tensor<64x64xf32, #mma>
    }}
    tt.return
  }}
}}
"""
    found = mlir.parse(text)
    (product,) = products(found)
    assert (product.shape, product.copies, product.flops) == ((64, 64, 32), copies, 2 * 64 * 64 * 32)
    assert replication(found) == copies
