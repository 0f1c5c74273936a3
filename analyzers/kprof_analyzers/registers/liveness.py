"""Compute the registers whose values are still needed at each instruction.

The analysis is a backward data-flow analysis over the control-flow graph. Sets of registers are Python integers with
one bit per register, so union and difference are single operations.

A vector write under a partial EXEC mask keeps the old value in the inactive lanes, so the old value may still be
needed. If the compiler branches around such code, the path that skips it keeps the old value alive in this analysis.
Otherwise the count can be slightly too low. The count is never above the compiler's allocation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kprof.inputs.amdgcn import AssemblyKernel, Block, Instruction

_FILES = ("vgpr", "agpr", "sgpr")
_PREFIX = {"v": "vgpr", "a": "agpr", "s": "sgpr"}


@dataclass(frozen=True)
class Peak:
    """Instruction at which the most registers of one register file (``vgpr``, ``agpr`` or ``sgpr``) are live.

    Attributes:
        count: number of live registers including the instruction's results.
        index: index of the instruction.
        registers: names of the live registers in ascending order.
    """

    count: int
    index: int
    registers: tuple[str, ...]


class Liveness:
    """Live registers of a kernel.

    Attributes:
        before: for each instruction the set of registers that are live before it, as a bit mask.
        writes: for each instruction the set of registers that it writes, as a bit mask.
        pressure: number of registers needed at each instruction, by register file (``vgpr``, ``agpr``, ``sgpr``):
            the registers that are live after it and its own results.
    """

    def __init__(self, program: AssemblyKernel) -> None:
        """Analyse a kernel, in time linear in its length for reducible control flow."""
        self._bits: dict[str, int] = {}
        self._groups: dict[tuple[str, ...], int] = {}
        effects = [self._masks(i) for i in program.instructions]
        self.writes = [writes for _, writes in effects]
        live_out = _solve(program.blocks, effects)
        self.before = [reads for reads, _ in effects]
        needed = self.writes.copy()
        for block in program.blocks:
            live = live_out[block.index]
            for index in range(block.end - 1, block.start - 1, -1):
                reads, writes = effects[index]
                needed[index] = live | writes
                live = (live & ~writes) | reads
                self.before[index] = live
        self._needed = needed

    def _masks(self, instruction: Instruction) -> tuple[int, int]:
        effects = instruction.effects
        reads = writes = 0
        # Operands recur, such as the accumulator of a loop's matrix instructions, so their bit masks are cached.
        groups = self._groups
        for group in effects.read_groups:
            mask = groups.get(group)
            reads |= self._mask(group) if mask is None else mask
        for group in effects.write_groups:
            mask = groups.get(group)
            writes |= self._mask(group) if mask is None else mask
        return reads, writes

    def _mask(self, names: tuple[str, ...]) -> int:
        mask = 0
        for name in names:
            bit = self._bits.get(name)
            if bit is None:
                bit = self._bits[name] = len(self._bits)
            mask |= 1 << bit
        self._groups[names] = mask
        return mask

    @cached_property
    def _file_masks(self) -> dict[str, int]:
        masks = dict.fromkeys(_FILES, 0)
        for name, bit in self._bits.items():
            file = _PREFIX.get(name[0])
            if file is not None and name[1:].isdigit():
                masks[file] |= 1 << bit
        return masks

    @cached_property
    def pressure(self) -> dict[str, list[int]]:
        """Number of registers of each file that are needed at each instruction."""
        return {
            file: [(needed & mask).bit_count() for needed in self._needed] for file, mask in self._file_masks.items()
        }

    def peak(self, file: str, within: Sequence[int] | None = None) -> Peak | None:
        """Return the instruction at which the most registers of ``file`` are needed; ``None`` if the file is unused.

        Args:
            file: ``vgpr``, ``agpr`` or ``sgpr``.
            within: indexes of the instructions to consider; ``None`` considers all.
        """
        counts = self.pressure[file]
        indexes = range(len(counts)) if within is None else within
        index = max(indexes, key=counts.__getitem__, default=None)
        if index is None or counts[index] == 0:
            return None
        return Peak(counts[index], index, self.names_at(index, file))

    def needed(self, index: int, file: str) -> int:
        """Return the registers of ``file`` that are needed at an instruction, as a bit mask."""
        return self._needed[index] & self._file_masks[file]

    def names_at(self, index: int, file: str) -> tuple[str, ...]:
        """Return the names of the registers of ``file`` that are needed at an instruction, in ascending order."""
        mask = self.needed(index, file)
        names = [name for name, bit in self._bits.items() if mask >> bit & 1]
        return tuple(sorted(names, key=lambda name: int(name[1:])))


def _solve(blocks: Sequence[Block], effects: Sequence[tuple[int, int]]) -> list[int]:
    """Return the registers live at the end of each block, by fixed-point iteration in reverse program order."""
    used, defined = [], []
    for block in blocks:
        reads = writes = 0
        for index in range(block.start, block.end):
            own_reads, own_writes = effects[index]
            reads |= own_reads & ~writes
            writes |= own_writes
        used.append(reads)
        defined.append(writes)
    live_in = [0] * len(blocks)
    live_out = live_in.copy()
    pending = set(range(len(blocks)))
    while pending:
        index = max(pending)
        pending.discard(index)
        out = 0
        for successor in blocks[index].successors:
            out |= live_in[successor]
        live_out[index] = out
        new = used[index] | (out & ~defined[index])
        if new != live_in[index]:
            live_in[index] = new
            pending.update(blocks[index].predecessors)
    return live_out
