"""What scratch memory is used for, and how much the runtime has to provide for a launch."""

from kprof.analysis import KernelFacts
from kprof_analyzers.scheduling.loops import is_scratch

KEPT = 146_800_640
"""Bytes of scratch memory up to which ROCr leaves it to the queue that has launched: ``HSA_SCRATCH_SINGLE_LIMIT``.

More is assigned to one launch alone, behind an interrupt to the host, unless ``HSA_NO_SCRATCH_RECLAIM=1`` is set, or
the firmware lets the driver take it back later (ROCR-Runtime at c7785a6da1, ``core/util/flag.h`` and ``AqlQueue``'s
``HandleInsufficientScratch``). AMD's documentation of RCCL asks for the setting on the MI250X, not on later ones.
"""
_ALIGNED = 16
"""Bytes a lane that scratch memory is assigned in: 1,024 for the 64 lanes of a wavefront."""


def has_no_spills(facts: KernelFacts) -> bool:
    """Whether it is known that no register was spilled."""
    marked = any(i.spill for i in facts.program.instructions if is_scratch(i))
    return not marked and facts.resources.vgpr_spills == 0 and facts.resources.sgpr_spills == 0


def assigned(facts: KernelFacts, compute_units: int | None) -> int | None:
    """Bytes of scratch memory for every wavefront that a GPU can hold, which ROCr assigns; ``None`` where unknown.

    Args:
        facts: of the kernel.
        compute_units: of the GPU, ``None`` where they are not known.
    """
    lane, waves = facts.resources.scratch_bytes, facts.arch.occupancy.scratch_waves_per_cu
    if not isinstance(lane, int) or waves is None or compute_units is None:
        return None
    return -(-lane // _ALIGNED) * _ALIGNED * facts.arch.wavefront_size * waves * compute_units
