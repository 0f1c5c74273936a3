"""Derive the facts of a loaded kernel: resources, occupancy, and the contents of one iteration of each loop."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET

from kprof.analysis import KernelFacts
from kprof.document import LoopFacts, Occupancy, PassChange, Resources, WaitDistance
from kprof.errors import KprofError
from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import (
    AssemblyKernel,
    Instruction,
    InstructionClass,
    InstructionKind,
    Loop,
    MemorySpace,
    Registers,
)
from kprof.targets.loaded import LoadedKernel
from kprof_analyzers.matrix_instructions import matrix_instruction
from kprof_analyzers.occupancy import from_kernel
from kprof_analyzers.scheduling.loops import hot_loop, is_scratch, matrix_shape
from kprof_analyzers.scheduling.waits import Wait, waits_of

if TYPE_CHECKING:
    from kprof.compiler.passes import PassHistory

_PATHS = {
    MemorySpace.GLOBAL: "global",
    MemorySpace.BUFFER: "global",
    MemorySpace.FLAT: "flat",
    MemorySpace.IMAGE: "image",
    MemorySpace.SCRATCH: "scratch",
    MemorySpace.LDS: "lds",
    MemorySpace.SCALAR: "scalar",
}


def facts_as_loaded(loaded: LoadedKernel) -> tuple[KernelFacts, list[str]]:
    """Return the facts of a compiled kernel, and notes on facts that could not be determined."""
    notes = list(loaded.notes)
    registers = loaded.program.registers
    size = registers.wavefront_size or loaded.arch.wavefront_size
    resources = _resources(loaded, registers, size)
    occupancy: Occupancy | None = None
    if resources.lds_bytes is None:
        notes.append("occupancy is not known: the LDS that the launch requests is not in the input")
    elif resources.num_warps is None:
        notes.append("occupancy is not known: the number of wavefronts in a workgroup is not in the input")
    else:
        assert isinstance(resources.lds_bytes, int)
        assert isinstance(resources.num_warps, int)
        try:
            occupancy = from_kernel(
                registers, lds_bytes=resources.lds_bytes, num_warps=resources.num_warps, arch=loaded.arch
            )
        except KprofError as error:
            notes.append(f"occupancy is not known: {error.message}")
    facts = KernelFacts(
        name=loaded.name,
        arch=loaded.arch,
        program=loaded.program,
        resources=resources,
        occupancy=occupancy,
        loops=loop_facts(loaded.program, size, loaded.arch),
        specialization=loaded.specialization,
        product=loaded.product,
        ttgir=loaded.ttgir,
        metadata=loaded.metadata,
        grid=loaded.grid,
        arguments=loaded.arguments,
        contents=loaded.contents,
        tensor_bytes=loaded.tensor_bytes,
        condition=loaded.condition,
        passes=None if loaded.passes is None else _passes(loaded.passes),
        history=loaded.passes,
        triton=loaded.triton,
    )
    return facts, notes


def not_modelled(facts: KernelFacts) -> str | None:
    """Return the reason why a kernel cannot be modelled, or ``None`` if it can."""
    resources, most = facts.resources, facts.arch.occupancy.max_workgroup_size
    if facts.occupancy is not None and not facts.occupancy.waves_per_simd:
        return "no workgroup fits on a CU"
    if not facts.program.instructions:
        return "no instructions were seen"
    warps, size = resources.num_warps, resources.wavefront_size
    if isinstance(warps, int) and isinstance(size, int) and warps * size > most:
        return f"{warps:,} wavefronts do not fit into a workgroup of {most:,} work-items"
    return None


def _resources(loaded: LoadedKernel, registers: Registers, size: int) -> Resources:
    metadata = loaded.metadata
    shared = metadata.get("shared", loaded.shared_bytes)
    warps = metadata.get("num_warps", loaded.num_warps)
    return Resources(
        vgpr=registers.vgpr,
        agpr=UNSET if registers.agpr is None else registers.agpr,
        sgpr=registers.sgpr,
        vgpr_allocated=_allocated(registers, loaded.arch, size),
        vgpr_spills=registers.vgpr_spills,
        sgpr_spills=registers.sgpr_spills,
        scratch_bytes=registers.scratch_bytes,
        lds_bytes=shared,
        lds_limit_bytes=loaded.arch.lds.bytes_per_workgroup,
        num_warps=warps,
        wavefront_size=size,
    )


def _allocated(registers: Registers, arch: Architecture, size: int) -> int | None:
    from kprof_analyzers.occupancy import allocated_vgprs

    return allocated_vgprs(registers, arch, size)


def _passes(history: "PassHistory") -> list[PassChange]:
    """Return the change that each pass made, from consecutive rows of the pass history's table."""
    rows = history.table()
    changes = []
    before: dict[str, int | None] = {}
    for row in rows:
        values = {name: value for name, value in row.items() if name not in {"order", "pass", "stage"}}
        changed = {
            name: (before.get(name), value)
            for name, value in values.items()
            if value != before.get(name) and value is not None
        }
        if changed and before:
            changes.append(PassChange(order=row["order"], pass_=row["pass"], stage=row["stage"], changed=changed))
        before = {**before, **{name: value for name, value in values.items() if value is not None}}
    return changes


def loop_facts(program: AssemblyKernel, wavefront_size: int, arch: Architecture) -> list[LoopFacts]:
    """Return the facts of every natural loop, outer before inner, with the hot loop marked.

    Counts are static: they cover one iteration of the loop, with each inner loop counted once.

    Args:
        program: the kernel.
        wavefront_size: lanes of a wavefront; bytes per lane are multiplied by it.
        arch: architecture, for issue cycles and the operation counts of matrix instructions.
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
    """Return how often each item occurs, most frequent first."""
    return dict(Counter(items).most_common())


def _waits(instruction: Instruction) -> list[str]:
    if instruction.opcode.cls is not InstructionClass.WAIT:
        return []
    return [f"{counter}({count})" for counter, count in instruction.waits.items()]


def _widths(members: Sequence[Instruction]) -> dict[str, dict[str, int]]:
    """Count accesses by memory path and by bytes per lane, widest first; ``ds_read2`` counts as two accesses."""
    found: dict[str, Counter[int]] = {}
    for instruction in members:
        path, parts = _path(instruction), instruction.opcode.parts
        if path is not None:
            found.setdefault(path, Counter())[(instruction.opcode.bytes_per_lane or 0) // parts] += parts
    return {path: {str(n): count[n] for n in sorted(count, reverse=True)} for path, count in found.items()}


def _path(instruction: Instruction) -> str | None:
    """Return the memory path of an instruction, such as ``global_load``; ``None`` if its number of bytes is unknown."""
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
    """Return the first and last line of each of the user's files, the file with the most instructions first."""
    lines: dict[str, list[int]] = {}
    for instruction in members:
        frame = instruction.user_frame
        if frame is not None:
            lines.setdefault(frame.file, []).append(frame.line)
    by_weight = sorted(lines.items(), key=lambda item: -len(item[1]))
    return {file: (min(found), max(found)) for file, found in by_weight}
