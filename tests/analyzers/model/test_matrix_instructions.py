"""Matrix instructions as they stand in programs: encoding suffixes, and formats of ``f8f6f4`` operands."""

import pytest

from kprof.hardware.machine import load
from kprof_analyzers.matrix_instructions import matrix_instruction, operand_format
from kprof_analyzers.scheduling.waits import issue_cycles

F8F6F4 = "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[8:15], v[16:23], v[0:3]"


def looped(kernel, text, product="MI355X"):
    """Facts of a loop around one instruction, and the instruction."""
    lines = [
        "s_mov_b32 s0, 0",
        ".LBB0_1:",
        text,
        "s_add_i32 s0, s0, 1",
        "s_cmp_lt_i32 s0, 64",
        "s_cbranch_scc1 .LBB0_1",
    ]
    facts = kernel(lines, product=product)
    return facts, next(i for i in facts.program.instructions if "mfma" in i.opcode.name)


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
def test_the_wider_operand_decides(kernel, modifiers, wide, cycles):
    """AMD's matrix instruction calculator: 32 cycles where one operand is of 8 bits, else 16."""
    arch = load("gfx950")
    _, instruction = looped(kernel, F8F6F4 + modifiers)
    assert operand_format(instruction) == wide
    found = matrix_instruction(arch, instruction)
    assert (found.cycles, found.flops) == (cycles, 2 * 16 * 16 * 128)
    assert issue_cycles(instruction, arch) == cycles


@pytest.mark.parametrize(
    ("product", "text", "flops"),
    [
        ("MI355X", F8F6F4, 2 * 16 * 16 * 128),
        ("MI355X", F8F6F4 + " cbsz:4 blgp:4", 2 * 16 * 16 * 128),
        ("MI300X", "v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[16:17], v[18:19], v[0:15]", 2 * 32 * 32 * 16),
    ],
)
def test_a_loop_s_operations_count_every_format(kernel, product, text, flops):
    facts, _ = looped(kernel, text, product)
    assert [loop.flops for loop in facts.loops] == [flops]


def test_others_are_none(kernel):
    facts, _ = looped(kernel, F8F6F4)
    scalar = [i for i in facts.program.instructions if i.opcode.name.startswith("s_")]
    assert scalar
    assert {matrix_instruction(facts.arch, i) for i in scalar} == {None}
