"""Find the longest path through a program, as nested loops and straight-line stretches.

The path with the most instructions is followed, so branches that skip work (at edges of the problem, or for empty
masks) count as not taken. The slow path of a library function is skipped, too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kprof.inputs.amdgcn import AssemblyKernel, Loop
from kprof_analyzers.model.slow_ways import slow_blocks

# Weight of an inner loop when the lengths of paths are compared: it counts like this number of iterations.
_LOOP_WEIGHT = 16


@dataclass(frozen=True)
class LoopNode:
    """A loop on the longest path through a program.

    Attributes:
        loop: the natural loop.
        body: instructions and inner loops on the longest path through one iteration.
    """

    loop: Loop
    body: tuple["Node", ...]


@dataclass(frozen=True)
class BranchNode(LoopNode):
    """A branch in an outer loop that only some iterations take.

    It is modelled as a loop whose number of iterations is the share of outer iterations that take the branch.
    """


Node: TypeAlias = range | LoopNode
"""Instructions in order (a range of their positions), or a loop."""


def outline(program: AssemblyKernel) -> tuple[Node, ...]:
    """Return the longest path from a program's entry to its end; empty for a program without instructions."""
    if not program.blocks:
        return ()
    members = frozenset(b.index for b in program.blocks)
    return _region(program, members, 0, None, slow_blocks(program))


def loops_of(nodes: Iterable[Node]) -> list[LoopNode]:
    """Return all loops of an outline, outer before inner."""
    found: list[LoopNode] = []
    for node in nodes:
        if isinstance(node, LoopNode):
            found.append(node)
            found += loops_of(node.body)
    return found


def span_of(node: LoopNode) -> range:
    """Return the range from the first to the last instruction that is in the loop but in no inner loop."""
    own = [part for part in node.body if isinstance(part, range)]
    own += [span_of(part) for part in node.body if isinstance(part, BranchNode)]
    parts = [part for part in own if part]
    return range(min(part.start for part in parts), max(part.stop for part in parts)) if parts else range(1)


def _region(
    program: AssemblyKernel, members: frozenset[int], entry: int, around: Loop | None, slow: frozenset[int]
) -> tuple[Node, ...]:
    """Return the longest path through the blocks of a loop, or of the whole program; an inner loop is one step.

    The blocks in ``slow`` have a negative weight, so any path around them is preferred.
    """
    parent = around.index if around is not None else None
    inner = [loop for loop in program.loops if loop.parent == parent and loop.header_block in members]
    owner = {block: loop for loop in inner for block in loop.blocks}
    start = owner[entry].header_block if entry in owner else entry
    following: dict[int, list[int]] = {}
    order = _order(program, members, owner, start, following)
    best: dict[int, tuple[int, int | None]] = {start: (_weight(program, start, owner, slow), None)}
    for node in order:
        for successor in following[node]:
            weight = best[node][0] + _weight(program, successor, owner, slow)
            if successor not in best or weight > best[successor][0]:
                best[successor] = (weight, node)
    ends = _ends(program, members, owner, around, order)
    last: int | None = max(ends, key=lambda n: best[n][0], default=start)
    way: list[int] = []
    while last is not None:
        way.append(last)
        last = best[last][1]
    return _nodes(program, way[::-1], owner, slow)


def _order(
    program: AssemblyKernel,
    members: frozenset[int],
    owner: dict[int, Loop],
    start: int,
    following: dict[int, list[int]],
) -> list[int]:
    """Return the steps (blocks and inner loops) in topological order, ignoring back edges.

    Also fill ``following`` with the remaining edges.
    """
    done: list[int] = []
    state = {start: 1}
    stack = [(start, iter(_successors(program, start, members, owner)))]
    following[start] = []
    while stack:
        node, rest = stack[-1]
        for successor in rest:
            if state.get(successor) == 1:
                continue
            following[node].append(successor)
            if successor not in state:
                state[successor] = 1
                following[successor] = []
                stack.append((successor, iter(_successors(program, successor, members, owner))))
                break
        else:
            state[node] = 2
            done.append(node)
            stack.pop()
    return done[::-1]


def _successors(program: AssemblyKernel, node: int, members: frozenset[int], owner: dict[int, Loop]) -> list[int]:
    """Return the steps that may follow a step: blocks, or headers of inner loops."""
    loop = owner.get(node)
    blocks = loop.blocks if loop is not None else (node,)
    found: list[int] = []
    for block in blocks:
        for successor in program.blocks[block].successors:
            if successor not in members or (loop is not None and successor in loop.blocks):
                continue
            target = owner[successor].header_block if successor in owner else successor
            if target not in found:
                found.append(target)
    return found


def _weight(program: AssemblyKernel, node: int, owner: dict[int, Loop], slow: frozenset[int]) -> int:
    loop = owner.get(node)
    if loop is not None:
        return _LOOP_WEIGHT * len(loop.instructions)
    block = program.blocks[node]
    return block.start - block.end if node in slow else block.end - block.start


def _ends(
    program: AssemblyKernel, members: frozenset[int], owner: dict[int, Loop], around: Loop | None, order: Sequence[int]
) -> list[int]:
    if around is not None:
        latches = {owner[b].header_block if b in owner else b for b in around.latches}
        return [n for n in order if n in latches]
    finished = [n for n in order if not _successors(program, n, members, owner)]
    return finished or list(order)


def _nodes(
    program: AssemblyKernel, way: Sequence[int], owner: dict[int, Loop], slow: frozenset[int]
) -> tuple[Node, ...]:
    nodes: list[Node] = []
    for step in way:
        loop = owner.get(step)
        if loop is not None:
            nodes.append(LoopNode(loop, _region(program, frozenset(loop.blocks), loop.header_block, loop, slow)))
            continue
        block = program.blocks[step]
        last = nodes[-1] if nodes else None
        if isinstance(last, range) and last.stop == block.start:
            nodes[-1] = range(last.start, block.end)
        else:
            nodes.append(range(block.start, block.end))
    return tuple(nodes)
