"""Instructions that are no arithmetic: a small part of a program, which many questions are about."""

from functools import lru_cache

from kprof.inputs.amdgcn import AssemblyKernel, Instruction, InstructionClass

_VALU, _MATRIX, _SALU = InstructionClass.VALU, InstructionClass.MATRIX, InstructionClass.SALU


@lru_cache(maxsize=4)
def beside_arithmetic(program: AssemblyKernel) -> tuple[Instruction, ...]:
    """Memory accesses, waits, barriers, branches and the like, in order. Kept: a program does not change."""
    return tuple(
        [
            i
            for i in program.instructions
            if (cls := i.opcode.cls) is not _VALU and cls is not _SALU and cls is not _MATRIX
        ]
    )
