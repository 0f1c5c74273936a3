"""KP306 waves-per-eu-above-lds."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Advice, Severity
from kprof_analyzers.registers.scratch import has_no_spills
from kprof_analyzers.rules.about import SCRATCH_ACCESSES, About
from kprof_analyzers.rules.questions import SCRATCH, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Need, Rule, known
from kprof_analyzers.scheduling.loops import is_scratch
from kprof_analyzers.source_lines import busiest


class WavesPerEuAboveLds(Rule):
    """`waves_per_eu` asks for more wavefronts than LDS allows, so registers are spilled for nothing.

    ## What it does
    Compares `waves_per_eu` with the number of wavefronts per SIMD that a workgroup's LDS allows, in kernels that spill.

    ## Why it matters
    The compiler limits the registers of a wavefront so that `waves_per_eu` wavefronts fit, and spills values that do
    not fit. LDS still allows fewer wavefronts, so the registers that were saved stay unused.

    ## Evidence
    `waves_per_eu`; `allowed_by_lds`: wavefronts per SIMD that LDS allows; `scratch_accesses`: number of scratch
    instructions in the code; `vgpr_spills`.

    ## What to try
    Request the number that LDS allows, or leave the choice to the compiler (`waves_per_eu=0`). The finding's advice
    gives the number.
    """

    id: ClassVar[str] = "KP306"
    name: ClassVar[str] = "waves-per-eu-above-lds"
    severity: ClassVar[Severity] = Severity.WARNING
    about: ClassVar[About] = SCRATCH_ACCESSES
    needs: ClassVar[tuple[Need, ...]] = (Need.OCCUPANCY,)
    confirmed_by: ClassVar[RuleQuestion | None] = SCRATCH
    lacks_room: ClassVar[bool] = True

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        wanted = facts.metadata.get("waves_per_eu", facts.specialization.options.get("waves_per_eu"))
        allowed = known(facts.occupancy).limits.get("lds")
        scratch = [i for i in facts.program.instructions if is_scratch(i)]
        if not isinstance(wanted, int) or not allowed or wanted <= allowed or not scratch or has_no_spills(facts):
            return
        spills = facts.resources.vgpr_spills
        waves = f"{allowed:g} wave" if allowed == 1 else f"{allowed:g} waves"
        yield Costed(
            self.finding(
                f"waves_per_eu={wanted} leaves registers for {wanted:g} waves per SIMD, which takes {len(scratch)} "
                f"scratch accesses in the kernel; LDS has room for {waves}",
                at=busiest(scratch)[0],
                evidence={
                    "waves_per_eu": wanted,
                    "allowed_by_lds": allowed,
                    "scratch_accesses": len(scratch),
                    "vgpr_spills": spills if isinstance(spills, int) else None,
                },
                advice=[Advice(knob="waves_per_eu", from_=wanted, to=int(allowed))],
            ),
            ModelChange(gone=tuple(i.index for i in scratch)),
        )
