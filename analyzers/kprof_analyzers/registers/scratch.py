"""What scratch memory is used for."""

from kprof.analysis import KernelFacts
from kprof_analyzers.scheduling.loops import is_scratch


def has_no_spills(facts: KernelFacts) -> bool:
    """Whether it is known that no register was spilled."""
    marked = any(i.spill for i in facts.program.instructions if is_scratch(i))
    return not marked and facts.resources.vgpr_spills == 0 and facts.resources.sgpr_spills == 0
