"""Matrix instructions as they stand in programs: encoding suffixes, and formats of ``f8f6f4`` operands."""

import pytest

from kprof.hardware.machine import load
from kprof.inputs import amdgcn
from kprof_analyzers.matrix_instructions import matrix_instruction, operand_format
from kprof_analyzers.scheduling.facts import loop_facts
from kprof_analyzers.scheduling.waits import issue_cycles

TEXT = """\t.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
\t.text
\t.globl\tk
\t.type\tk,@function
k:
\ts_mov_b32 s0, 0
.LBB0_1:
\t{instruction}
\ts_add_i32 s0, s0, 1
\ts_cmp_lt_i32 s0, 64
\ts_cbranch_scc1 .LBB0_1
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr 128
\t\t.amdhsa_next_free_sgpr 16
\t.end_amdhsa_kernel
\t.text
.Lfunc_end0:
\t.size\tk, .Lfunc_end0-k
"""
F8F6F4 = "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[8:15], v[16:23], v[0:3]"


def parsed(arch, text):
    program = amdgcn.parse(TEXT.format(arch=arch, instruction=text)).kernels[0]
    return program, next(i for i in program.instructions if "mfma" in i.opcode.name or "wmma" in i.opcode.name)


@pytest.mark.parametrize(
    ("modifiers", "wide", "cycles"),
    [
        ("", "fp8", 32),
        (" cbsz:1 blgp:1", "fp8", 32),
        (" cbsz:2 blgp:3", "fp6", 16),
        (" cbsz:4 blgp:4", "fp4", 16),
        (" cbsz:4", "fp8", 32),
    ],
)
def test_the_wider_operand_decides(modifiers, wide, cycles):
    """AMD's matrix instruction calculator: 32 cycles where one operand is of 8 bits, else 16."""
    arch = load("gfx950")
    _, instruction = parsed("gfx950", F8F6F4 + modifiers)
    assert operand_format(instruction) == wide
    found = matrix_instruction(arch, instruction)
    assert (found.cycles, found.flops) == (cycles, 2 * 16 * 16 * 128)
    assert issue_cycles(instruction, arch) == cycles


@pytest.mark.parametrize(
    ("arch", "text", "flops"),
    [
        ("gfx950", F8F6F4, 2 * 16 * 16 * 128),
        ("gfx950", F8F6F4 + " cbsz:4 blgp:4", 2 * 16 * 16 * 128),
        ("gfx942", "v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[16:17], v[18:19], v[0:15]", 2 * 32 * 32 * 16),
    ],
)
def test_a_loop_s_operations_count_every_format(arch, text, flops):
    program, _ = parsed(arch, text)
    (loop,) = loop_facts(program, 64, load(arch))
    assert loop.flops == flops


def test_others_are_none():
    program, _ = parsed("gfx950", F8F6F4)
    assert {matrix_instruction(load("gfx950"), i) for i in program.instructions if i.opcode.name.startswith("s_")} == {
        None
    }
