"""What LLVM's assembler says about the tables."""

import subprocess

import pytest

from kprof.hardware.machine import architectures, load
from tests.oracles import llvm_tool

pytestmark = pytest.mark.llvm
LLVM_MC = llvm_tool("llvm-mc") or "llvm-mc"
FORMATS = {"fp8": 0, "fp6": 2, "fp4": 4}


def assemble(arch, text, kind="null", path="-"):
    """Run the assembler; skip where it does not know the processor."""
    command = [LLVM_MC, "-triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", f"-filetype={kind}", "-o", path]
    ran = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if "not a recognized processor" in ran.stderr:
        pytest.skip(f"this {LLVM_MC} does not know {arch}")
    return ran


def operand(first, count, file="v"):
    """``v[16:19]``, or ``v16`` for one register."""
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def written(arch, instruction):
    """The instruction with operands of the widths in the table."""
    name, _, fmt = instruction.name.partition("@")
    file = "a" if arch == "gfx908" else "v"
    a, b = operand(16, instruction.vgprs_a), operand(64, instruction.vgprs_b)
    d = operand(128, instruction.vgprs_d, file)
    text = f"{name} {d}, {a}, {b}, {'v200' if instruction.sparse else d}"
    text += ", v200, v201" if "scale" in name else ""
    if fmt and arch == "gfx1250":
        return f"{text} matrix_a_fmt:MATRIX_FMT_{fmt.upper()} matrix_b_fmt:MATRIX_FMT_{fmt.upper()}"
    return f"{text} cbsz:{FORMATS[fmt]} blgp:{FORMATS[fmt]}" if fmt else text


@pytest.mark.parametrize("name", [n for n in architectures() if load(n).matrix_instructions])
def test_matrix_instructions_exist_with_these_operands(name):
    """The assembler takes every instruction, with exactly as many registers as the table says."""
    known = load(name).matrix_instructions.values()
    ran = assemble(name, "\n".join(written(name, i) for i in known))
    assert ran.returncode == 0, ran.stderr[:600]

    wide = [i for i in known if i.vgprs_a and i.vgprs_a < 16]
    off = "\n".join(written(name, i).replace(operand(16, i.vgprs_a), operand(16, i.vgprs_a + 1)) for i in wide)
    assert assemble(name, off).stderr.count("error:") == len(wide)


@pytest.mark.parametrize("name", architectures())
def test_elf_machine_number(name, tmp_path):
    """The low byte of ``e_flags`` of an object for this processor is the table's."""
    path = tmp_path / "object.o"
    assert assemble(name, "s_endpgm\n", kind="obj", path=str(path)).returncode == 0

    flags = int.from_bytes(path.read_bytes()[48:52], "little")
    assert flags & 0xFF == load(name).llvm.elf_machine


@pytest.mark.parametrize("name", architectures())
def test_wait_counters_reach_their_largest_value(name):
    """The assembler takes the largest count of each counter, and not one more."""
    generation = load(name).generation
    for counter, most in load(name).wait_counters.items():
        if counter == "vscnt":
            text = "s_waitcnt_vscnt null, {}"
        elif generation in {"gfx12", "gfx1250"}:
            text = f"s_wait_{counter} {{}}"
        else:
            text = f"s_waitcnt {counter}({{}})"
        assert assemble(name, text.format(most)).returncode == 0, counter
        if "s_waitcnt " in text:
            assert assemble(name, text.format(most + 1)).returncode != 0, counter
