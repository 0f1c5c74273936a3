"""KP403 occupancy-limited-by-lds."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof_analyzers.rules.about import KERNEL, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import OCCUPANCY, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Need, Rule, known


class OccupancyLimitedByLds(Rule):
    """LDS limits a SIMD to less than two wavefronts, although the registers would allow more.

    ## What it does
    Reports a kernel that only LDS limits to less than two wavefronts per SIMD.

    ## Why it matters
    With a single wavefront on a SIMD, nothing executes while it waits for memory, LDS or a barrier.

    ## Evidence
    `lds_bytes`; `waves_per_simd`; `without`: number of wavefronts per SIMD that the other resources would allow.
    """

    id: ClassVar[str] = "KP403"
    name: ClassVar[str] = "occupancy-limited-by-lds"
    severity: ClassVar[Severity] = Severity.WARNING
    about: ClassVar[About] = KERNEL
    needs: ClassVar[tuple[Need, ...]] = (Need.OCCUPANCY,)
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("num_stages", "lower", "each stage has its own tiles in LDS"),
        Lever("BLOCK_K", "lower"),
        Lever("num_warps", "higher", "they share the same LDS"),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = OCCUPANCY
    explains: ClassVar[tuple[str, ...]] = (
        "lds_bytes",
        "waves_per_simd",
    )

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        occupancy = known(facts.occupancy)
        others = min((waves for name, waves in occupancy.limits.items() if name != "lds"), default=0)
        # If not even one wavefront fits, the kernel cannot be launched, which KP401 reports.
        if occupancy.limiter != "lds" or not 0 < occupancy.waves_per_simd < 2 or others < 2:
            return
        yield Costed(
            self.finding(
                f"LDS of {facts.resources.lds_bytes:,} B allows {occupancy.waves_per_simd:g} "
                f"wave{'' if occupancy.waves_per_simd == 1 else 's'} per SIMD, "
                f"everything else {others:g}",
                evidence={
                    "lds_bytes": facts.resources.lds_bytes,
                    "waves_per_simd": occupancy.waves_per_simd,
                    "without": others,
                },
            ),
            ModelChange(
                workgroups_per_cu=max(1.0, occupancy.workgroups_per_cu * others / occupancy.waves_per_simd),
                at_most=True,
            ),
        )
