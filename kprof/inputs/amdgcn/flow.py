"""Compute a kernel's control flow: basic blocks, dominators and natural loops."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kprof.inputs.amdgcn.instruction import Instruction
from kprof.inputs.amdgcn.isa import InstructionClass, InstructionKind


@dataclass(frozen=True)
class Block:
    """A basic block: ``instructions[start:end]`` of its kernel.

    Attributes:
        index: position in :attr:`AssemblyKernel.blocks`.
        label: label at the block's start by which branches refer to it; ``None`` if the block has no label.
        start: index of the first instruction.
        end: index after the last instruction.
        successors: indexes of blocks that may follow.
        predecessors: indexes of blocks that may precede.
    """

    index: int
    label: str | None
    start: int
    end: int
    successors: tuple[int, ...]
    predecessors: tuple[int, ...]


@dataclass(frozen=True)
class Loop:
    """A natural loop.

    Attributes:
        index: position in :attr:`AssemblyKernel.loops`.
        header: label of the header block (``block 7`` when it has none).
        header_block: index of the header block.
        blocks: indexes of all blocks in ascending order, including those of inner loops.
        latches: blocks that branch back to the header.
        depth: 1 for an outermost loop.
        parent: index of the enclosing loop, ``None`` for an outermost one.
        instructions: indexes of all instructions in ascending order, including those of inner loops.
    """

    index: int
    header: str
    header_block: int
    blocks: tuple[int, ...]
    latches: tuple[int, ...]
    depth: int
    parent: int | None
    instructions: tuple[int, ...]


@dataclass(frozen=True)
class Flow:
    """Control flow of one kernel: blocks, immediate dominators, loops, and edges that form no natural loop.

    Attributes:
        blocks: basic blocks in program order.
        dominators: immediate dominator of each block; ``None`` for the entry and for unreachable blocks.
        loops: natural loops, outer before inner, in program order of their headers.
        irreducible: retreating edges (from block, to block) whose target does not dominate their source.
        indirect: blocks that end in a jump whose target could not be determined.
    """

    blocks: tuple[Block, ...]
    dominators: tuple[int | None, ...]
    loops: tuple[Loop, ...]
    irreducible: tuple[tuple[int, int], ...]
    indirect: tuple[int, ...]


_STOPS = {InstructionKind.JUMP, InstructionKind.INDIRECT, InstructionKind.END}
_LOCAL_LABEL = re.compile(r"\.L[\w$.]+")
_HARDLY_TARGETS = (".Ltmp", ".Lfunc_", ".Lpost_")
# Number of instructions before s_setpc to search for the jump's target. A far jump is s_getpc, s_add, s_addc, s_setpc,
# possibly interleaved with a few unrelated instructions.
_FAR_JUMP_REACH = 8


def _far_target(instructions: Sequence[Instruction], position: int, labels: Mapping[str, int]) -> str | None:
    """Return the label that a ``s_setpc_b64`` jumps to, if the address was computed just before the jump."""
    for instruction in reversed(instructions[max(0, position - _FAR_JUMP_REACH) : position]):
        if instruction.opcode.cls is InstructionClass.BRANCH:
            return None
        if instruction.opcode.name in {"s_add_u32", "s_add_co_u32", "s_add_nc_u64"}:
            for label in _LOCAL_LABEL.findall(instruction.text):
                if label in labels and not label.startswith(_HARDLY_TARGETS):
                    return str(label)
    return None


def _target(instructions: Sequence[Instruction], position: int, labels: Mapping[str, int]) -> str | None:
    instruction = instructions[position]
    if instruction.opcode.kind is InstructionKind.INDIRECT and instruction.opcode.name != "s_add_pc_i64":
        return _far_target(instructions, position, labels)
    label = instruction.target
    return label if label in labels else None


def _starts(
    instructions: Sequence[Instruction], labels: Mapping[str, int]
) -> tuple[list[int], dict[int, int], list[int]]:
    """Return the sorted block starts, the jump target by branch position, and the branches with an unknown target."""
    count = len(instructions)
    starts = {0}
    targets: dict[int, int] = {}
    unknown = []
    for position, instruction in enumerate(instructions):
        opcode = instruction.opcode
        if opcode.cls is not InstructionClass.BRANCH:
            continue
        starts.add(position + 1)
        if opcode.kind in {InstructionKind.END, InstructionKind.CALL}:
            continue
        label = _target(instructions, position, labels)
        if label is None:
            unknown.append(position)
        elif labels[label] < count:
            targets[position] = labels[label]
            starts.add(labels[label])
    if any(instructions[p].opcode.kind is InstructionKind.INDIRECT for p in unknown):
        # An indirect jump may go to any label, so every label has to begin a block.
        starts.update(at for name, at in labels.items() if not name.startswith(_HARDLY_TARGETS))
    return sorted(s for s in starts if s < count), targets, unknown


def analyze(instructions: Sequence[Instruction], labels: Mapping[str, int]) -> Flow:
    """Compute the control flow of one kernel.

    Args:
        instructions: the kernel's instructions, in program order.
        labels: index of the instruction that follows each label.

    Returns:
        Blocks with their edges, dominators and loops. A return (``s_setpc_b64`` of the caller's address) and any other
        jump through a register have no successors and are listed in :attr:`Flow.indirect`.
    """
    count = len(instructions)
    if not count:
        return Flow((), (), (), (), ())
    starts, targets, unknown = _starts(instructions, labels)
    block_at = {start: number for number, start in enumerate(starts)}
    ends = [*starts[1:], count]
    successors: list[tuple[int, ...]] = []
    for number, end in enumerate(ends):
        last = instructions[end - 1].opcode
        following: list[int] = []
        branch = last.cls is InstructionClass.BRANCH
        if not (branch and last.kind in _STOPS) and number + 1 < len(starts):
            following.append(number + 1)
        if end - 1 in targets and block_at[targets[end - 1]] not in following:
            following.append(block_at[targets[end - 1]])
        successors.append(tuple(following))
    predecessors: list[list[int]] = [[] for _ in starts]
    for number, following_blocks in enumerate(successors):
        for successor in following_blocks:
            predecessors[successor].append(number)
    names: dict[int, str] = {}
    for label, at in labels.items():
        # If several labels share an address, branches name the last one; the first may be the function's own name.
        if at in block_at and (at not in names or not label.startswith(_HARDLY_TARGETS)):
            names[at] = label
    blocks = tuple(
        Block(n, names.get(start), start, ends[n], successors[n], tuple(predecessors[n]))
        for n, start in enumerate(starts)
    )
    idom, retreating = dominators(blocks)
    loops, irreducible = natural_loops(blocks, idom, retreating)
    lost = set(unknown)
    indirect = tuple(number for number, end in enumerate(ends) if end - 1 in lost)
    return Flow(blocks, tuple(idom), loops, irreducible, indirect)


def _depth_first(blocks: Sequence[Block]) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the reachable blocks in reverse postorder, and the edges to a block that is still being visited."""
    order: list[int] = []
    retreating: list[tuple[int, int]] = []
    state = [0] * len(blocks)
    stack = [(0, iter(blocks[0].successors))]
    state[0] = 1
    while stack:
        block, rest = stack[-1]
        for successor in rest:
            if state[successor] == 0:
                state[successor] = 1
                stack.append((successor, iter(blocks[successor].successors)))
                break
            if state[successor] == 1:
                retreating.append((block, successor))
        else:
            state[block] = 2
            order.append(block)
            stack.pop()
    order.reverse()
    return order, retreating


def dominators(blocks: Sequence[Block]) -> tuple[list[int | None], list[tuple[int, int]]]:
    """Return the immediate dominator of each block, and the retreating edges.

    The algorithm iterates over the blocks in reverse postorder until nothing changes (Cooper, Harvey and Kennedy, "A
    Simple, Fast Dominance Algorithm", 2001). The dominator of the entry and of unreachable blocks is ``None``.
    """
    order, retreating = _depth_first(blocks)
    rank = {block: position for position, block in enumerate(order)}
    idom: dict[int, int] = {0: 0}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            best: int | None = None
            for predecessor in blocks[block].predecessors:
                if predecessor not in idom:
                    continue
                if best is None:
                    best = predecessor
                    continue
                left, right = predecessor, best
                while left != right:
                    while rank[left] > rank[right]:
                        left = idom[left]
                    while rank[right] > rank[left]:
                        right = idom[right]
                best = left
            if best is not None and idom.get(block) != best:
                idom[block] = best
                changed = True
    return [idom[n] if n and n in idom else None for n in range(len(blocks))], retreating


def _intervals(idom: Sequence[int | None]) -> list[tuple[int, int]]:
    """Return the interval between first and last visit of each block in a walk of the dominator tree.

    One block dominates another if its interval encloses the interval of the other.
    """
    children: list[list[int]] = [[] for _ in idom]
    for block, parent in enumerate(idom):
        if parent is not None:
            children[parent].append(block)
    intervals = [(-1, -1)] * len(idom)
    clock = 0
    stack = [(0, False)]
    while stack:
        block, done = stack.pop()
        if done:
            intervals[block] = (intervals[block][0], clock)
            continue
        clock += 1
        intervals[block] = (clock, clock)
        stack.append((block, True))
        stack.extend((child, False) for child in children[block])
    return intervals


def _body(blocks: Sequence[Block], header: int, latches: Sequence[int]) -> set[int]:
    members = {header}
    stack = list(latches)
    while stack:
        block = stack.pop()
        if block not in members:
            members.add(block)
            stack.extend(blocks[block].predecessors)
    return members


def natural_loops(
    blocks: Sequence[Block], idom: Sequence[int | None], retreating: Sequence[tuple[int, int]]
) -> tuple[tuple[Loop, ...], tuple[tuple[int, int], ...]]:
    """Return the natural loops, merged if they share a header, and the retreating edges that close no natural loop."""
    latches: dict[int, list[int]] = {}
    irreducible = []
    intervals = _intervals(idom)
    for source, target in retreating:
        if intervals[target][0] <= intervals[source][0] and intervals[source][1] <= intervals[target][1]:
            latches.setdefault(target, []).append(source)
        else:
            irreducible.append((source, target))
    reachable = {0} | {n for n, dominator in enumerate(idom) if dominator is not None}
    bodies = {header: _body(blocks, header, sources) & reachable for header, sources in latches.items()}
    # A loop lies inside another loop if its header does. Sorting by size puts outer loops first.
    order = sorted(bodies, key=lambda header: (-len(bodies[header]), header))
    parents: dict[int, int | None] = {}
    innermost: dict[int, int] = {}
    for header in order:
        parents[header] = innermost.get(header)
        innermost.update(dict.fromkeys(bodies[header], header))
    depths: dict[int, int] = {}
    for header in order:
        parent = parents[header]
        depths[header] = 1 if parent is None else depths[parent] + 1
    numbering = {header: n for n, header in enumerate(sorted(order, key=lambda h: (h, depths[h])))}
    loops = []
    for header, index in sorted(numbering.items(), key=lambda item: item[1]):
        members = tuple(sorted(bodies[header]))
        parent = parents[header]
        loops.append(
            Loop(
                index=index,
                header=blocks[header].label or f"block {header}",
                header_block=header,
                blocks=members,
                latches=tuple(sorted(latches[header])),
                depth=depths[header],
                parent=None if parent is None else numbering[parent],
                instructions=tuple(i for n in members for i in range(blocks[n].start, blocks[n].end)),
            )
        )
    return tuple(loops), tuple(irreducible)
