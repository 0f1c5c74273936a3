"""Which memory instruction each wait of a loop waits for, and how far behind it the wait stands.

Each counter is a queue: a memory instruction joins it, and a wait for ``n`` takes instructions from the front until
``n`` are left. The loop's body is gone through until as much is outstanding at its end as at its start: a pipelined
loop waits for loads that it issued one iteration before, or several.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import Instruction, InstructionClass, Kernel, Loop
from kprof_analyzers.scheduling.loops import own_instructions

_WAIT, _MATRIX = InstructionClass.WAIT, InstructionClass.MATRIX


@dataclass(frozen=True)
class Wait:
    """One wait of a loop, in the steady state.

    Attributes:
        instruction: the wait.
        counter: ``vmcnt``, ``lgkmcnt``, ``loadcnt``, ...
        count: instructions that may remain outstanding.
        waits_for: the youngest memory instruction that must have finished; ``None`` when nothing was outstanding.
        instructions: instructions issued between the two, over several iterations where it takes them.
        cycles: issue cycles between the two: what is there to hide the latency behind; ``None`` where it is not known
            how the architecture issues.
        matrix: matrix instructions between the two.
    """

    instruction: Instruction
    counter: str
    count: int
    waits_for: Instruction | None
    instructions: int
    cycles: int | None
    matrix: int


def issue_cycles(instruction: Instruction, arch: Architecture) -> int | None:
    """Clocks until the same wavefront can issue its next instruction, at best; ``None`` where that is not known."""
    if instruction.opcode.cls is _MATRIX:
        known = arch.matrix_instructions.get(instruction.opcode.name)
        if known is not None:
            return known.cycles
    return arch.issue.cycles if arch.issue is not None else None


_KNOWN: "WeakKeyDictionary[Kernel, dict[int, tuple[Architecture, Sequence[Wait]]]]" = WeakKeyDictionary()


def waits_of(program: Kernel, loop: Loop, arch: Architecture) -> Sequence[Wait]:
    """Every wait of a loop, inner loops left out, in program order; worked out once for all who ask."""
    known = _KNOWN.setdefault(program, {})
    found = known.get(loop.index)
    if found is None or found[0] is not arch:
        found = known[loop.index] = (arch, follow(own_instructions(program, loop), arch))
    return found[1]


def follow(body: Sequence[Instruction], arch: Architecture) -> list[Wait]:
    """The waits of a body that is repeated, in the steady state."""
    clock = _Clock(arch)
    queues: dict[str, deque[_Issued]] = {}
    for instruction in body:
        queues.update((counter, deque()) for counter in _waits(instruction))
    while True:
        outstanding = [len(queue) for queue in queues.values()]
        found = [wait for instruction in body for wait in _step(instruction, queues, clock)]
        # A wait leaves no more than its count, and each iteration starts with at least as much as the one before.
        if outstanding == [len(queue) for queue in queues.values()]:
            return found


def _waits(instruction: Instruction) -> Mapping[str, int]:
    return instruction.waits if instruction.opcode.cls is _WAIT else {}


def _step(instruction: Instruction, queues: "dict[str, deque[_Issued]]", clock: "_Clock") -> list[Wait]:
    """Let one instruction take from the queues and join them."""
    found = []
    for counter, count in _waits(instruction).items():
        queue = queues[counter]
        last: _Issued | None = None
        while len(queue) > count:
            last = queue.popleft()
        found.append(_wait(instruction, counter, count, last, clock.now(instruction)))
    clock.issue(instruction)
    for counter in instruction.counters:
        if counter in queues:
            queues[counter].append(clock.now(instruction))
    return found


class _Issued(NamedTuple):
    """An instruction, and what had been issued at its side of it: before a wait, after a memory instruction."""

    instruction: Instruction
    instructions: int
    cycles: int | None
    matrix: int


class _Clock:
    """What has been issued so far."""

    def __init__(self, arch: Architecture) -> None:
        self._arch = arch
        self._costs: dict[str, int | None] = {}
        self._instructions = self._matrix = 0
        self._cycles: int | None = 0

    def issue(self, instruction: Instruction) -> None:
        opcode = instruction.opcode
        if opcode.name not in self._costs:
            self._costs[opcode.name] = issue_cycles(instruction, self._arch)
        cost = self._costs[opcode.name]
        self._instructions += 1
        self._cycles = None if self._cycles is None or cost is None else self._cycles + cost
        self._matrix += opcode.cls is _MATRIX

    def now(self, instruction: Instruction) -> _Issued:
        return _Issued(instruction, self._instructions, self._cycles, self._matrix)


def _wait(instruction: Instruction, counter: str, count: int, last: _Issued | None, now: _Issued) -> Wait:
    if last is None:
        return Wait(instruction, counter, count, None, instructions=0, cycles=0, matrix=0)
    return Wait(
        instruction,
        counter,
        count,
        last.instruction,
        now.instructions - last.instructions,
        None if now.cycles is None or last.cycles is None else now.cycles - last.cycles,
        now.matrix - last.matrix,
    )
