"""Count the work of a wavefront from a kernel's report, to compare kernels whose time is unknown."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import UNSET

from kprof.document import KernelReport, LoopFacts
from kprof.inputs.amdgcn import InstructionClass, MemorySpace, lookup

_MEMORY = frozenset({MemorySpace.GLOBAL, MemorySpace.BUFFER, MemorySpace.FLAT})


def executed_instructions(report: KernelReport) -> float | None:
    """Return the number of instructions that a wavefront executes.

    Loops count with their known or assumed iterations. ``None`` if the kernel was not modelled or its instructions are
    not in the report.
    """
    return _executed(report, lambda _: 1)


def executed_bytes(report: KernelReport) -> float | None:
    """Return the bytes that a lane moves to and from global memory, like :func:`executed_instructions`."""

    def moved(mnemonic: str) -> int:
        opcode = lookup(mnemonic, report.arch)
        return (opcode.bytes_per_lane or 0) if opcode.space in _MEMORY else 0

    return _executed(report, moved)


def executed_matrix(report: KernelReport) -> float | None:
    """Return the number of matrix instructions that a wavefront executes, like :func:`executed_instructions`."""
    return _executed(report, lambda mnemonic: lookup(mnemonic, report.arch).cls is InstructionClass.MATRIX)


def _executed(report: KernelReport, weight: Callable[[str], int]) -> float | None:
    if report.model is UNSET or not report.instructions:
        return None
    times = {loop.header: loop.trips * loop.entries for loop in report.model.loops}
    if any(loop.header not in times for loop in report.loops):
        return None

    def counted(instructions: Mapping[str, int]) -> int:
        return sum(count * weight(mnemonic) for mnemonic, count in instructions.items())

    executed = float(counted(report.instructions))
    for loop, outer in zip(report.loops, _outer(report.loops), strict=True):
        around = 1.0 if outer is None else times[outer.header]
        # The kernel's total already contains the loop's code once per execution of the surrounding code.
        executed += counted(loop.instructions) * (times[loop.header] - around)
    return executed


def _outer(loops: Sequence[LoopFacts]) -> list[LoopFacts | None]:
    """Return the enclosing loop of each loop; None for outermost loops. ``loops`` lists outer before inner loops."""
    around: list[LoopFacts] = []
    found: list[LoopFacts | None] = []
    for loop in loops:
        del around[loop.depth - 1 :]
        found.append(around[-1] if around else None)
        around.append(loop)
    return found
