"""AMDGCN assembly: text from Triton, clang or llvm-objdump to instructions, loops, resources and source lines."""

from kprof.inputs.amdgcn.blocks import Block, Flow, Loop
from kprof.inputs.amdgcn.effects import Effects
from kprof.inputs.amdgcn.instruction import Frame, Instruction
from kprof.inputs.amdgcn.isa import Generation, InstructionClass, Kind, MemorySpace, Opcode, generation_of
from kprof.inputs.amdgcn.model import Assembly, Kernel, Registers
from kprof.inputs.amdgcn.opcodes import lookup
from kprof.inputs.amdgcn.parser import parse, read_file, split_target

__all__ = [
    "Assembly",
    "Block",
    "Effects",
    "Flow",
    "Frame",
    "Generation",
    "Instruction",
    "InstructionClass",
    "Kernel",
    "Kind",
    "Loop",
    "MemorySpace",
    "Opcode",
    "Registers",
    "generation_of",
    "lookup",
    "parse",
    "read_file",
    "split_target",
]
