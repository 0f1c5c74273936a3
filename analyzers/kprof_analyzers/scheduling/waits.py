"""Which memory instruction each wait of a loop waits for, and how far behind it the wait stands.

Each counter is a queue: a memory instruction joins it, and a wait for ``n`` takes instructions from the front until
``n`` are left. The loop's body is gone through twice, so that loads which a pipelined loop issues in one iteration and
waits for in the next are found.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import Instruction, InstructionClass, Kernel, Loop
from kprof_analyzers.scheduling.loops import own_instructions

# Clocks until a SIMD can issue the next instruction of the same wavefront. CDNA: an instruction of 64 lanes takes four
# passes through 16 lanes (rocprofiler-compute, pipeline descriptions). RDNA: one a clock.
_ISSUE = {"CDNA": 4, "RDNA": 1, "GFX12": 1}


@dataclass(frozen=True)
class Wait:
    """One wait of a loop, in the steady state.

    Attributes:
        instruction: the wait.
        counter: ``vmcnt``, ``lgkmcnt``, ``loadcnt``, ...
        count: instructions that may remain outstanding.
        waits_for: the youngest memory instruction that must have finished; ``None`` when nothing was outstanding.
        instructions: instructions issued between the two, loop turns included.
        cycles: issue cycles between the two: what is there to hide the latency behind.
        matrix: matrix instructions between the two.
    """

    instruction: Instruction
    counter: str
    count: int
    waits_for: Instruction | None
    instructions: int
    cycles: int
    matrix: int


def issue_cycles(instruction: Instruction, arch: Architecture) -> int:
    """Clocks until the same wavefront can issue its next instruction, at best."""
    if instruction.opcode.cls is InstructionClass.MATRIX:
        known = arch.matrix_instructions.get(instruction.opcode.name)
        if known is not None:
            return known.cycles
    return next((value for name, value in _ISSUE.items() if arch.family.upper().startswith(name)), 4)


def waits_of(program: Kernel, loop: Loop, arch: Architecture) -> list[Wait]:
    """Every wait of a loop, inner loops left out, in program order."""
    return follow(own_instructions(program, loop), arch)


def follow(body: Sequence[Instruction], arch: Architecture) -> list[Wait]:
    """The waits of a body that is repeated, in the steady state."""
    queues: dict[str, deque[_Issued]] = {}
    now = _Issued(None, 0, 0, 0)
    found: list[Wait] = []
    for turn in (0, 1):
        for instruction in body:
            waits = instruction.waits if instruction.opcode.cls is InstructionClass.WAIT else {}
            for counter, count in waits.items():
                queue = queues.setdefault(counter, deque())
                last: _Issued | None = None
                while len(queue) > count:
                    last = queue.popleft()
                if turn:
                    found.append(_wait(instruction, counter, count, last, now))
            is_matrix = instruction.opcode.cls is InstructionClass.MATRIX
            now = _Issued(
                instruction,
                now.instructions + 1,
                now.cycles + issue_cycles(instruction, arch),
                now.matrix + is_matrix,
            )
            for counter in instruction.counters:
                queues.setdefault(counter, deque()).append(now)
    return found


@dataclass(frozen=True)
class _Issued:
    """An instruction, and what had been issued when it was done with."""

    instruction: Instruction | None
    instructions: int
    cycles: int
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
        now.cycles - last.cycles,
        now.matrix - last.matrix,
    )
