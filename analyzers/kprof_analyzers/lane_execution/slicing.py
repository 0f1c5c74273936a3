"""Find the instructions and branches that decide how often a kernel's loops iterate."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kprof.inputs.amdgcn import AssemblyKernel, Instruction, InstructionClass
from kprof.inputs.amdgcn.flow import Block

CONDITIONS: Mapping[str, tuple[tuple[str, ...], bool]] = {
    "s_cbranch_scc0": (("scc",), False),
    "s_cbranch_scc1": (("scc",), True),
    "s_cbranch_vccz": (("vcc_lo", "vcc_hi"), False),
    "s_cbranch_vccnz": (("vcc_lo", "vcc_hi"), True),
    "s_cbranch_execz": (("exec_lo", "exec_hi"), False),
    "s_cbranch_execnz": (("exec_lo", "exec_hi"), True),
}
"""Registers that a conditional branch tests, and whether it jumps if they are not zero."""
_EXEC = frozenset({"exec_lo", "exec_hi"})


@dataclass(frozen=True)
class LoopSlice:
    """The part of a kernel that its loops' iterations depend on.

    Attributes:
        instructions: positions of instructions whose results are used.
        branches: blocks whose last branch matters; after any other block, either way gives the same counts.
        first: registers at the first instruction whose values are used.
        between: by block with a conditional branch, the blocks on either way up to where the ways meet.
        meetings: by block with a conditional branch, the block where both ways meet; -1 if they do not.
    """

    instructions: frozenset[int]
    branches: frozenset[int]
    first: frozenset[str]
    between: Mapping[int, frozenset[int]]
    meetings: Mapping[int, int]


def slice_of(program: AssemblyKernel) -> LoopSlice:
    """Return the instructions and branches that the iterations of a kernel's loops depend on."""
    blocks = program.blocks
    branching = [b for b in blocks if len(b.successors) == 2 and _last(program, b).opcode.name in CONDITIONS]
    meetings = _meetings(blocks)
    between = {b.index: _between(blocks, b, meetings[b.index]) for b in branching}
    headers = {loop.header_block for loop in program.loops}
    matter = {b.index for b in branching if between[b.index] & headers or _ends_a_loop(program, b)}
    while True:
        needed, first = _needed(program, matter)
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


def _ends_a_loop(program: AssemblyKernel, block: Block) -> bool:
    """Whether a branch leaves a loop or jumps back to its start."""
    for loop in program.loops:
        if block.index in loop.blocks:
            outside = any(one not in loop.blocks for one in block.successors)
            if outside or loop.header_block in block.successors:
                return True
    return False


def _needed(program: AssemblyKernel, matter: Iterable[int]) -> tuple[frozenset[int], frozenset[str]]:
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
                if instruction.opcode.cls is InstructionClass.BRANCH or writes.isdisjoint(alive):
                    continue
                needed.add(at)
                alive -= {name for name in writes if not name.startswith("v") or name.startswith("vcc")}
                alive |= instruction.effects.reads
                if instruction.opcode.cls is InstructionClass.VALU:
                    alive |= _EXEC
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
    """Return, for each block, the nearest block that all ways to the end pass; -1 if there is none.

    These are the immediate post-dominators, from sets of post-dominators as bits of integers.
    """
    everything = (1 << len(blocks)) - 1
    after = [everything if block.successors else 1 << block.index for block in blocks]
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            if not block.successors:
                continue
            common = everything
            for one in block.successors:
                common &= after[one]
            common |= 1 << block.index
            if common != after[block.index]:
                after[block.index], changed = common, True
    found = []
    for block in blocks:
        others = [one for one in range(len(blocks)) if after[block.index] >> one & 1 and one != block.index]
        found.append(max(others, key=lambda one: after[one].bit_count(), default=-1))
    return found
