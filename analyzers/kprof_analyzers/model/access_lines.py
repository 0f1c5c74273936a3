"""Assign the loads and stores of the TTGIR to those of the assembly by their source line.

The compiler's instructions are distinguished only by source line, so facts about the operations of a line apply to all
of its instructions.
"""

from collections.abc import Iterator, Mapping

from kprof.inputs.amdgcn import AssemblyKernel, InstructionClass
from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.memory.dataflow import GLOBAL_STORES, is_load
from kprof_analyzers.scheduling.loops import beside_arithmetic
from kprof_analyzers.source_lines import line_of

AccessLine = tuple[bool, tuple[str, int]]
"""Whether the access is a store, and its source line."""


def accesses_of(module: Module) -> Iterator[tuple[Operation, AccessLine]]:
    """Yield the loads and stores of tensors in global memory that have a source line."""
    for op in module.operations:
        store = op.name in GLOBAL_STORES
        if (is_load(op) or store) and (place := line_of(op)) is not None:
            yield op, (store, place)


def at_instructions(program: AssemblyKernel, known: Mapping[AccessLine, float]) -> dict[int, float]:
    """Return the known value of each load and store, by instruction position; unknown ones are omitted."""
    found: dict[int, float] = {}
    for i in beside_arithmetic(program) if known else ():
        if i.opcode.cls is InstructionClass.VMEM and (i.opcode.is_load or i.opcode.is_store):
            place = line_of(i)
            if place is not None and (figure := known.get((i.opcode.is_store, place))) is not None:
                found[i.index] = figure
    return found
