"""Classes and widths against encodings: every opcode of each encoding family, disassembled by LLVM.

Which unit executes an instruction shows in the leading bits of its encoding, and how wide an access is shows in
the registers that the disassembler prints. Neither is known to the reader, which sees only the mnemonic.
"""

import re
import subprocess
from collections.abc import Iterator

import pytest

from kprof.inputs.amdgcn import Instruction, InstructionClass, MemorySpace, lookup
from kprof.inputs.amdgcn.operands import registers

C = InstructionClass
ARITHMETIC = {C.VALU, C.MATRIX}
SCALAR = {C.SALU, C.BRANCH, C.BARRIER, C.WAIT, C.OTHER}
# Family: leading bits, position of the opcode field, its width, classes, further bits of both words.
Family = tuple[str, int, int, set[InstructionClass], int, int]
GFX9: list[Family] = [
    ("110110", 17, 8, {C.LDS}, 0, 0x0A060402),
    ("110111", 18, 7, {C.VMEM}, 0, 0x047F0402),  # flat
    ("110111", 18, 7, {C.SCRATCH}, 0x4000, 0x047F0402),
    ("110111", 18, 7, {C.VMEM}, 0x8000, 0x047F0402),  # global
    ("111000", 18, 7, {C.VMEM}, 0x1000, 0x80020402),
    ("110000", 18, 8, {C.SMEM}, 0x20002, 0),
    ("110100", 16, 10, ARITHMETIC, 0x4, 0x04120904),
    ("110100111", 16, 7, ARITHMETIC, 0x4, 0x1C120904),
    ("0", 25, 6, ARITHMETIC, 0x020501, 0),
    ("0111111", 9, 8, ARITHMETIC, 0x040101, 0),
    ("10", 23, 7, SCALAR, 0x040302, 0),
    ("101111101", 8, 8, SCALAR, 0x040002, 0),
    ("101111110", 16, 7, SCALAR, 0x0402, 0),
    ("101111111", 16, 7, SCALAR, 0x0000, 0),
]
GFX11: list[Family] = [
    ("110110", 18, 8, {C.LDS, C.GDS}, 0, 0x0A060402),
    ("110111", 18, 7, {C.VMEM}, 0, 0x047C0402),
    ("110111", 18, 7, {C.SCRATCH}, 0x10000, 0x047C0402),
    ("110111", 18, 7, {C.VMEM}, 0x20000, 0x047C0402),
    ("111000", 18, 8, {C.VMEM}, 0, 0x80020402),
    ("111101", 18, 8, {C.SMEM}, 0x2, 0xF8000000),
    ("110101", 16, 10, ARITHMETIC, 0x4, 0x04120904),
    ("11001100", 16, 7, ARITHMETIC, 0x4, 0x1C120904),
    ("0", 25, 6, ARITHMETIC, 0x020501, 0),
    ("101111111", 16, 7, SCALAR, 0x0000, 0),
    ("10", 23, 7, SCALAR, 0x040302, 0),
]
GFX12: list[Family] = [
    ("110110", 18, 8, {C.LDS, C.GDS}, 0, 0x0A060402),
    ("11101100", 14, 8, {C.VMEM}, 0x7C, 0),
    ("11101101", 14, 8, {C.SCRATCH}, 0x7C, 0),
    ("11101110", 14, 8, {C.VMEM}, 0x7C, 0),
    ("110001", 14, 8, {C.VMEM}, 0x7C, 0x00001004),
    ("11001100", 16, 7, ARITHMETIC, 0x4, 0x1C120904),
    ("101111111", 16, 7, SCALAR, 0x0000, 0),
]
FAMILIES = {"gfx906": GFX9, "gfx90a": GFX9, "gfx942": GFX9, "gfx1100": GFX11, "gfx1201": GFX12}


def listed(llvm_mc: str, arch: str, family: Family) -> Iterator[str]:
    """Every instruction of a family that the disassembler accepts, whose encoding really has the leading bits."""
    bits, low, width, _, first, second = family
    base = int(bits, 2) << (32 - len(bits)) | first
    lines = []
    for opcode in range(1 << width):
        words = [base | opcode << low, second, 0x00000204]
        lines.append(
            " ".join(
                f"0x{word >> 8 * byte & 255:02x}"
                for word in words[: 3 if arch == "gfx1201" else 2]
                for byte in range(4)
            )
        )
    command = [llvm_mc, "-triple=amdgcn", f"-mcpu={arch}", "-disassemble", "-show-encoding"]
    result = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False)
    for line in result.stdout.split("\n"):
        match = re.match(r"\s+(\S.*?)\s*(?:;|//) encoding: \[(.*?)\]", line)
        if match is None:
            continue
        code = [int(byte, 16) for byte in match[2].split(",")]
        word = code[0] | code[1] << 8 | code[2] << 16 | code[3] << 24
        if f"{word:032b}".startswith(bits) and word & first == first:
            yield match[1]


def data_registers(instruction: Instruction) -> int:
    """VGPRs that hold the data of a load or store."""
    opcode = instruction.opcode
    if opcode.is_load or opcode.space is MemorySpace.BUFFER or "addtid" in opcode.name:
        return len(registers(instruction.operands[0]))
    data = instruction.operands[1:3] if opcode.parts == 2 else instruction.operands[1:2]
    return sum(len(registers(operand)) for operand in data)


@pytest.mark.llvm
@pytest.mark.parametrize("arch", FAMILIES)
def test_classes_follow_encodings(arch: str, llvm_mc: str) -> None:
    """The class of every mnemonic that a family can hold is one that the family belongs to."""
    count = 0
    for family in FAMILIES[arch]:
        for text in listed(llvm_mc, arch, family):
            opcode = lookup(text.split()[0], arch)
            assert opcode.known, text
            if family[0] == "110110" and opcode.cls is C.GDS:
                continue  # the same encoding with the GDS bit
            assert opcode.cls in family[3], text
            count += 1
    assert count > 250


@pytest.mark.llvm
@pytest.mark.parametrize("arch", FAMILIES)
def test_widths_follow_registers(arch: str, llvm_mc: str) -> None:
    """Bytes for each lane are those of the data registers; 8 and 16 bits take a whole register."""
    count = 0
    for family in FAMILIES[arch]:
        for text in listed(llvm_mc, arch, family):
            instruction = Instruction(0, 1, text, "", lookup(text.split()[0], arch), None)
            opcode = instruction.opcode
            if (
                opcode.bytes_per_lane is None
                or not (opcode.is_load or opcode.is_store)
                or opcode.space is MemorySpace.SCALAR
            ):
                continue
            if (
                instruction.to_lds
                or "tfe" in instruction.modifiers
                or "direct" in opcode.name
                or "param" in opcode.name
            ):
                continue
            assert data_registers(instruction) == max(1, opcode.bytes_per_lane // 4), text
            count += 1
    assert count >= 40
