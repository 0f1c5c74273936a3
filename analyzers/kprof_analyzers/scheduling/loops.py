"""Analyse the loops of a program: the hot loop, its contents, and software pipelining."""

import re
from collections import Counter
from functools import lru_cache

from kprof.analysis import KernelFacts
from kprof.inputs.amdgcn import AssemblyKernel, Instruction, InstructionClass, Loop
from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.memory.dataflow import flow_of, is_load

_VALU, _MATRIX, _SALU = InstructionClass.VALU, InstructionClass.MATRIX, InstructionClass.SALU

# Matches v_mfma_f32_32x32x8_f16, v_mfma_f32_32x32x8f16 (gfx908, gfx90a), v_wmma_f32_16x16x16_bf16, v_smfmac_...
_MATRIX_SHAPE = re.compile(r"_(\d+x\d+x\d+)_?(.*)$")


def hot_loop(program: AssemblyKernel) -> Loop:
    """Return the loop where the kernel spends its time, as far as the code alone shows it.

    Innermost loops take precedence, then loops with the most matrix instructions, then those with the most memory
    instructions. Of equal loops the first is chosen, because the later one is usually a remainder. Trip counts are
    unknown here.

    Raises:
        ValueError: if the program has no loop.
    """
    parents = {loop.parent for loop in program.loops}

    def weight(loop: Loop) -> tuple[bool, int, int, int]:
        classes = Counter(program.instructions[i].opcode.cls for i in loop.instructions)
        memory = classes[InstructionClass.VMEM] + classes[InstructionClass.LDS]
        innermost = loop.index not in parents
        return innermost, classes[InstructionClass.MATRIX], memory, -loop.index

    return max(program.loops, key=weight)


def own_instructions(program: AssemblyKernel, loop: Loop) -> list[Instruction]:
    """Return the instructions of a loop that are not in its inner loops."""
    inner = {i for other in program.loops if other.parent == loop.index for i in other.instructions}
    return [program.instructions[i] for i in loop.instructions if i not in inner]


def matrix_shape(name: str) -> str | None:
    """Return the shape in a matrix instruction's name: ``32x32x8 f16`` for ``v_mfma_f32_32x32x8_f16``, or ``None``."""
    match = _MATRIX_SHAPE.search(name)
    return f"{match[1]} {match[2]}".strip() if match else None


def is_scratch(instruction: Instruction) -> bool:
    """Return whether an instruction accesses scratch memory: register spills or private arrays."""
    return instruction.opcode.cls is InstructionClass.SCRATCH


def spills_in(program: AssemblyKernel, loop: Loop) -> bool:
    """Return whether a loop has loads or stores of scratch memory."""
    return any(is_scratch(program.instructions[i]) for i in loop.instructions)


@lru_cache(maxsize=4)
def beside_arithmetic(program: AssemblyKernel) -> tuple[Instruction, ...]:
    """Return all instructions except arithmetic, in order: memory accesses, waits, barriers, branches and others."""
    return tuple(
        [
            i
            for i in program.instructions
            if (cls := i.opcode.cls) is not _VALU and cls is not _SALU and cls is not _MATRIX
        ]
    )


def products_of_loops(module: Module) -> dict[int, list[Operation]]:
    """Return the matrix products of each loop, without those of inner loops."""
    found: dict[int, list[Operation]] = {}
    for dot in module.named("tt.dot", "tt.dot_scaled"):
        if dot.loop is not None:
            found.setdefault(dot.loop, []).append(dot)
    return found


def has_product(facts: KernelFacts) -> bool:
    """Return whether a loop has a matrix product."""
    return facts.ttgir is not None and bool(products_of_loops(facts.ttgir))


def has_unstaged_product(facts: KernelFacts) -> bool:
    """Return whether a loop with a single product was compiled with one stage, so that tiles are not loaded ahead."""
    stages = facts.metadata.get("num_stages")
    if facts.ttgir is None or not isinstance(stages, int) or stages > 1:
        return False
    found = products_of_loops(facts.ttgir)
    return any(len(dots) == 1 and loads_in(loop, dots[0]) for loop, dots in found.items())


def is_chained(dots: list[Operation]) -> bool:
    """Return whether an operand of one product depends on another product's result in the same iteration."""
    indexes = {dot.index for dot in dots}
    flow = flow_of(dots[0].module)
    return any(
        op.index in indexes - {dot.index}
        for dot in dots
        for value in flow.inputs(dot)[:2]
        for op in flow.back(value, carried=False)
    )


def loads_in(loop: int, dot: Operation) -> bool:
    """Return whether a product's tiles are loaded from memory in the same iteration of the loop that uses them."""
    flow = flow_of(dot.module)
    return any(
        is_load(op) and op.loop == loop for value in flow.inputs(dot)[:2] for op in flow.back(value, carried=False)
    )
