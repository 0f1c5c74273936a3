"""Modules of every supported Triton are read as MLIR itself reads them."""

import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs.mlir import MemDesc, Pointer, Scalar, TensorType, parse
from kprof.inputs.mlir.layouts import DotOperand, PaddedShared
from kprof.inputs.mlir.measures import lds_bytes
from tests.inputs.mlir.conftest import LDS, TTGIR, TTIR, text

OLD = """
#blocked = #triton_gpu.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], hasLeadingOffset = false}>
#smem = #triton_gpu.shared_memory
module attributes {"triton_gpu.num-warps" = 4 : i32, triton_gpu.target = "hip:gfx90a", triton_gpu.shared = 9 : i32} {
  tt.func public @f(%arg0: !tt.ptr<f16>) attributes {noinline = false} {
    %0 = tt.load %arg0 : tensor<64x64x!tt.ptr<f16>, #blocked>
    %1 = triton_gpu.local_alloc %0 : (tensor<64x64xf16, #blocked>) -> !tt.memdesc<64x64xf16, #shared, #smem>
    amdgpu.buffer_store %0, %arg0[%2] : tensor<64x64xf16, #blocked>
    tt.return
  }
}
"""


def test_module_attributes(ttgir):
    """Warps, lanes and target, and nothing that was not understood."""
    name, source = ttgir
    module = parse(source)
    arch = name.split(".")[1]
    lanes = 32 if arch.startswith("gfx1") else 64
    assert (module.num_warps, module.threads_per_warp) == (4, lanes)
    assert (module.target, module.arch, module.shared_bytes) == (f"hip:{arch}", arch, None)
    assert module.notes == ()


def test_lds_is_what_triton_reported(ttgir):
    """The declared buffers with swizzling, rotation or padding add up to the metadata's ``shared``."""
    name, source = ttgir
    buffers = [op.result_types[0] for op in parse(source).named("ttg.local_alloc")]
    assert sum(map(lds_bytes, buffers)) == LDS[name]


def test_every_operation_has_types_and_place(ttgir):
    """No type and no layout stays raw; all but a few made-up constants have a line in the user's file."""
    module = parse(ttgir[1])
    for op in module.operations:
        for kind in op.types:
            assert isinstance(kind, TensorType | MemDesc | Pointer | Scalar), (op, kind)
            if isinstance(kind, TensorType):
                assert kind.layout is None or type(kind.layout).__name__ != "RawLayout", op
    placed = [op for op in module.operations if op.user_frame is not None]
    assert len(placed) > 0.9 * len(module.operations)
    assert {op.user_frame.file for op in placed} == {"/home/user/sample_kernels.py"}


def test_loop_and_what_is_inside():
    """Depths, the loop's own operation, and the dot in it with its operands' layouts."""
    module = parse(text("matmul.gfx942.stages2.triton-3.9"))
    (loop,) = module.named("scf.for")
    (dot,) = [op for op in module.named("tt.dot") if op.loop_depth]
    assert (loop.loop_depth, loop.depth, dot.loop, dot.depth) == (0, 2, loop.index, 3)
    assert dot in list(module.inside(loop))
    assert module.operations[dot.parent] is loop
    a, b, c = dot.operand_types
    assert isinstance(a.layout, DotOperand)
    assert (a.layout.index, b.layout.index, a.shape, b.shape) == (0, 1, (64, 32), (32, 64))
    assert dot.result_types == (c,)
    assert dot.modifiers["inputPrecision"] == "tf32"
    assert len(loop.results) == len(loop.result_types)
    assert [op.name for op in module.operations if dot.operands[0] in op.results] == ["ttg.local_load"]


def test_inlined_helper_leads_to_the_users_line():
    """The addition inside ``tl.sum`` belongs to the line that calls it; Triton's own lines come first."""
    module = parse(text("matmul.gfx942.stages2.triton-3.9"))
    reduction = next(module.named("tt.reduce"))
    inner = next(op for op in module.inside(reduction) if op.name == "arith.addf")
    assert reduction.attributes["axis"] == 1
    assert inner.location[0].in_library
    assert inner.user_frame == reduction.user_frame
    assert reduction.user_frame.line == next(
        number for number, line in enumerate((text_of_samples()).splitlines(), 1) if "tl.sum(total, 1)" in line
    )


def text_of_samples() -> str:
    """The file that the artifacts were made from."""
    from tests.compiler.conftest import SAMPLES

    return SAMPLES.read_text()


