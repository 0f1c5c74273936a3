"""The loops of a program: which one is hot, what is in them."""

import re
from collections import Counter

from kprof.inputs.amdgcn import AssemblyKernel, Instruction, InstructionClass, Loop

# v_mfma_f32_32x32x8_f16, v_mfma_f32_32x32x8f16 (gfx908, gfx90a), v_wmma_f32_16x16x16_bf16, v_smfmac_...
_MATRIX_SHAPE = re.compile(r"_(\d+x\d+x\d+)_?(.*)$")


def hot_loop(program: AssemblyKernel) -> Loop:
    """The loop where the kernel spends its time, as far as the code alone tells.

    Innermost loops come first; among them the one with the most matrix work, then the one with the most memory
    instructions, then the first: of two alike the later one is usually a remainder. Trip counts are not known here.

    Raises:
        ValueError: the program has no loop.
    """
    parents = {loop.parent for loop in program.loops}

    def weight(loop: Loop) -> tuple[bool, int, int, int]:
        classes = Counter(program.instructions[i].opcode.cls for i in loop.instructions)
        memory = classes[InstructionClass.VMEM] + classes[InstructionClass.LDS]
        innermost = loop.index not in parents
        return innermost, classes[InstructionClass.MATRIX], memory, -loop.index

    return max(program.loops, key=weight)


def own_instructions(program: AssemblyKernel, loop: Loop) -> list[Instruction]:
    """Instructions of a loop that are in none of its inner loops."""
    inner = {i for other in program.loops if other.parent == loop.index for i in other.instructions}
    return [program.instructions[i] for i in loop.instructions if i not in inner]


def matrix_shape(name: str) -> str | None:
    """``v_mfma_f32_32x32x8_f16`` to ``32x32x8 f16``; ``None`` when the name has no shape."""
    match = _MATRIX_SHAPE.search(name)
    return f"{match[1]} {match[2]}".strip() if match else None


def is_scratch(instruction: Instruction) -> bool:
    """Whether an instruction moves spilled registers or private arrays: scratch memory."""
    return instruction.opcode.cls is InstructionClass.SCRATCH


def spills_in(program: AssemblyKernel, loop: Loop) -> bool:
    """Whether a loop has scratch traffic."""
    return any(is_scratch(program.instructions[i]) for i in loop.instructions)
