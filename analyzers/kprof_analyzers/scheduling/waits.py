"""Which memory instruction each wait of a loop waits for, and how far behind it the wait stands.

Each counter is a queue: a memory instruction joins it, and a wait for ``n`` takes instructions from the front until
``n`` are left. The loop's body is gone through twice, so that loads which a pipelined loop issues in one iteration and
waits for in the next are found.
"""

from collections import deque
from collections.abc import Sequence
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
        instructions: instructions issued between the two, loop turns included.
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
    queues: dict[str, deque[_Issued]] = {}
    cycles: int | None = 0
    instructions = matrix = 0
    found: list[Wait] = []
    costs: dict[str, int | None] = {}
    for turn in (0, 1):
        for instruction in body:
            opcode = instruction.opcode
            waits = instruction.waits if opcode.cls is _WAIT else {}
            for counter, count in waits.items():
                queue = queues.setdefault(counter, deque())
                last: _Issued | None = None
                while len(queue) > count:
                    last = queue.popleft()
                if turn:
                    now = _Issued(None, instructions, cycles, matrix)
                    found.append(_wait(instruction, counter, count, last, now))
            if opcode.name not in costs:
                costs[opcode.name] = issue_cycles(instruction, arch)
            instructions += 1
            cost = costs[opcode.name]
            cycles = None if cycles is None or cost is None else cycles + cost
            matrix += opcode.cls is _MATRIX
            counters = instruction.counters
            if counters:
                issued = _Issued(instruction, instructions, cycles, matrix)
                for counter in counters:
                    queues.setdefault(counter, deque()).append(issued)
    return found


class _Issued(NamedTuple):
    """An instruction, and what had been issued when it was done with."""

    instruction: Instruction | None
    instructions: int
    cycles: int | None
    matrix: int


def _wait(instruction: Instruction, counter: str, count: int, last: _Issued | None, now: _Issued) -> Wait:
    if last is None:
        return Wait(instruction, counter, count, None, 0, 0, 0)
    return Wait(
        instruction,
        counter,
        count,
        last.instruction,
        now.instructions - last.instructions,
        None if now.cycles is None or last.cycles is None else now.cycles - last.cycles,
        now.matrix - last.matrix,
    )
