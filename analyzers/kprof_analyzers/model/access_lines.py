"""Match the loads and stores of the TTGIR to loads and stores of the assembly by their source line.

Instructions of the assembly are matched to operations of the TTGIR by source line only. Facts about an operation
therefore apply to all loads, or all stores, of its line.
"""

from collections.abc import Iterator, Mapping

from kprof.inputs.amdgcn import AssemblyKernel, InstructionClass
from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.memory.dataflow import GLOBAL_STORES, is_load
from kprof_analyzers.scheduling.loops import beside_arithmetic
from kprof_analyzers.source_lines import line_of

AccessLine = tuple[bool, tuple[str, int]]
"""Key of an access: whether it is a store, and its source line (file and line number)."""


def accesses_of(module: Module) -> Iterator[tuple[Operation, AccessLine]]:
    """Yield the loads and stores of tensors in global memory that have a source line."""
    for op in module.operations:
        store = op.name in GLOBAL_STORES
        if (is_load(op) or store) and (place := line_of(op)) is not None:
            yield op, (store, place)


def at_instructions(program: AssemblyKernel, known: Mapping[AccessLine, float]) -> dict[int, float]:
    """Map the position of each load and store instruction to the value known for its source line.

    Instructions whose line has no known value are omitted.
    """
    found: dict[int, float] = {}
    for i in beside_arithmetic(program) if known else ():
        if i.opcode.cls is InstructionClass.VMEM and (i.opcode.is_load or i.opcode.is_store):
            place = line_of(i)
            if place is not None and (figure := known.get((i.opcode.is_store, place))) is not None:
                found[i.index] = figure
    return found