def test_asynchronous_copies():
    """gfx950 pipelines straight into padded LDS."""
    module = parse(text("matmul.gfx950.stages3.triton-3.9"))
    copies = list(module.named("amdg.buffer_load_to_local", "ttg.async_copy_*"))
    assert copies
    for op in copies:
        assert any(isinstance(kind, MemDesc) and isinstance(kind.layout, PaddedShared) for kind in op.operand_types), op
    waits = list(module.named("ttg.async_wait", "amdg.async_wait"))
    assert waits
    assert all("num" in op.attributes for op in waits)


@pytest.mark.parametrize("name", TTIR)
def test_ttir(name):
    """Before layouts: the same reader, without layouts."""
    module = parse(text(name))
    loads = list(module.named("tt.load"))
    assert len(loads) == 2
    assert all(op.result_types == (TensorType(op.operand_types[0].shape, Scalar("f16", 16)),) for op in loads)
    assert module.num_warps is None
    arguments = {op.name for op in module.operations}
    assert "tt.func" in arguments


def test_old_spellings():
    """``triton_gpu.`` and ``amdgpu.`` mean what ``ttg.`` and ``amdg.`` mean."""
    module = parse(OLD)
    assert (module.num_warps, module.arch, module.shared_bytes) == (4, "gfx90a", 9)
    alloc = next(module.named("ttg.local_alloc"))
    assert alloc.spelling == "triton_gpu.local_alloc"
    assert lds_bytes(alloc.result_types[0]) == 64 * 64 * 2
    assert alloc.result_types[0].layout.max_phase == 8
    assert next(module.named("amdg.buffer_store")).operands == ("%0", "%arg0", "%2")
    assert next(module.named("tt.load")).line == 7


def test_arrays_are_lists():
    """As MLIR prints the order of a transposition: ``array<TYPE: ITEMS>``, of nothing ``array<TYPE>``."""
    module = parse(
        "module {\n  %1 = tt.trans %0 {order = array<i32: 1, 0>, none = array<i32>, on = array<i1: true>}\n}"
    )
    assert module.operations[1].attributes == {"order": [1, 0], "none": [], "on": [True]}


def test_unknown_things_are_kept():
    """An operation, a type, a layout and an attribute that do not exist yet."""
    module = parse(
        """#new = #ttg.something_new<{a = [1, 2], b = "x"}>
module attributes {ttg.target = "hip:gfx1300", ttg.novel = #ttg.thing<3>} {
  %0, %1:2 = ttg.do_new(%a, %b#1) {mode = "x"} : !ttg.odd<3>, tensor<4xf16> -> tensor<4xf32, #new>, i1 loc("f.py":3:4)
}"""
    )
    op = module.operations[1]
    assert op.results == ("%0", "%1#0", "%1#1")
    assert op.operands == ("%a", "%b#1")
    assert op.attributes == {"mode": "x"}
    assert op.operand_types[0].text == "!ttg.odd<3>"
    assert op.result_types[0].layout.kind == "something_new"
    assert op.result_types[0].layout.fields == {"a": [1, 2], "b": "x"}
    assert (op.user_frame.file, op.user_frame.line, op.user_frame.column) == ("f.py", 3, 4)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "is empty"),
        ("  \n\n", "is empty"),
        ("\0\1\2ELF", "binary"),
        (".version 8.0\n.target sm_90\n.visible .entry f()\n{\n ret;\n}\n", "is not MLIR"),
        ("define amdgpu_kernel void @f() {\n  %1 = add i32 1, 2\n  ret void\n}\n", "is not MLIR"),
        ("\t.text\n\ts_load_dwordx4 s[0:3], s[0:1], 0x0\n\ts_endpgm\n", "is not MLIR"),
        ("import triton\n\ndef f(x):\n    return x\n", "is not MLIR"),
        ('{"a": 1}', "is not MLIR"),
    ],
)
def test_other_formats_are_refused(source, message):
    """PTX, LLVM IR, assembly, Python, JSON: one message, with the file."""
    with pytest.raises(KprofError, match=message) as caught:
        parse(source, "f.ttgir")
    assert caught.value.path == "f.ttgir"


def test_cut_off_module_is_read_as_far_as_it_goes():
    """And says so."""
    source = text("matmul.gfx942.stages2.triton-3.9")
    module = parse(source[: int(len(source) * 0.7)])
    assert module.num_warps == 4
    assert any("cut off" in note for note in module.notes)


