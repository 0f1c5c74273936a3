"""KP307 padded-by-waves-per-eu."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Advice, Severity
from kprof_analyzers.rules.about import KERNEL, About
from kprof_analyzers.rules.questions import OCCUPANCY, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Need, Rule, known

_MUCH = 2.0
_MANY = 3.0


class PaddedByWavesPerEu(Rule):
    """`waves_per_eu` pads the registers, so that fewer wavefronts fit than the code and its LDS would allow.

    ## What it does
    Reports kernels whose occupancy is limited by registers that the code does not use. Since `waves_per_eu` also sets
    the maximum number of wavefronts, the kernel descriptor requests more registers than the instructions use. The
    finding is a warning if at most two wavefronts fit on a SIMD and at least twice as many would fit without the
    padding.

    ## Why it matters
    With `waves_per_eu=N` a SIMD gets at most N wavefronts, even if registers and LDS have room for more. A kernel that
    waits for memory then has fewer other wavefronts to execute in the meantime.

    ## Evidence
    `waves_per_eu`. `waves_per_simd`: current value. `without`: wavefronts allowed by everything except the padding.
    `vgpr`, `vgpr_allocated`: registers that the code uses, and registers that are allocated.

    ## What to try
    Set `waves_per_eu` to the number of wavefronts that fit, which the finding's advice contains.
    """

    id: ClassVar[str] = "KP307"
    name: ClassVar[str] = "padded-by-waves-per-eu"
    severity: ClassVar[Severity] = Severity.NOTE
    about: ClassVar[About] = KERNEL
    needs: ClassVar[tuple[Need, ...]] = (Need.OCCUPANCY,)
    confirmed_by: ClassVar[RuleQuestion | None] = OCCUPANCY
    explains: ClassVar[tuple[str, ...]] = ("waves_per_simd",)

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        occupancy, resources = known(facts.occupancy), facts.resources
        wanted = facts.metadata.get("waves_per_eu", facts.specialization.options.get("waves_per_eu"))
        now = occupancy.limits.get("launch_bounds")
        room = min((waves for name, waves in occupancy.limits.items() if name != "launch_bounds"), default=0.0)
        if not isinstance(wanted, int) or wanted < 1 or not now or now >= room:
            return
        used, allocated = resources.vgpr, resources.vgpr_allocated
        yield Costed(
            self.finding(
                f"waves_per_eu={wanted} pads the registers to {now:g} wave{'' if now == 1 else 's'} per SIMD; what the "
                f"code uses and its LDS allow {room:g}",
                severity=Severity.WARNING if now < _MANY and room >= _MUCH * now else None,
                evidence={
                    "waves_per_eu": wanted,
                    "waves_per_simd": now,
                    "without": room,
                    "vgpr": used if isinstance(used, int) else None,
                    "vgpr_allocated": allocated if isinstance(allocated, int) else None,
                },
                advice=[Advice(knob="waves_per_eu", from_=wanted, to=int(room))],
            ),
            ModelChange(workgroups_per_cu=occupancy.workgroups_per_cu * room / now),
        )
