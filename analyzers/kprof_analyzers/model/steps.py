"""Convert an outline to the list of operations that the simulator steps through."""

from collections.abc import Sequence

from kprof.inputs.amdgcn import AssemblyKernel, InstructionClass, InstructionKind
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.outline import LoopNode, Node
from kprof_analyzers.model.program import BARRIER, KIND, Code, Op
from kprof_analyzers.model.simulate import BEGIN, END, SPLIT

Steps = list[tuple[Op, int]]


def lay_out(
    nodes: Sequence[Node], code: Code, halves: dict[int, int], iterations: dict[int, int], effects: Effects
) -> Steps:
    """Return the operations in the order of execution, with marks at the start and end of loops.

    Args:
        nodes: the outline.
        code: the program's operations.
        halves: for each barrier that only one half of the wavefronts executes, its position and the half (0 or 1).
        iterations: iterations to simulate by loop number; loops with 0 iterations are left out.
        effects: effects that the model takes into account.
    """
    outside = [n for n in nodes if isinstance(n, range)] if any(isinstance(n, LoopNode) for n in nodes) else []
    steps: Steps = []
    for node in nodes:
        if effects.prologue or node not in outside:
            _add(steps, node, code, halves, iterations=iterations, effects=effects)
    return steps


def _add(
    steps: Steps, node: Node, code: Code, halves: dict[int, int], *, iterations: dict[int, int], effects: Effects
) -> None:
    if isinstance(node, LoopNode):
        number, first = node.loop.index, node.loop.instructions[0]
        count = iterations.get(number, 1)
        if not count:
            return
        steps.append(((BEGIN, float(number), (), 0.0, 0, 0), first))
        start = len(steps)
        for inner in node.body:
            _add(steps, inner, code, halves, iterations=iterations, effects=effects)
        steps.append(((END, float(number), start, float(count), 0, 0), first))
        return
    for position in node:
        op = code.ops[position]
        if op[KIND] != BARRIER or (effects.barriers and position not in halves):
            steps.append((op, position))
        elif effects.barriers and effects.ping_pong:
            steps.append(((SPLIT, float(halves[position]), (), 0.0, 0, 0), position))


def split_barriers(program: AssemblyKernel) -> dict[int, int]:
    """Map the position of each barrier that only one half of the wavefronts executes to the half: 0 or 1.

    In a ping-pong schedule the second half waits once more before the loop, and the first half once more after it.
    """
    found: dict[int, int] = {}
    for block in program.blocks:
        if block.end - block.start > 3:
            continue
        members = program.instructions[block.start : block.end]
        barriers = [i for i in members if i.opcode.cls is InstructionClass.BARRIER]
        if len(barriers) != 1 or len(block.successors) != 1:
            continue
        for number in block.predecessors:
            before = program.blocks[number]
            last = program.instructions[before.end - 1].opcode
            if last.kind is InstructionKind.CONDITIONAL and block.successors[0] in before.successors:
                found[barriers[0].index] = 1 - len(found) % 2
                break
    return found