def look_at_everything(module):
    """Ask for all that is worked out on demand."""
    for op in module.operations:
        _ = op.types, op.attributes, op.modifiers, op.location, str(op)
    _ = module.layouts, module.counts(), module.functions, module.shared_bytes, module.arch


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(TTGIR + TTIR), st.data())
def test_mutated_modules_never_break_the_reader(name, data):
    """Cut, with bytes changed, lines doubled or dropped: a result or one clear message."""
    source = text(name)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(source)))
        match data.draw(st.sampled_from(["cut", "drop", "insert", "double"])):
            case "cut":
                source = source[:at] if data.draw(st.booleans()) else source[at:]
            case "drop":
                source = source[:at] + source[at + data.draw(st.integers(1, 200)) :]
            case "insert":
                source = (
                    source[:at] + data.draw(st.text(alphabet='{}()<>[]"%#!:,=->\n ax1\\\0', max_size=12)) + source[at:]
                )
            case "double":
                source = source[:at] + source[max(0, at - 300) :]
    try:
        module = parse(source)
    except KprofError:
        return
    look_at_everything(module)


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet='{}()<>[]"%#!:,=->\n ab1.\\', max_size=300))
def test_noise_never_breaks_the_reader(noise):
    """Anything at all after the beginning of a module."""
    look_at_everything(parse("module {\n" + noise))


@pytest.mark.parametrize(
    "hostile",
    [
        "#a = #b\n#b = #a\nmodule {\n%0 = tt.load %p : tensor<4xf16, #a>\n}",
        "#loc1 = loc(callsite(#loc2 at #loc1))\n#loc2 = loc(#loc1)\nmodule {\ntt.return loc(#loc1)\n}",
        "!a = !b\n!b = !a\nmodule {\n%0 = tt.load %p : !a\n}",
        "module {\n%0:99999999999 = tt.load %p : f16\n}",
        "module {\n" + "%0 = tt.load %p : " + "tensor<" * 5000 + "\n}",
        "module {\n%0 = tt.x {a = " + "[" * 5000 + "} : f16\n}",
        "module {\n" + "tt.func {\n" * 3000,
        "module {\n%0 = tt.load %p : tensor<4xf16, " + "#ttg.slice<{dim = 0, parent = " * 2000 + "\n}",
        "module {\ntt.return loc(" + "callsite(" * 5000 + "\n}",
        "module {\n" + "tt.x (\n" * 3000 + "}",
    ],
)
def test_hostile_modules_are_read_in_no_time(hostile):
    """Cycles, endless nesting and absurd counts neither hang nor overflow."""
    started = time.process_time()
    look_at_everything(parse(hostile))
    assert time.process_time() - started < 5


def test_reading_is_linear():
    """Four times the text takes about four times as long, and 5 MB about a second on a slow machine."""
    body = text("matmul.gfx942.stages3.triton-3.9")
    times = []
    for source in (body * 40, body * 160):
        each = []
        for _ in range(3):
            # Time of the processor, the best of three: other work on the machine is not the reader's.
            started = time.process_time()
            module = parse(source)
            each.append(time.process_time() - started)
        times.append(min(each))
    assert len(module.operations) > 10_000
    assert times[1] < 12 * times[0] + 0.1


@pytest.mark.triton
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_operations_are_those_that_mlir_counts(matmul_request, arch, tmp_path, pool):
    """Triton's own parser finds the same operations under the same names."""
    from kprof.compiler.compile import compile_many
    from kprof.compiler.versions import api

    requests = [matmul_request(arch, num_stages=stages) for stages in (2, 3)]
    for outcome in compile_many(requests, pool=pool):
        compiled = outcome.result()
        for stage in ("ttir", "ttgir"):
            path = tmp_path / f"kernel.{stage}"
            path.write_text(compiled.text(stage))
            ir = api().ir
            context = ir.context()
            ir.load_dialects(context)
            target = api().gpu_target("hip", arch, 64)
            api().make_backend(target).load_dialects(context)
            module = ir.parse_mlir_module(str(path), context)
            names: list[str] = []
            module.walk(lambda op, names=names: names.append(op.get_name()))
            ours = Counter(
                op.spelling if "." in op.spelling else "builtin.module" for op in parse(compiled.text(stage)).operations
            )
            assert ours == Counter(names)
