"""What each loop of a program does in one iteration, counted in the instructions."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kprof.document import LoopFacts, WaitDistance
from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import Instruction, InstructionClass, Kernel, Kind, Loop, MemorySpace

if TYPE_CHECKING:
    from kprof_analyzers.scheduling.waits import Wait

# v_mfma_f32_32x32x8_f16, v_mfma_f32_32x32x8f16 (gfx908, gfx90a), v_wmma_f32_16x16x16_bf16, v_smfmac_...
_MATRIX_SHAPE = re.compile(r"_(\d+x\d+x\d+)_?(.*)$")

_PATHS = {
    MemorySpace.GLOBAL: "global",
    MemorySpace.BUFFER: "global",
    MemorySpace.FLAT: "flat",
    MemorySpace.IMAGE: "image",
    MemorySpace.SCRATCH: "scratch",
    MemorySpace.LDS: "lds",
    MemorySpace.SCALAR: "scalar",
}


def loop_facts(program: Kernel, wavefront_size: int, arch: Architecture) -> list[LoopFacts]:
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


def hot_loop(program: Kernel) -> Loop:
    """The loop where the kernel spends its time, as far as the code alone tells.

    Innermost loops come first; among them the one with the most matrix work, then the one with the most memory
    instructions, then the first: of two alike the later one is usually a remainder. Trip counts are not known here.

    Raises:
        ValueError: the program has no loop.
    """
    parents = {loop.parent for loop in program.loops}

    def weight(loop: Loop) -> tuple[bool, int, int, int]:
        classes = Counter(program.instructions[i].opcode.cls for i in loop.instructions)
        memory = classes[InstructionClass.VMEM] + classes[InstructionClass.LDS]
        innermost = loop.index not in parents
        return innermost, classes[InstructionClass.MATRIX], memory, -loop.index

    return max(program.loops, key=weight)


def own_instructions(program: Kernel, loop: Loop) -> list[Instruction]:
    """Instructions of a loop that are in none of its inner loops."""
    inner = {i for other in program.loops if other.parent == loop.index for i in other.instructions}
    return [program.instructions[i] for i in loop.instructions if i not in inner]


def matrix_shape(name: str) -> str | None:
    """``v_mfma_f32_32x32x8_f16`` to ``32x32x8 f16``; ``None`` when the name has no shape."""
    match = _MATRIX_SHAPE.search(name)
    return f"{match[1]} {match[2]}".strip() if match else None


def is_scratch(instruction: Instruction) -> bool:
    """Whether an instruction moves spilled registers or private arrays: scratch memory."""
    return instruction.opcode.cls is InstructionClass.SCRATCH


def spills_in(program: Kernel, loop: Loop) -> bool:
    """Whether a loop has scratch traffic."""
    return any(is_scratch(program.instructions[i]) for i in loop.instructions)


def _facts(program: Kernel, loop: Loop, wavefront_size: int, arch: Architecture, *, is_hot: bool) -> LoopFacts:
    from kprof_analyzers.scheduling.waits import waits_of

    members = [program.instructions[i] for i in loop.instructions]
    matrix = (matrix_shape(i.opcode.name) for i in members if i.opcode.cls is InstructionClass.MATRIX)
    return LoopFacts(
        header=loop.header,
        depth=loop.depth,
        lines=_lines(members),
        instructions=_ordered(i.opcode.name for i in members),
        classes=_ordered(i.opcode.cls.value for i in members),
        kinds=_ordered(i.opcode.kind.value for i in members if i.opcode.kind is not Kind.PLAIN),
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
    known = arch.matrix_instructions
    return sum(known[i.opcode.name].flops for i in members if i.opcode.name in known)


def _distance(wait: "Wait") -> WaitDistance:
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
        path, parts = _path(instruction), max(1, instruction.opcode.parts)
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
