"""Values on their way through LDS, in the dialect before Triton 3.0 and in today's."""

import pytest

from kprof.api.read_mlir import read_mlir
from kprof.inputs.mlir import parse
from kprof.reporters.mlir_text import show
from kprof_analyzers.memory.lds_walk import walk_lds

ROWS = "threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]"
HEAD = f"""#blocked = #DIALECT.blocked<{{sizePerThread = [1, 8], {ROWS}}}>
#other = #DIALECT.blocked<{{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [1, 4], order = [1, 0]}}>
#shared = #DIALECT.shared<{{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}}>
module attributes {{"DIALECT.num-warps" = 4 : i32}} {{
  tt.func public @unpack(%p: tensor<64x64x!tt.ptr<i8>, #blocked>) {{
"""
TAIL = "    tt.return\n  }\n}\n"
OLD = """    %0 = tt.load %p : tensor<64x64xi8, #blocked>
    %1 = triton_gpu.convert_layout %0 : (tensor<64x64xi8, #blocked>) -> tensor<64x64xi8, #shared>
    %2 = tt.trans %1 : (tensor<64x64xi8, #shared>) -> tensor<64x64xi8, #shared>
    %3 = triton_gpu.convert_layout %2 : (tensor<64x64xi8, #shared>) -> tensor<64x64xi8, #blocked>
    %4 = arith.sitofp %3 : tensor<64x64xi8, #blocked> to tensor<64x64xf16, #blocked>
    %5 = triton_gpu.convert_layout %4 : (tensor<64x64xf16, #blocked>) -> tensor<64x64xf16, #shared>
    %6 = triton_gpu.convert_layout %5 : (tensor<64x64xf16, #shared>) -> tensor<64x64xf16, #other>
"""
MEMDESC = "!ttg.memdesc<64x64xTYPE, #shared, #ttg.shared_memory>"
BYTES, HALVES = MEMDESC.replace("TYPE", "i8"), MEMDESC.replace("TYPE", "f16")
NEW = f"""    %0 = tt.load %p : tensor<64x64x!tt.ptr<i8>, #blocked>
    %1 = ttg.local_alloc %0 : (tensor<64x64xi8, #blocked>) -> {BYTES}
    %2 = ttg.memdesc_trans %1 {{order = array<i32: 1, 0>}} : {BYTES} -> {BYTES}
    %3 = ttg.local_load %2 : {BYTES} -> tensor<64x64xi8, #blocked>
    %4 = arith.sitofp %3 : tensor<64x64xi8, #blocked> to tensor<64x64xf16, #blocked>
    %5 = ttg.local_alloc : () -> {HALVES}
    ttg.local_store %4, %5 : tensor<64x64xf16, #blocked> -> {HALVES}
    %6 = ttg.local_load %5 : {HALVES} -> tensor<64x64xf16, #other>
"""
EXCERPT = """%10 = triton_gpu.convert_layout %9 : (tensor<1x64xf16, #blocked3>) ->
tensor<1x64xf16, #shared1> loc(#loc4)

%11 = triton_gpu.convert_layout %10 : (tensor<1x64xf16, #shared1>)
-> tensor<1x64xf16, #blocked5> loc(#loc5)

%12 = arith.negf %11 : tensor<1x64xf16, #blocked5>
loc(#loc6)

%20 = triton_gpu.convert_layout %19 : (tensor<64x32xf16, #blocked5>) -> tensor<64x32xf16, #shared1>
%21 = triton_gpu.convert_layout %20 : (tensor<64x32xf16, #shared1>) -> tensor<64x32xf16, #triton_gpu.dot_op<{opIdx
= 1, parent = #mma, kWidth = 4}>>
"""


def module(body, dialect):
    """A module with these operations."""
    return HEAD.replace("DIALECT", dialect) + body + TAIL


def old():
    """The walk in the dialect in which a buffer is a tensor."""
    return module(OLD, "triton_gpu")


def new():
    """The same walk with buffers of their own type."""
    return module(NEW, "ttg").replace("#ttg.shared<", "#ttg.swizzled_shared<")


@pytest.fixture
def ingested(tmp_path):
    """Read a text as ``kprof ingest mlir`` does."""

    def read(text):
        path = tmp_path / "kernel.ttgir"
        path.write_text(text)
        return read_mlir(path)

    return read


