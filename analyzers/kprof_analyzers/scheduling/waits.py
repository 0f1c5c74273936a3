"""Find the memory instruction that each wait of a loop waits for, and the distance between both.

Each counter is a queue. A memory instruction joins it, and a wait for ``n`` removes instructions from the front until
``n`` remain. A pipelined loop waits for loads that it issued one or several iterations earlier. Therefore the loop's
body is repeated until the queues are equally long at its start and end.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import AssemblyKernel, Instruction, InstructionClass, Loop
from kprof_analyzers.matrix_instructions import matrix_instruction
from kprof_analyzers.scheduling.loops import own_instructions

_WAIT, _MATRIX = InstructionClass.WAIT, InstructionClass.MATRIX


@dataclass(frozen=True)
class Wait:
    """One wait of a loop, in the steady state.

    Attributes:
        instruction: the wait.
        counter: ``vmcnt``, ``lgkmcnt``, ``loadcnt``, ...
        count: number of memory instructions that may still be outstanding after the wait.
        waits_for: last memory instruction that must have finished; ``None`` if nothing was outstanding.
        instructions: number of instructions issued between ``waits_for`` and the wait, possibly over several
            iterations.
        cycles: issue cycles of these instructions, which can hide the latency; ``None`` if the architecture's issue
            rules are unknown.
        matrix: number of matrix instructions among these instructions.
    """

    instruction: Instruction
    counter: str
    count: int
    waits_for: Instruction | None
    instructions: int
    cycles: int | None
    matrix: int


def issue_cycles(instruction: Instruction, arch: Architecture) -> int | None:
    """Return the minimum cycles until the same wavefront can issue its next instruction; ``None`` if unknown."""
    if instruction.opcode.cls is _MATRIX:
        known = matrix_instruction(arch, instruction)
        if known is not None:
            return known.cycles
    return arch.issue.cycles if arch.issue is not None else None


_KNOWN: "WeakKeyDictionary[AssemblyKernel, dict[int, tuple[Architecture, Sequence[Wait]]]]" = WeakKeyDictionary()


def waits_of(program: AssemblyKernel, loop: Loop, arch: Architecture) -> Sequence[Wait]:
    """Return the waits of a loop in program order, without those of inner loops; the result is cached."""
    known = _KNOWN.setdefault(program, {})
    found = known.get(loop.index)
    if found is None or found[0] is not arch:
        found = known[loop.index] = (arch, follow(own_instructions(program, loop), arch))
    return found[1]


def follow(body: Sequence[Instruction], arch: Architecture) -> list[Wait]:
    """Return the waits of a repeated loop body in the steady state."""
    outstanding = _Outstanding(body, arch)
    while True:
        before = outstanding.lengths
        found = [wait for instruction in body for wait in outstanding.step(instruction)]
        # The repetition ends: queues never get shorter from one iteration to the next, and each wait limits its queue's
        # length.
        if before == outstanding.lengths:
            return found


class _Outstanding:
    """Instructions issued so far, and the indices of the unfinished instructions in each counter's queue."""

    def __init__(self, body: Sequence[Instruction], arch: Architecture) -> None:
        self._issued: list[Instruction] = []
        self._queues: dict[str, deque[int]] = {counter: deque() for i in body for counter in _waits(i)}
        self._costs = {i.opcode.name: issue_cycles(i, arch) for i in body}

    @property
    def lengths(self) -> list[int]:
        """Number of outstanding instructions of each counter."""
        return [len(queue) for queue in self._queues.values()]

    def step(self, instruction: Instruction) -> list[Wait]:
        """Process an instruction: a wait removes finished instructions from its queue, a memory access joins queues."""
        found = []
        for counter, count in _waits(instruction).items():
            queue = self._queues[counter]
            last: int | None = None
            while len(queue) > count:
                last = queue.popleft()
            found.append(self._wait(instruction, counter, count, last))
        for counter in instruction.counters:
            if counter in self._queues:
                self._queues[counter].append(len(self._issued))
        self._issued.append(instruction)
        return found

    def _wait(self, instruction: Instruction, counter: str, count: int, last: int | None) -> Wait:
        between = [] if last is None else self._issued[last + 1 :]
        costs = [self._costs[i.opcode.name] for i in between]
        return Wait(
            instruction,
            counter,
            count,
            None if last is None else self._issued[last],
            instructions=len(between),
            cycles=None if None in costs else sum(filter(None, costs)),
            matrix=sum(i.opcode.cls is _MATRIX for i in between),
        )


def _waits(instruction: Instruction) -> Mapping[str, int]:
    return instruction.waits if instruction.opcode.cls is _WAIT else {}
