"""Parse AMDGCN assembly of Triton, clang or llvm-objdump into instructions, loops, resources and source lines."""

from kprof.inputs.amdgcn.effects import RegisterEffects
from kprof.inputs.amdgcn.flow import Block, Flow, Loop
from kprof.inputs.amdgcn.instruction import AssemblyFrame, Instruction
from kprof.inputs.amdgcn.isa import Generation, InstructionClass, InstructionKind, MemorySpace, Opcode, generation_of
from kprof.inputs.amdgcn.model import Assembly, AssemblyKernel, Registers
from kprof.inputs.amdgcn.opcodes import lookup
from kprof.inputs.amdgcn.parser import parse, read_file, split_target

__all__ = [
    "Assembly",
    "AssemblyFrame",
    "AssemblyKernel",
    "Block",
    "Flow",
    "Generation",
    "Instruction",
    "InstructionClass",
    "InstructionKind",
    "Loop",
    "MemorySpace",
    "Opcode",
    "RegisterEffects",
    "Registers",
    "generation_of",
    "lookup",
    "parse",
    "read_file",
    "split_target",
]
