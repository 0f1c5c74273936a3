"""Execute the integer instructions that a kernel's branches depend on, for one lane, and count each loop's iterations.

Only instructions that a branch may depend on are executed. A branch whose condition is not known is treated as
follows: if it may leave a loop, the loop's iterations are unknown and the loop is left; otherwise execution
continues without the jump, and the registers written on either path are unknown where both paths meet.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kprof.inputs.amdgcn import AssemblyKernel, Instruction, InstructionClass
from kprof.inputs.amdgcn.flow import Block, Loop
from kprof.inputs.amdgcn.instruction import number
from kprof.inputs.amdgcn.operands import registers
from kprof_analyzers.lane_execution.addresses import address_of
from kprof_analyzers.lane_execution.arithmetic import (
    EXEC,
    MEMORY,
    NOTHING,
    Number,
    State,
    Step,
    Unknown,
    read,
    step_of,
    write,
)
from kprof_analyzers.lane_execution.entry import LaunchMemory
from kprof_analyzers.lane_execution.slicing import CONDITIONS, LoopSlice, leaves, loops_around

_SIZES = {
    "dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16, "dwordx8": 32, "dwordx16": 64,
    "b32": 4, "b64": 8, "b96": 12, "b128": 16, "b256": 32, "b512": 64, "u8": 1, "u16": 2,
}  # fmt: skip
_NO_STEPS: Mapping[int, Step] = {}


@dataclass
class LaneRun:
    """Result of executing a kernel for one lane.

    Attributes:
        visits: number of times that each block was executed.
        unknown: names of the unknown inputs that a loop's iterations depend on, by loop number.
        steps: number of executed blocks and instructions.
        state: registers at the end.
    """

    visits: dict[int, int] = field(default_factory=dict)
    unknown: dict[int, Unknown] = field(default_factory=dict)
    steps: int = 0
    state: State = field(default_factory=dict)


class _Exit(NamedTuple):
    """Exit of a loop: its number, registers that it writes, header blocks of its inner loops, and the next block."""

    loop: int
    lost: frozenset[str]
    headers: tuple[int, ...]
    following: int


class _Join(NamedTuple):
    """Block where a branch's two paths meet, registers that the paths write, and loops that only the jump reaches."""

    meet: int
    lost: frozenset[str]
    passed_by: tuple[int, ...]


