"""``.amdgcn`` against ``.hsaco`` of the same compile: the compiler's text is the oracle for everything that is read."""

from pathlib import Path

import pytest

from kprof.compiler.compile import compile_kernel
from kprof.errors import KprofError
from kprof.hardware.machine import architectures, load
from kprof.inputs import amdgcn, code_object
from kprof.inputs.code_object import disassembly, llvm_library
from kprof.inputs.code_object.elf import Elf
from kprof.options.groups import CompileOptions
from kprof.targets.jobs import plan

ARTIFACTS = Path(__file__).parents[2] / "artifacts"
PAIRS = sorted(f for f in ARTIFACTS.glob("gfx*/*.hsaco") if f.with_suffix(".amdgcn").exists())
SOURCE = """
import triton
import triton.language as tl

@triton.jit
def work(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        a = tl.load(x + start + offsets, mask=start + offsets < n, other=0.0).to(tl.float32)
        total += tl.exp(a - tl.max(a, 0)) / tl.sum(a, 0)
    tl.store(y + tl.program_id(0) * BLOCK + offsets, total.to(tl.float16))
"""


@pytest.fixture(autouse=True)
def _library():
    if llvm_library.find_library() is None:
        pytest.skip(f"{llvm_library.PACKAGE} is not installed")


def told(kernel, lines):
    """What is read of each instruction, its source lines if asked for; padding is left to the compiler."""
    return [
        (
            i.opcode.name,
            sorted(_read(i)),
            sorted(i.effects.writes),
            dict(i.waits),
            i.counters,
            i.to_lds,
            # Triton 3.4's text lacks the calls around an instruction whose innermost line is 0, which is not known.
            i.location if lines and i.location and i.location[0].line else (),
        )
        for i in kernel.instructions
        if i.opcode.name != "s_nop"
    ]


def _read(instruction):
    """Registers read, without one whose other half only stays as it is: Triton 3.8 writes ``v0`` for ``v0.l``."""
    target, *sources = instruction.operands or ("",)
    kept = {target[:-2]} if target[-2:] in {".l", ".h"} else set()
    return instruction.effects.reads - (kept - {source.removesuffix(".l").removesuffix(".h") for source in sources})


def agree(binary, text, *, lines=False):
    """Both readers say the same of a kernel: registers, waits, loops, and nothing is unknown.

    ``lines``: source lines with the calls around them, too. The artefacts that are kept here have none in the object.
    """
    read, written = code_object.disassemble(binary), amdgcn.parse(text)
    assert (read.unknown, written.unknown, read.notes) == ({}, {}, ())
    assert {kernel.name for kernel in read.kernels} == {kernel.name for kernel in written.kernels}
    for kernel in written.kernels:
        other = read.kernel(kernel.name)
        for mine, theirs in zip(told(other, lines), told(kernel, lines), strict=True):
            assert mine == theirs
        # Padding after a function's end does not belong to the function.
        assert other.instructions[-1].opcode.name == kernel.instructions[-1].opcode.name
        sizes = [
            sorted(sum(k.instructions[at].opcode.name != "s_nop" for at in loop.instructions) for loop in k.loops)
            for k in (other, kernel)
        ]
        assert sizes[0] == sizes[1]
        for name in ("vgpr", "sgpr", "vgpr_spills", "sgpr_spills", "scratch_bytes", "lds_bytes_static"):
            assert getattr(other.registers, name) == getattr(kernel.registers, name)


@pytest.mark.parametrize("file", PAIRS, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_artefacts(file):
    """Those that are kept here."""
    (binary,) = code_object.read_file(file).objects
    agree(binary, file.with_suffix(".amdgcn").read_text())


def compiled(target, arch, **options):
    """The object and the text of a compile, or a skip where this Triton does not know the architecture."""
    (job,) = plan(target, [load(arch)], CompileOptions(**options))
    try:
        made = compile_kernel(job.request)
    except KprofError as error:
        pytest.skip(f"this Triton does not compile for {arch}: {error.message[:80]}")
    (binary,) = code_object.read(made.stages["hsaco"], arch).objects
    return binary, made.stages["amdgcn"]


@pytest.mark.triton
@pytest.mark.slow
@pytest.mark.parametrize("arch", architectures())
def test_every_architecture(arch, tmp_path):
    """A reduction with a loop, masks, exponentials and divisions."""
    (tmp_path / "work.py").write_text(SOURCE)
    options = {"signature": "*fp16:16,*fp16:16,i32", "constexpr": {"BLOCK": 2048}, "config": {"num_warps": 4}}
    agree(*compiled(f"{tmp_path}/work.py::work", arch, **options), lines=True)


@pytest.mark.triton
@pytest.mark.slow
def test_registers_above_255():
    """One wavefront of a wide softmax on gfx1250: thousands of operands lie above 255, and each is named right."""
    binary, text = compiled("softmax", "gfx1250", config={"num_warps": 1})
    assert text.count("/*v") > 1000
    agree(binary, text)


def test_padding_that_a_disassembler_prints_is_no_instruction(monkeypatch):
    """``llvm-objdump`` also prints the padding after a function's end."""
    (file,) = (pair for pair in PAIRS if pair.parent.name == "gfx942" and pair.name.startswith("matmul"))
    (code,) = code_object.read_file(file).objects
    size = next(symbol.size for symbol in Elf(code.data).symbols() if symbol.name == "matmul")
    lines = ["matmul.hsaco:\tfile format elf64-amdgpu", "", "Disassembly of section .text:", ""]
    lines += [f"{0x1900:016x} <matmul>:", f"\ts_endpgm  // {0x1900 + size - 4:012X}: BF810000"]
    lines += [f"\ts_nop 0  // {0x1900 + size + 4 * place:012X}: BF800000" for place in range(56)]
    monkeypatch.setattr(disassembly, "disassemble_text", lambda *_, **__: "\n".join(lines))
    (kernel,) = disassembly.disassemble(code).kernels
    assert [instruction.opcode.name for instruction in kernel.instructions] == ["s_endpgm"]
