"""Determine the wait counters that an instruction increments on each hardware generation.

gfx9 counts loads and stores in ``vmcnt``; gfx10 and gfx11 count stores and atomics without return in ``vscnt``; gfx12
has one counter for each kind of access; gfx1250 adds ``asynccnt``, ``tensorcnt`` and ``xcnt``. Source: the AMD ISA
guides' chapters on data dependency resolution and LLVM's AMDGPU usage guide, memory model.
"""

from kprof.inputs.amdgcn.isa import Generation, InstructionClass, InstructionKind, MemorySpace

_NEW = (Generation.GFX12, Generation.GFX1250)


def _vector_memory(kind: InstructionKind, name: str, generation: Generation) -> str:
    write = kind is InstructionKind.STORE or kind is InstructionKind.ATOMIC or name in {"global_wb", "global_wbinv"}
    if generation in _NEW:
        if kind is InstructionKind.RAY:
            return "bvhcnt"
        if kind is InstructionKind.SAMPLE:
            return "samplecnt"
        return "storecnt" if write else "loadcnt"
    if generation in {Generation.GFX10, Generation.GFX11}:
        return "vscnt" if write else "vmcnt"
    return "vmcnt"


def _lds(name: str, generation: Generation) -> tuple[str, ...]:
    if name in {"lds_direct_load", "lds_param_load", "ds_direct_load", "ds_param_load"}:
        return ("expcnt",)
    if name == "ds_nop":
        return ()
    if name == "ds_atomic_async_barrier_arrive_b64":
        return ("asynccnt",)
    return ("dscnt",) if generation in _NEW else ("lgkmcnt",)


def counters_of(
    cls: InstructionClass, kind: InstructionKind, space: MemorySpace | None, name: str, generation: Generation
) -> tuple[str, ...]:
    """Return the wait counters that an instruction increments; an atomic counts as an atomic without return value."""
    new = generation in _NEW
    scalar = "kmcnt" if new else "lgkmcnt"
    translated = ("xcnt",) if generation is Generation.GFX1250 else ()
    if kind is InstructionKind.PREFETCH:
        return ()
    if kind is InstructionKind.TENSOR:
        return ("tensorcnt", *translated)
    if cls is InstructionClass.SMEM:
        return () if kind is InstructionKind.CACHE and new else (scalar, *translated)
    if cls in {InstructionClass.VMEM, InstructionClass.SCRATCH}:
        if "_async_" in name:
            return ("asynccnt", *translated)
        first = _vector_memory(kind, name, generation)
        if space is MemorySpace.FLAT:
            return (first, "dscnt" if new else "lgkmcnt", *translated)
        return (first, *translated)
    if cls is InstructionClass.LDS:
        return _lds(name, generation)
    if cls is InstructionClass.GDS:
        return ("dscnt",) if new else ("lgkmcnt", "expcnt")
    if cls is InstructionClass.EXPORT:
        return ("expcnt",)
    if kind is InstructionKind.MESSAGE and name.startswith("s_sendmsg"):
        return (scalar,)
    return ()


def returning_atomic(counters: tuple[str, ...]) -> tuple[str, ...]:
    """Return the counters of an atomic that returns the old value: a load's counters replace a store's counters."""
    swap = {"vscnt": "vmcnt", "storecnt": "loadcnt"}
    return tuple(swap.get(counter, counter) for counter in counters)