@pytest.mark.parametrize("text", [old(), new()], ids=["old", "new"])
def test_both_dialects_are_counted_alike(text, ingested):
    """Two buffers, two writes and two reads, whatever the operations are called."""
    (one,) = ingested(text).modules
    counts = {name: one.measures[name] for name in ("local_alloc", "local_store", "local_load", "allocated")}
    assert counts == {"local_alloc": 2, "local_store": 2, "local_load": 2, "allocated": 64 * 64 * 3}


@pytest.mark.parametrize("text", [old(), new()], ids=["old", "new"])
def test_a_value_that_goes_through_lds_twice(text, ingested, capsys):
    """The second write holds what was read from LDS before, with element-wise work in between."""
    found = ingested(text)
    (walk,) = found.walks
    first, second = walk.passes
    assert (first.value, first.shape, first.bytes, first.earlier) == ("%0", "64x64xi8", 4096, None)
    assert (second.value, second.shape, second.bytes, second.earlier) == ("%4", "64x64xf16", 8192, 0)
    assert [len(one.reads) for one in walk.passes] == [1, 1]
    assert walk.chains == ((0, 1),)
    show(found.modules, found.walks)
    shown = capsys.readouterr().out
    assert f"LDS is used twice for one value: %0 (line {first.write}), then %4 (line {second.write})" in shown
    assert "AMD's guide advises using LDS once" in shown
    assert "one value through LDS twice" in found.summary
    assert found.document["modules"][0]["lds"]["passes"][1]["earlier"] == 0


def test_a_product_in_between_makes_another_value():
    """What a product gives is not the value that went through LDS."""
    tensor = "tensor<64x64xi8, #blocked>"
    product = f"%4 = tt.dot %3, %3, %3 : {tensor} * {tensor} -> tensor<64x64xf16, #blocked>"
    lines = [product if "sitofp" in line else line for line in NEW.splitlines()]
    walk = walk_lds(parse(module("\n".join(lines) + "\n", "ttg")))
    assert [one.earlier for one in walk.passes] == [None, None]
    assert walk.chains == ()


def test_an_excerpt_with_broken_lines_and_missing_definitions(ingested, capsys):
    """Documentation breaks lines and leaves some out: the link is likely, and the undefined names are listed."""
    found = ingested(EXCERPT)
    (walk,) = found.walks
    assert [(one.value, one.shape, len(one.reads), one.earlier) for one in walk.passes] == [
        ("%9", "1x64xf16", 1, None),
        ("%19", "64x32xf16", 1, 0),
    ]
    assert walk.passes[1].undefined == ("%19",)
    show(found.modules, found.walks)
    shown = capsys.readouterr().out
    assert "LDS is used twice for one value" in shown
    assert "likely, not certain: the text does not define %19" in shown


def test_conversions_between_wavefronts_are_passes_of_their_own():
    """A conversion that moves data between wavefronts writes LDS and reads it; one of unknown layouts may."""
    convert = "    %7 = ttg.convert_layout %4 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #other>\n"
    unknown = "    %8 = ttg.convert_layout %7 : tensor<64x64xf16, #other> -> tensor<64x64xf16, #nowhere>\n"
    walk = walk_lds(parse(module(NEW + convert + unknown, "ttg")))
    assert [one.operation for one in walk.passes] == ["ttg.local_alloc", "ttg.local_store", "ttg.convert_layout"]
    assert walk.unknown_conversions == 1
    # What was read from the first buffer goes into the second, and through the conversion.
    assert walk.chains == ((0, 1), (0, 2))


def test_copies_from_memory_and_pipelined_buffers():
    """Copies straight into LDS are counted by themselves, and waiting for them is no copy."""
    buffer = "!ttg.memdesc<64x64xf16, #shared, #ttg.shared_memory, mutable>"
    body = f"""    %b = ttg.local_alloc : () -> {buffer}
    %t = ttg.async_copy_global_to_local %p, %b : tensor<64x64x!tt.ptr<f16>, #blocked> -> {buffer}
    %w = ttg.async_wait %t {{num = 0 : i32}}
    %r = ttg.local_load %b token %w : {buffer} -> tensor<64x64xf16, #blocked>
"""
    (one,) = walk_lds(parse(module(body, "ttg"))).passes
    assert (one.value, one.operation, len(one.reads)) == ("%t", "ttg.async_copy_global_to_local", 1)
