"""Find rare branches: branches in outer loops that only some iterations take, with their frequency and their code."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kprof.inputs.amdgcn import AssemblyKernel, Loop
from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.model.entries import Branch, branches_in, over_each, taken
from kprof_analyzers.model.outline import BranchNode, LoopNode, Node
from kprof_analyzers.model.scalars import Evaluator

Place = tuple[str, int]


def taken_shares(evaluator: Evaluator) -> dict[Branch, float]:
    """Return the share of iterations that take each branch, for branches directly in loops that contain other loops.

    Branches that every iteration takes and branches with unknown conditions are left out.
    """
    module = evaluator.module
    around = {op.loop for op in module.operations if op.is_loop and op.loop is not None}
    found: dict[Branch, float] = {}
    for number in sorted(around):
        loop = module.operations[number]
        branches = branches_in(module, number)
        if not branches:
            continue
        evaluator.trips(loop)
        counts = evaluator.passed(loop) if loop.name == "scf.while" else _counted(evaluator, loop, branches)
        found |= {branch: took / of for branch, (took, of) in counts.items() if branch in branches and took < of}
    return found


def _counted(
    evaluator: Evaluator, loop: Operation, branches: Mapping[Branch, Operation]
) -> dict[Branch, tuple[int, int]]:
    """Return the number of iterations of a ``scf.for`` that take each branch, and the number of all its iterations.

    Both are summed over all workgroups.
    """
    found: dict[Branch, tuple[int, int]] = {}
    for live in over_each(evaluator, loop):
        for branch, op in branches.items():
            here = taken(evaluator, op, loop.index)
            took, of = found.get(branch, (0, 0))
            found[branch] = took + sum(map(operator.and_, live, here)), of + sum(live)
    return found


def of_operations(module: Module, shares: Mapping[Branch, float]) -> dict[int, float]:
    """Return the share of iterations that execute each operation inside rare branches, by operation index."""
    found: dict[int, float] = {}
    for op in module.operations:
        around, inner = [], op
        while inner.parent is not None and module.operations[inner.parent].name == "scf.if":
            around.append((inner.parent, inner.region))
            inner = module.operations[inner.parent]
        if rare := [shares[branch] for branch in around if branch in shares]:
            found[op.index] = min(rare)
    return found


def with_branches(
    program: AssemblyKernel, module: Module, nodes: Sequence[Node], shares: Mapping[int, float]
) -> tuple[tuple[Node, ...], dict[int, float]]:
    """Return the outline with a node for each stretch of code in a rare branch.

    Also return the share of iterations that execute the stretch, by the node's loop number.

    Args:
        program: the assembly.
        module: its TTGIR.
        nodes: the outline.
        shares: share of iterations that execute an operation, by operation index.
    """
    places = _places(module, shares)
    if not places:
        return tuple(nodes), {}
    numbers: dict[int, float] = {}

    def inside(body: Sequence[Node]) -> tuple[Node, ...]:
        made: list[Node] = []
        outer = any(isinstance(part, LoopNode) for part in body)
        for part in body:
            if isinstance(part, LoopNode):
                made.append(replace(part, body=inside(part.body)))
            elif outer:
                made += _parts(program, part, places, numbers)
            else:
                made.append(part)
        return tuple(made)

    found = [replace(n, body=inside(n.body)) if isinstance(n, LoopNode) else n for n in nodes]
    return (tuple(found) if numbers else tuple(nodes)), numbers


def _places(module: Module, shares: Mapping[int, float]) -> dict[Place, float]:
    """Return source lines in rare branches, with the share of iterations that execute all operations of the line."""
    found: dict[Place, set[float | None]] = {}
    for op in module.operations:
        frame = op.user_frame
        if frame is not None:
            found.setdefault((frame.file.rpartition("/")[2], frame.line), set()).add(shares.get(op.index))
    alike = {place: values.pop() for place, values in found.items() if len(values) == 1}
    return {place: share for place, share in alike.items() if share is not None}


def _parts(
    program: AssemblyKernel, stretch: range, places: Mapping[Place, float], numbers: dict[int, float]
) -> list[Node]:
    """Split a stretch of instructions at the boundaries of blocks that belong to rare branches."""
    made: list[Node] = []
    blocks = [b for b in program.blocks if b.start >= stretch.start and b.end <= stretch.stop]
    for block in blocks:
        share = _share(program, range(block.start, block.end), places)
        last = made[-1] if made else None
        if share is None:
            made.append(range(block.start, block.end))
            if isinstance(last, range) and last.stop == block.start:
                made[-2:] = [range(last.start, block.end)]
            continue
        number = len(program.loops) + len(numbers)
        numbers[number] = share
        part = range(block.start, block.end)
        made.append(BranchNode(Loop(number, "", block.index, (block.index,), (), 0, None, tuple(part)), (part,)))
    return made or [stretch]


def _share(program: AssemblyKernel, block: range, places: Mapping[Place, float]) -> float | None:
    """Return the share of iterations that execute a block, if most of its instructions are on lines of known share."""
    told = [
        places.get((frame.file.rpartition("/")[2], frame.line))
        for i in block
        if (frame := program.instructions[i].user_frame) is not None
    ]
    rare = [share for share in told if share is not None]
    return min(rare) if len(rare) > len(told) / 2 else None
