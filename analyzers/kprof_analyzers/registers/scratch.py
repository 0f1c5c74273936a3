"""Determine the use of scratch memory, and the bytes that the runtime has to provide for a launch."""

from kprof.analysis import KernelFacts
from kprof_analyzers.scheduling.loops import is_scratch

KEPT = 146_800_640
"""Maximum bytes of scratch memory that ROCr leaves assigned to a queue: ``HSA_SCRATCH_SINGLE_LIMIT``.

More memory is assigned for one launch only, after an interrupt to the host. This does not apply if
``HSA_NO_SCRATCH_RECLAIM=1`` is set, or if the firmware lets the driver reclaim the memory later (ROCR-Runtime at
c7785a6da1, ``core/util/flag.h`` and ``AqlQueue``'s ``HandleInsufficientScratch``). AMD's documentation of RCCL
recommends the setting on the MI250X, not on later GPUs.
"""
_ALIGNED = 16
"""Granule of scratch memory in bytes per lane; it is 1,024 bytes for a wavefront of 64 lanes."""


def has_no_spills(facts: KernelFacts) -> bool:
    """Return True if it is known that no register was spilled; False if registers were, or if it is unknown."""
    marked = any(i.spill for i in facts.program.instructions if is_scratch(i))
    return not marked and facts.resources.vgpr_spills == 0 and facts.resources.sgpr_spills == 0


def assigned(facts: KernelFacts, compute_units: int | None) -> int | None:
    """Return the bytes of scratch memory that ROCr assigns to a launch; ``None`` if unknown.

    ROCr assigns scratch for the maximum number of wavefronts on the GPU.

    Args:
        facts: facts of the kernel.
        compute_units: number of compute units of the GPU; ``None`` if unknown.
    """
    lane, waves = facts.resources.scratch_bytes, facts.arch.occupancy.scratch_waves_per_cu
    if not isinstance(lane, int) or waves is None or compute_units is None:
        return None
    return -(-lane // _ALIGNED) * _ALIGNED * facts.arch.wavefront_size * waves * compute_units
