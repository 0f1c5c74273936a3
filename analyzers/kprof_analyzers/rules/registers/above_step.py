"""KP303 registers-just-above-step."""

from collections.abc import Iterable
from typing import ClassVar

from msgspec import UNSET

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof_analyzers.registers.liveness import Liveness
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import OCCUPANCY, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Need, Rule, known

# Maximum share of the registers to save. Saving more registers requires a redesign of the kernel.
_SHARE = 0.08
# From this number of wavefronts on, an additional wavefront hides little latency.
_ENOUGH = 4


class RegistersJustAboveStep(Rule):
    """Saving a few registers would let one more wavefront run on each SIMD.

    ## What it does
    Checks whether VGPRs limit the occupancy to less than four wavefronts per SIMD, and whether using up to 8 % fewer
    VGPRs, without any other change, would raise it. Names the source line where most registers are live.

    ## Why it matters
    The register file is divided among the wavefronts of a SIMD in granules, so occupancy falls in steps as a kernel
    uses more registers. Just above a step, a few registers cost a whole wavefront.

    ## Evidence
    `vgpr_allocated`: number of registers now. `reduce_by`: number of registers to save. `waves_per_simd`: occupancy now
    and with this saving. `peak`: maximum number of live registers, from the assembly.

    ## What to try
    Recompute values instead of keeping them: offsets and masks are often cheaper than the registers they occupy.
    """

    id: ClassVar[str] = "KP303"
    name: ClassVar[str] = "registers-just-above-step"
    severity: ClassVar[Severity] = Severity.NOTE
    needs: ClassVar[tuple[Need, ...]] = (Need.OCCUPANCY,)
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            "waves_per_eu", "higher", "makes the compiler aim for more wavefronts; check that it does not spill instead"
        ),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = OCCUPANCY
    explains: ClassVar[tuple[str, ...]] = ("waves_per_simd",)

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        occupancy = known(facts.occupancy)
        step, allocated = occupancy.next_step, facts.resources.vgpr_allocated
        now = occupancy.waves_per_simd
        if step is UNSET or not isinstance(allocated, int) or occupancy.limiter != "vgpr" or now >= _ENOUGH:
            return
        if step.resource != "vgpr" or step.also or step.reduce_by > _SHARE * allocated:
            return
        live = Liveness(facts.program)
        peak = live.peak("vgpr")
        where = facts.program.instructions[peak.index] if peak is not None else None
        yield Costed(
            self.finding(
                f"{step.reduce_by} VGPRs fewer would give {step.waves_per_simd:g} waves per SIMD instead of {now:g} "
                f"({allocated} are allocated)",
                at=where,
                evidence={
                    "vgpr_allocated": allocated,
                    "reduce_by": step.reduce_by,
                    "waves_per_simd": [now, step.waves_per_simd],
                    "peak": peak.count if peak is not None else None,
                },
            ),
            ModelChange(workgroups_per_cu=occupancy.workgroups_per_cu * step.waves_per_simd / now),
        )
