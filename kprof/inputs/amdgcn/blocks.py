"""The control flow of a kernel: basic blocks and natural loops."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """A basic block: ``instructions[start:end]`` of its kernel.

    Attributes:
        index: position in :attr:`AssemblyKernel.blocks`.
        label: first label at its start, ``None`` for a block entered only by falling through.
        start: first instruction.
        end: one past the last instruction.
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
        blocks: indexes of all blocks, those of inner loops included, ascending.
        latches: blocks that branch back to the header.
        depth: 1 for an outermost loop.
        parent: index of the enclosing loop, ``None`` for an outermost one.
        instructions: indexes of all instructions, those of inner loops included, ascending.
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
    """Control flow of one kernel: blocks, immediate dominators, loops, and edges that make no natural loop.

    Attributes:
        blocks: basic blocks in program order.
        dominators: immediate dominator of each block; ``None`` for the entry and for unreachable blocks.
        loops: natural loops, outer before inner, in program order of their headers.
        irreducible: edges (from block, to block) that go back without their target dominating their source.
        indirect: blocks that end in a jump whose target could not be determined.
    """

    blocks: tuple[Block, ...]
    dominators: tuple[int | None, ...]
    loops: tuple[Loop, ...]
    irreducible: tuple[tuple[int, int], ...]
    indirect: tuple[int, ...]