class LaneProgram:
    """A kernel prepared for execution: the instructions of each block that a branch may depend on.

    Args:
        program: the kernel.
        part: the instructions and branches that decide the loops' iterations.
        wave: lanes of a wavefront, 32 or 64.
        memory: memory that the launch determines.
        recorded: steps to execute before instructions, by position; they do not change registers.
    """

    def __init__(
        self,
        program: AssemblyKernel,
        part: LoopSlice,
        wave: int,
        memory: LaunchMemory,
        recorded: Mapping[int, Step] = _NO_STEPS,
    ) -> None:
        """Prepare the instructions that branches depend on."""
        self.program, self._wave, self._memory, self._slice = program, wave, memory, part
        self.inputs = self._slice.first
        used = [
            [program.instructions[n] for n in range(block.start, block.end) if n in self._slice.instructions]
            for block in program.blocks
        ]
        self._steps = [
            [
                step
                for n in range(block.start, block.end)
                for step in (
                    *([recorded[n]] if n in recorded else []),
                    *([self._step(program.instructions[n])] if n in self._slice.instructions else []),
                )
            ]
            for block in program.blocks
        ]
        self._written = [frozenset(name for i in instructions for name in i.effects.writes) for instructions in used]
        self._loops = loops_around(program)
        self._headers = {loop.header_block: loop.index for loop in program.loops}
        self._exits: dict[int, _Exit | None] = {}
        self._joins: dict[int, _Join] = {}

    def _step(self, instruction: Instruction) -> Step:
        if instruction.opcode.cls is InstructionClass.SMEM and instruction.opcode.is_load:
            loaded = self._load(instruction)
            if loaded is not None:
                return loaded
        if instruction.opcode.cls is InstructionClass.VMEM and (loaded := self._vector_load(instruction)) is not None:
            return loaded
        return step_of(instruction, self._wave)

    def _load(self, instruction: Instruction) -> Step | None:
        """Return the step of a scalar load; ``None`` if its address is not a base with an offset."""
        size = _SIZES.get(instruction.opcode.name.rpartition("_")[2])
        operands = instruction.operands
        if size is None or len(operands) < 2 or not instruction.opcode.name.startswith("s_load"):
            return None
        names, base = registers(operands[0]), registers(operands[1])
        offsets = [number(text) for text in (*operands[2:], instruction.modifiers.get("offset", "0"))]
        variable = [registers(text) for text, known in zip(operands[2:], offsets, strict=False) if known is None]
        fixed = sum(offset for offset in offsets if offset is not None)
        memory = self._memory

        def step(state: State) -> None:
            address: Number = read(state, base)
            for register in variable:
                more = read(state, register)
                known = isinstance(address, int) and isinstance(more, int)
                address = address + more if known else NOTHING  # type: ignore[operator]
            if not isinstance(address, int):
                write(state, names, address | {MEMORY})
                return
            for position, name in enumerate(names):
                state[name] = memory.load(address + fixed + 4 * position, min(4, size))

        return step

    def _vector_load(self, instruction: Instruction) -> Step | None:
        """Return the step of a load of one 32-bit number per lane; ``None`` for other memory instructions."""
        opcode = instruction.opcode
        address = address_of(instruction) if opcode.is_load and opcode.name.endswith("_dword") else None
        if address is None or instruction.to_lds:
            return None
        names, memory, mask = registers(instruction.operands[0]), self._memory, EXEC[: self._wave // 32]

        def step(state: State) -> None:
            if read(state, mask) == 0:
                return
            where = address(state)
            write(state, names, memory.load(where, 4) if isinstance(where, int) else where | {MEMORY})

        return step

    def run(self, first: State, most: int) -> LaneRun:
        """Execute from the first block to the end, or to ``most`` steps.

        Args:
            first: registers at the first instruction.
            most: maximum number of executed blocks and instructions.
        """
        state = dict(first)
        found = LaneRun(state=state)
        joins: dict[int, dict[str, Unknown]] = {}
        blocks, at = self.program.blocks, 0 if self.program.blocks else None
        while at is not None:
            state.update(joins.pop(at, {}))
            found.visits[at] = found.visits.get(at, 0) + 1
            steps = self._steps[at]
            found.steps += 1 + len(steps)
            if found.steps > most:
                found.unknown |= {loop.index: NOTHING for loop in self._loops.get(at, ())}
                found.unknown |= dict.fromkeys(self._never_visited(found, self.program.loops), NOTHING)
                break
            for step in steps:
                step(state)
            at = self._next(blocks[at], state, found, joins)
        return found

    def _never_visited(self, found: LaneRun, loops: Sequence[Loop]) -> list[int]:
        return [loop.index for loop in loops if loop.header_block not in found.visits]

    def _next(self, block: Block, state: State, found: LaneRun, joins: dict[int, dict[str, Unknown]]) -> int | None:
        """Return the next block, or ``None`` at the end; an unknown branch condition makes registers unknown."""
        if not block.successors:
            if block.index in self.program.flow.indirect:
                found.unknown |= dict.fromkeys(self._never_visited(found, self.program.loops), NOTHING)
            return None
        last = self.program.instructions[block.end - 1]
        if len(block.successors) == 1 or (last.opcode.name in CONDITIONS and block.index not in self._slice.branches):
            return block.successors[0]
        names, jumps_if_set = CONDITIONS.get(last.opcode.name, ((), True))
        value = read(state, names[: self._wave // 32]) if names else NOTHING
        through, jump = block.successors
        if isinstance(value, int):
            return jump if (value != 0) is jumps_if_set else through
        return self._undecided(block, value, state, found, joins)

    def _undecided(
        self, block: Block, why: Unknown, state: State, found: LaneRun, joins: dict[int, dict[str, Unknown]]
    ) -> int:
        """Return the block to continue with after a branch with an unknown condition.

        Also mark the registers that depend on the path, and the iterations of affected loops, as unknown.
        """
        if block.index not in self._exits:
            self._exits[block.index] = self._exit_of(block)
        way_out = self._exits[block.index]
        if way_out is not None:
            found.unknown[way_out.loop] = found.unknown.get(way_out.loop, NOTHING) | why
            state.update(dict.fromkeys(way_out.lost, why))
            skipped = (header for header in way_out.headers if header not in found.visits)
            found.unknown |= {self._headers[header]: why for header in skipped}
            return way_out.following
        if block.index not in self._joins:
            self._joins[block.index] = self._join_of(block)
        join = self._joins[block.index]
        joins.setdefault(join.meet, {}).update(dict.fromkeys(join.lost, why))
        found.unknown |= dict.fromkeys(join.passed_by, why)
        return block.successors[0]

    def _exit_of(self, block: Block) -> "_Exit | None":
        """Return how a block's branch leaves the innermost loop that it can end; ``None`` if it ends no loop."""
        through, jump = block.successors
        loop = next((loop for loop in self._loops.get(block.index, ()) if leaves(loop, block)), None)
        if loop is None:
            return None
        inside = set(loop.blocks)
        outside = [one for one in block.successors if one not in inside]
        following = outside[0] if outside else through if jump == loop.header_block else jump
        return _Exit(
            loop.index,
            self._registers_written_in(loop.blocks),
            tuple(h for h in loop.blocks if h in self._headers),
            following,
        )

    def _join_of(self, block: Block) -> "_Join":
        between, meet = self._slice.between.get(block.index, frozenset()), self._slice.meetings.get(block.index, -1)
        headers = [one for one in between if one in self._headers]
        passed_by = tuple(
            self._headers[header] for header in headers if not self._reaches(block.successors[0], header, meet)
        )
        return _Join(meet, self._registers_written_in(between), passed_by)

    def _registers_written_in(self, blocks: Iterable[int]) -> frozenset[str]:
        return frozenset[str]().union(*(self._written[one] for one in blocks))

    def _reaches(self, start: int, goal: int, stop: int) -> bool:
        seen, left, blocks = {stop}, [start], self.program.blocks
        while left:
            one = left.pop()
            if one == goal:
                return True
            if one not in seen:
                seen.add(one)
                left += blocks[one].successors
        return False
