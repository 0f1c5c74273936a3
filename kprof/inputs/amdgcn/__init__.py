"""AMDGCN assembly: text from Triton, clang or llvm-objdump to instructions, loops, resources and source lines."""

from kprof.inputs.amdgcn.model import (
    Assembly,
    Block,
    Effects,
    Flow,
    Frame,
    Instruction,
    InstructionClass,
    Kernel,
    Kind,
    Loop,
    MemorySpace,
    Opcode,
    Registers,
)

__all__ = [
    "Assembly",
    "Block",
    "Effects",
    "Flow",
    "Frame",
    "Instruction",
    "InstructionClass",
    "Kernel",
    "Kind",
    "Loop",
    "MemorySpace",
    "Opcode",
    "Registers",
]
