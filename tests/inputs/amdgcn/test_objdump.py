"""Disassembly text, and the same kernel read both ways."""

import subprocess
from pathlib import Path

import pytest

from kprof.inputs import amdgcn

ARTIFACTS = Path(__file__).parents[2] / "artifacts"
LISTING = """
/tmp/a.o:	file format elf64-amdgpu

Disassembly of section .text:

0000000000001900 <add>:
	s_load_dwordx2 s[0:1], s[0:1], 0x0                         // 000000001900: C0060000 00000000
	s_add_u32 s2, s2, 1                                        // 000000001908: 80028102
	s_cbranch_scc0 65534                                       // 00000000190C: BF84FFFE <add+0x8>
	s_endpgm                                                   // 000000001910: BF810000
"""


def test_listing() -> None:
    """Branches get labels, functions on a 256-byte boundary are kernels, line numbers stay."""
    assembly = amdgcn.parse(LISTING, arch="gfx942")
    assert assembly.source == "objdump"
    (kernel,) = assembly.kernels
    assert kernel.name == "add"
    assert [item.line for item in kernel.instructions] == [7, 8, 9, 10]
    assert [len(loop.instructions) for loop in kernel.loops] == [2]
    assert not assembly.truncated


def test_what_the_tool_could_not_decode_is_counted() -> None:
    """Words that llvm-objdump prints as data are unknown instructions, not nothing."""
    line = "\ts_endpgm "
    data = "\t.long 0xd7000221                                           // 000000001910: D7000221\n"
    assembly = amdgcn.parse(LISTING.replace(line, data + line), arch="gfx942")
    assert assembly.unknown == {"undecoded": 1}
    assert assembly.coverage == 0.8


@pytest.mark.llvm
@pytest.mark.parametrize(
    "name", ["gfx908/kernels.clang-19.s", "gfx90a/hip_kernels.clang-19.s", "gfx1100/kernels.clang-19.s"]
)
def test_text_and_disassembly_agree(name: str, llvm_mc: str, llvm_objdump: str, tmp_path: Path) -> None:
    """The same instructions, operands, waits and loops from the text and from the assembled object."""
    path = ARTIFACTS / name
    written = amdgcn.read_file(path)
    target = tmp_path / "a.o"
    command = [llvm_mc, "-triple=amdgcn-amd-amdhsa", f"-mcpu={written.arch}", "-filetype=obj", "-o", str(target)]
    # Aligned loops are padded with s_nop, which the text does not hold.
    unaligned = path.read_text().replace("\t.p2align\t6\n", "\n")
    subprocess.run(command, check=True, capture_output=True, input=unaligned, text=True)
    listing = subprocess.run(
        [llvm_objdump, "-d", "--triple=amdgcn-amd-amdhsa", f"--mcpu={written.arch}", str(target)],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    read = {kernel.name: kernel for kernel in amdgcn.parse(listing, arch=written.arch).kernels}
    for kernel in written.kernels:
        size = len(kernel.instructions)
        other = read[kernel.name]
        assert [i.opcode.name for i in other.instructions[:size]] == [i.opcode.name for i in kernel.instructions]
        assert [i.waits for i in other.instructions[:size]] == [i.waits for i in kernel.instructions]
        for mine, theirs in zip(kernel.instructions, other.instructions[:size], strict=True):
            assert theirs.effects.writes == mine.effects.writes
            # A newer tool prints which half of a register a 16-bit result goes to, and then the other half is kept.
            assert theirs.effects.reads - theirs.effects.writes <= mine.effects.reads <= theirs.effects.reads
        assert [loop.instructions for loop in other.loops] == [loop.instructions for loop in kernel.loops]
        assert all(i.opcode.name in {"s_nop", "s_code_end"} for i in other.instructions[size:])
