"""KP303 registers-just-above-step."""

from collections.abc import Iterable
from typing import ClassVar

from msgspec import UNSET

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof_analyzers.registers.liveness import Liveness
from kprof_analyzers.rules.rule import NotCheckedError, Rule

# Beyond this share of the registers giving them up is a redesign, not a tweak.
_SHARE = 0.08
# From this many wavefronts on, one more hides little.
_ENOUGH = 4


class RegistersJustAboveStep(Rule):
    """A few registers less would let one more wavefront run on each SIMD.

    ## What it does
    Looks whether VGPRs limit the occupancy below four wavefronts a SIMD and giving up at most 8 % of them, and nothing
    else, would raise it. Names the source line where most registers are live.

    ## Why it matters
    The register file is divided among the wavefronts of a SIMD in granules. Just above a step a whole wavefront is lost
    for a handful of registers.

    ## Evidence
    `vgpr_allocated`, `reduce_by`: registers now, and how many fewer reach the step. `waves_per_simd`: now and
    then. `peak`: live registers at the worst instruction, from the assembly.

    ## What to try
    `waves_per_eu` set to the next number makes the compiler aim for it: check that it does not spill instead. Recompute
    instead of keeping: offsets and masks are often cheaper than the registers they occupy.
    """

    id: ClassVar[str] = "KP303"
    name: ClassVar[str] = "registers-just-above-step"
    severity: ClassVar[Severity] = Severity.NOTE

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        if facts.occupancy is None:
            raise NotCheckedError("the occupancy is not known")
        step, allocated = facts.occupancy.next_step, facts.resources.vgpr_allocated
        now = facts.occupancy.waves_per_simd
        if step is UNSET or not isinstance(allocated, int) or facts.occupancy.limiter != "vgpr" or now >= _ENOUGH:
            return
        if step.resource != "vgpr" or step.also or step.reduce_by > _SHARE * allocated:
            return
        live = Liveness(facts.program)
        peak = live.peak("vgpr")
        where = facts.program.instructions[peak.index] if peak is not None else None
        yield self.finding(
            f"{step.reduce_by} VGPRs fewer than {allocated} would give {step.waves_per_simd:g} "
            f"waves per SIMD instead of {now:g}",
            at=where,
            evidence={
                "vgpr_allocated": allocated,
                "reduce_by": step.reduce_by,
                "waves_per_simd": [now, step.waves_per_simd],
                "peak": peak.count if peak is not None else None,
            },
        )
