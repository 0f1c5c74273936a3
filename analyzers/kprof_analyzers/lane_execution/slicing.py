"""Find the instructions and branches that decide how often a kernel's loops iterate."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kprof.inputs.amdgcn import AssemblyKernel, Instruction, InstructionClass
from kprof.inputs.amdgcn.flow import Block, Loop, dominators

CONDITIONS: Mapping[str, tuple[tuple[str, ...], bool]] = {
    "s_cbranch_scc0": (("scc",), False),
    "s_cbranch_scc1": (("scc",), True),
    "s_cbranch_vccz": (("vcc_lo", "vcc_hi"), False),
    "s_cbranch_vccnz": (("vcc_lo", "vcc_hi"), True),
    "s_cbranch_execz": (("exec_lo", "exec_hi"), False),
    "s_cbranch_execnz": (("exec_lo", "exec_hi"), True),
}
"""Registers that each conditional branch tests, and whether it jumps if they are not zero."""
_MOST_BLOCKS = 250_000
"""Maximum number of blocks on the paths of all branches together, about 0.25 s of search; usual kernels have 10,000."""
_EXEC = frozenset({"exec_lo", "exec_hi"})
_NOTHING: Mapping[int, frozenset[str]] = {}


@dataclass(frozen=True)
class LoopSlice:
    """Instructions and branches of a kernel that the iterations of its loops depend on.

    Attributes:
        instructions: positions of instructions whose results are used.
        branches: blocks whose final branch affects the counts; after any other block, both paths give the same counts.
        first: registers whose values at the kernel's first instruction are used.
        between: blocks on both paths of a conditional branch up to the block where the paths meet, by the branch's
            block. Branches that end a loop are not included.
        meetings: block where both paths of a conditional branch meet, by the branch's block; -1 if they do not meet.
    """

    instructions: frozenset[int]
    branches: frozenset[int]
    first: frozenset[str]
    between: Mapping[int, frozenset[int]]
    meetings: Mapping[int, int]


def slice_of(program: AssemblyKernel, used: Mapping[int, frozenset[str]] = _NOTHING) -> LoopSlice | None:
    """Return the instructions and branches that loops' iterations depend on; ``None`` if the program is too large.

    Args:
        program: the kernel.
        used: registers whose values are needed as well, by the position of the instruction that reads them.
    """
    blocks = program.blocks
    branching = [b for b in blocks if len(b.successors) == 2 and _last(program, b).opcode.name in CONDITIONS]
    meetings = _meetings(blocks)
    around = loops_around(program)
    ends = {b.index for b in branching if _ends_a_loop(around, b)}
    between: dict[int, frozenset[int]] = {}
    left = _MOST_BLOCKS
    for block in branching:
        if block.index not in ends:
            between[block.index] = _between(blocks, block, meetings[block.index])
            left -= len(between[block.index])
            if left < 0:
                return None
    headers = {loop.header_block for loop in program.loops}
    headers |= {block.index for block in blocks if any(at in used for at in range(block.start, block.end))}
    matter = ends | {n for n, inside in between.items() if not inside.isdisjoint(headers)}
    while True:
        needed, first = _needed(program, matter, used)
        more = {
            b.index
            for b in branching
            if b.index not in matter
            and any(i in needed for n in between[b.index] for i in range(blocks[n].start, blocks[n].end))
        }
        if not more:
            return LoopSlice(needed, frozenset(matter), first, between, {b.index: meetings[b.index] for b in branching})
        matter |= more


def _last(program: AssemblyKernel, block: Block) -> Instruction:
    return program.instructions[block.end - 1]


def loops_around(program: AssemblyKernel) -> dict[int, list[Loop]]:
    """Return the loops that contain each block, innermost first; blocks outside of loops are missing."""
    found: dict[int, list[Loop]] = {}
    for loop in program.loops:
        for block in loop.blocks:
            found.setdefault(block, []).insert(0, loop)
    return found


def _ends_a_loop(around: Mapping[int, Sequence[Loop]], block: Block) -> bool:
    """Return whether a block's branch leaves a loop or jumps back to the loop's start."""
    return any(leaves(loop, block) for loop in around.get(block.index, ()))


def leaves(loop: Loop, block: Block) -> bool:
    """Return whether the branch at the end of a loop's block decides if the loop continues."""
    first, last = loop.blocks[0], loop.blocks[-1]
    # Most loops are a contiguous range of blocks, for which a range test replaces the search in a long list.
    inside = range(first, last + 1) if last - first + 1 == len(loop.blocks) else loop.blocks
    return loop.header_block in block.successors or any(one not in inside for one in block.successors)


def _needed(
    program: AssemblyKernel, matter: Iterable[int], used: Mapping[int, frozenset[str]]
) -> tuple[frozenset[int], frozenset[str]]:
    """Return the instructions that some branches depend on, and the registers that are read before they are written.

    A register is live where its value may reach one of the branches. An inactive lane keeps its VGPRs, so a write to a
    VGPR does not end the life of the old value.
    """
    tested = {n: frozenset(CONDITIONS[_last(program, program.blocks[n]).opcode.name][0]) for n in matter}
    live: dict[int, frozenset[str]] = {}
    needed: set[int] = set()
    changed = True
    while changed:
        changed = False
        for block in reversed(program.blocks):
            alive = {name for one in block.successors for name in live.get(one, ())}
            alive |= tested.get(block.index, frozenset())
            for at in range(block.end - 1, block.start - 1, -1):
                instruction = program.instructions[at]
                writes = instruction.effects.writes
                if instruction.opcode.cls is not InstructionClass.BRANCH and not writes.isdisjoint(alive):
                    needed.add(at)
                    alive -= {name for name in writes if not name.startswith("v") or name.startswith("vcc")}
                    alive |= instruction.effects.reads
                    if instruction.opcode.cls is InstructionClass.VALU:
                        alive |= _EXEC
                if at in used:
                    alive |= used[at] | _EXEC
            if frozenset(alive) != live.get(block.index):
                live[block.index], changed = frozenset(alive), True
    return frozenset(needed), live.get(0, frozenset())


def _between(blocks: Sequence[Block], block: Block, meet: int) -> frozenset[int]:
    seen: set[int] = set()
    left = [one for one in block.successors if one != meet]
    while left:
        one = left.pop()
        if one not in seen and one != block.index:
            seen.add(one)
            left += [after for after in blocks[one].successors if after != meet]
    return frozenset(seen)


def _meetings(blocks: Sequence[Block]) -> list[int]:
    """Return, for each block, the nearest block that lies on all paths to the end; -1 if there is none.

    These are the immediate post-dominators: the dominators of the reversed graph, with one entry before all ends.
    """
    ends = tuple(block.index + 1 for block in blocks if not block.successors)
    turned = [Block(0, None, 0, 0, ends, ())]
    for block in blocks:
        after = tuple(one + 1 for one in block.successors) or (0,)
        before = tuple(one + 1 for one in block.predecessors)
        turned.append(Block(block.index + 1, None, 0, 0, before, after))
    found, _ = dominators(turned)
    return [-1 if one is None else one - 1 for one in found[1:]]
