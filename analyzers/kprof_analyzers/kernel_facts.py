"""From a loaded kernel to its facts: resources, occupancy and what each loop does in an iteration."""

from typing import TYPE_CHECKING

from msgspec import UNSET

from kprof.analysis import KernelFacts
from kprof.document import Occupancy, PassChange, Resources
from kprof.errors import KprofError
from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import Registers
from kprof.targets.loaded import LoadedKernel
from kprof_analyzers.occupancy import from_kernel
from kprof_analyzers.scheduling.facts import loop_facts

if TYPE_CHECKING:
    from kprof.compiler.passes import PassHistory


def facts_as_loaded(loaded: LoadedKernel) -> tuple[KernelFacts, list[str]]:
    """Return the facts of a compile, and notes on what could not be determined."""
    notes = list(loaded.notes)
    registers = loaded.program.registers
    size = registers.wavefront_size or loaded.arch.wavefront_size
    resources = _resources(loaded, registers, size)
    occupancy: Occupancy | None = None
    if resources.lds_bytes is None:
        notes.append("occupancy is not known: the LDS that the launch asks for is not in the input")
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
        condition=loaded.condition,
        passes=None if loaded.passes is None else _passes(loaded.passes),
        history=loaded.passes,
        triton=loaded.triton,
    )
    return facts, notes


def not_modelled(facts: KernelFacts) -> str | None:
    """Why the model cannot be asked about a kernel; ``None`` when it can."""
    resources, most = facts.resources, facts.arch.occupancy.max_workgroup_size
    if facts.occupancy is not None and not facts.occupancy.waves_per_simd:
        return "no workgroup fits on a CU"
    if not facts.program.instructions:
        return "no instructions were seen"
    warps, size = resources.num_warps, resources.wavefront_size
    if isinstance(warps, int) and isinstance(size, int) and warps * size > most:
        return f"{warps:,} wavefronts are more than a workgroup of {most:,} work-items has"
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
    """What changed from one row of the history's table to the next."""
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
