"""Derive a kernel's registers, LDS and scratch from directives, metadata and LLVM's comments."""

from collections.abc import Mapping
from typing import Any

from kprof.inputs.amdgcn.isa import Generation, generation_of, has_unified_registers
from kprof.inputs.amdgcn.model import Registers

Facts = Mapping[str, int | str]


def _integer(value: Any) -> int | None:
    return int(value) if isinstance(value, int) else None


def _first(*values: Any) -> int | None:
    """Return the first non-negative integer.

    All values are counts or flags, so a negative value comes from damaged data.
    """
    return next((int(v) for v in values if isinstance(v, int) and v >= 0), None)


def _vgprs(arch: str, comments: Facts, metadata: Mapping[str, Any], symbols: Facts) -> tuple[int | None, int | None]:
    """Return the numbers of architected VGPRs, and of VGPRs and AGPRs together."""
    agpr = _first(comments.get("NumAgprs"), symbols.get("num_agpr"), metadata.get(".agpr_count"))
    total = _first(comments.get("TotalNumVgprs"), metadata.get(".vgpr_count"))
    vgpr = _first(comments.get("NumVgprs"), symbols.get("num_vgpr"))
    if vgpr is None and total is not None:
        vgpr = total - agpr if agpr and has_unified_registers(arch) else total
    return vgpr, total if total is not None else vgpr


def registers(
    arch: str, directives: Facts, metadata: Mapping[str, Any], comments: Facts, symbols: Facts | None = None
) -> Registers:
    """Return the resources of one kernel.

    Args:
        arch: architecture such as ``gfx942``.
        directives: ``.amdhsa_*`` directives without prefix.
        metadata: the kernel's metadata entry.
        comments: LLVM's ``; Name: value`` comments.
        symbols: resource symbols of the kernel (``num_vgpr``, ``num_agpr``, ...), as newer LLVM sets them.
    """
    symbols = symbols or {}
    vgpr, total = _vgprs(arch, comments, metadata, symbols)
    wave32 = _integer(directives.get("wavefront_size32"))
    wavefront = _first(metadata.get(".wavefront_size"))
    generation = generation_of(arch)
    if wavefront is None and wave32 is not None:
        wavefront = 32 if wave32 else 64
    if wavefront is None and generation in {Generation.GFX8, Generation.GFX9} and arch:
        wavefront = 64
    wgp = _first(directives.get("workgroup_processor_mode"), metadata.get(".workgroup_processor_mode"))
    dynamic = _first(directives.get("uses_dynamic_stack"), metadata.get(".uses_dynamic_stack"))
    return Registers(
        vgpr=vgpr,
        agpr=_first(comments.get("NumAgprs"), symbols.get("num_agpr"), metadata.get(".agpr_count")),
        sgpr=_first(metadata.get(".sgpr_count"), comments.get("TotalNumSgprs"), comments.get("NumSgprs")),
        next_free_vgpr=_first(directives.get("next_free_vgpr")),
        next_free_sgpr=_first(directives.get("next_free_sgpr")),
        padded_sgpr=_first(comments.get("NumSGPRsForWavesPerEU")),
        accum_offset=_first(directives.get("accum_offset"), comments.get("AccumOffset")),
        vgpr_spills=_first(metadata.get(".vgpr_spill_count")),
        sgpr_spills=_first(metadata.get(".sgpr_spill_count")),
        scratch_bytes=_first(
            metadata.get(".private_segment_fixed_size"),
            directives.get("private_segment_fixed_size"),
            comments.get("ScratchSize"),
        ),
        lds_bytes_static=_first(
            metadata.get(".group_segment_fixed_size"),
            directives.get("group_segment_fixed_size"),
            comments.get("LDSByteSize"),
        ),
        wavefront_size=wavefront,
        max_workgroup_size=_first(metadata.get(".max_flat_workgroup_size")),
        total_vgpr=total,
        wgp_mode=None if wgp is None else bool(wgp),
        occupancy=_first(comments.get("Occupancy")),
        code_bytes=_first(comments.get("codeLenInByte")),
        dynamic_stack=None if dynamic is None else bool(dynamic),
    )
