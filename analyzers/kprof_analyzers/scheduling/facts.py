"""What each loop of a program does in one iteration, counted in the instructions."""

from collections import Counter
from collections.abc import Iterable, Sequence

from kprof.document import LoopFacts, WaitDistance
from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import AssemblyKernel, Instruction, InstructionClass, InstructionKind, Loop, MemorySpace
from kprof_analyzers.matrix_instructions import matrix_instruction
from kprof_analyzers.scheduling.loops import hot_loop, is_scratch, matrix_shape
from kprof_analyzers.scheduling.waits import Wait, waits_of

_PATHS = {
    MemorySpace.GLOBAL: "global",
    MemorySpace.BUFFER: "global",
    MemorySpace.FLAT: "flat",
    MemorySpace.IMAGE: "image",
    MemorySpace.SCRATCH: "scratch",
    MemorySpace.LDS: "lds",
    MemorySpace.SCALAR: "scalar",
}


def loop_facts(program: AssemblyKernel, wavefront_size: int, arch: Architecture) -> list[LoopFacts]:
    """Facts of every natural loop, outer before inner, with the hot one marked.

    Counts are static: one iteration of the loop, with each inner loop counted once.

    Args:
        program: the kernel.
        wavefront_size: lanes of a wavefront; bytes per lane are multiplied by it.
        arch: for the operations of matrix instructions and issue cycles.
    """
    if not program.loops:
        return []
    hot = hot_loop(program)
    return [_facts(program, loop, wavefront_size, arch, is_hot=loop.index == hot.index) for loop in program.loops]


def _facts(program: AssemblyKernel, loop: Loop, wavefront_size: int, arch: Architecture, *, is_hot: bool) -> LoopFacts:
    members = [program.instructions[i] for i in loop.instructions]
    matrix = (matrix_shape(i.opcode.name) for i in members if i.opcode.cls is InstructionClass.MATRIX)
    return LoopFacts(
        header=loop.header,
        depth=loop.depth,
        lines=_lines(members),
        instructions=_ordered(i.opcode.name for i in members),
        classes=_ordered(i.opcode.cls.value for i in members),
        kinds=_ordered(i.opcode.kind.value for i in members if i.opcode.kind is not InstructionKind.PLAIN),
        widths=_widths(members),
        waits=_ordered(wait for i in members for wait in _waits(i)),
        bytes_per_wave=_bytes(members, wavefront_size),
        spill_accesses=sum(is_scratch(i) for i in members),
        innermost=all(other.parent != loop.index for other in program.loops),
        matrix=_ordered(shape for shape in matrix if shape),
        flops=_flops(members, arch),
        wait_distances=[_distance(wait) for wait in waits_of(program, loop, arch)],
        hot=is_hot,
    )


def _flops(members: Sequence[Instruction], arch: Architecture) -> int:
    matrix = (i for i in members if i.opcode.cls is InstructionClass.MATRIX)
    return sum(known.flops for i in matrix if (known := matrix_instruction(arch, i)) is not None)


def _distance(wait: Wait) -> WaitDistance:
    load = wait.waits_for
    frame = load.user_frame if load is not None else None
    return WaitDistance(
        wait=f"{wait.counter}({wait.count})",
        waits_for=load.mnemonic if load is not None else None,
        instructions=wait.instructions,
        cycles=wait.cycles,
        matrix=wait.matrix,
        line=frame.line if frame is not None else None,
    )


def _ordered(items: Iterable[str]) -> dict[str, int]:
    """Counts, the most frequent first."""
    return dict(Counter(items).most_common())


def _waits(instruction: Instruction) -> list[str]:
    if instruction.opcode.cls is not InstructionClass.WAIT:
        return []
    return [f"{counter}({count})" for counter, count in instruction.waits.items()]


def _widths(members: Sequence[Instruction]) -> dict[str, dict[str, int]]:
    """Memory path to bytes a lane at one address to count, wide before narrow."""
    found: dict[str, Counter[int]] = {}
    for instruction in members:
        path, parts = _path(instruction), instruction.opcode.parts
        if path is not None:
            found.setdefault(path, Counter())[(instruction.opcode.bytes_per_lane or 0) // parts] += parts
    return {path: {str(n): count[n] for n in sorted(count, reverse=True)} for path, count in found.items()}


def _path(instruction: Instruction) -> str | None:
    """``global_load``: which way an instruction moves data; ``None`` when it moves none, or how much is not known."""
    opcode = instruction.opcode
    path = _PATHS.get(opcode.space) if opcode.space is not None and opcode.bytes_per_lane is not None else None
    verb = "to_lds" if instruction.to_lds else "store" if opcode.is_store else "load"
    return None if path is None else f"{path}_{verb}"


def _bytes(members: Sequence[Instruction], wavefront_size: int) -> dict[str, int]:
    total: Counter[str] = Counter()
    for instruction in members:
        path = _path(instruction)
        if path is not None:
            lanes = 1 if instruction.opcode.space is MemorySpace.SCALAR else wavefront_size
            total[path] += (instruction.opcode.bytes_per_lane or 0) * lanes
    return dict(total.most_common())


def _lines(members: Sequence[Instruction]) -> dict[str, tuple[int, int]]:
    """File to first and last user line, the file with most instructions first."""
    lines: dict[str, list[int]] = {}
    for instruction in members:
        frame = instruction.user_frame
        if frame is not None:
            lines.setdefault(frame.file, []).append(frame.line)
    by_weight = sorted(lines.items(), key=lambda item: -len(item[1]))
    return {file: (min(found), max(found)) for file, found in by_weight}
