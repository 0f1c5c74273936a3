"""KP402 workgroup-over-limit."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof_analyzers.rules.about import KERNEL, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import RAN, RuleQuestion
from kprof_analyzers.rules.rule import Need, Rule


class WorkgroupOverLimit(Rule):
    """A workgroup has more work-items than the architecture allows.

    ## What it does
    Multiplies `num_warps` by the wavefront size and compares the product with the maximum flat workgroup size.

    ## Why it matters
    Such a kernel compiles without a warning, but its launch fails.

    No gain is given, because a failing launch has no time. These findings are listed before all others.

    ## Evidence
    `work_items`, `limit`, `num_warps`, `wavefront_size`.
    """

    id: ClassVar[str] = "KP402"
    name: ClassVar[str] = "workgroup-over-limit"
    severity: ClassVar[Severity] = Severity.ERROR
    about: ClassVar[About] = KERNEL
    needs: ClassVar[tuple[Need, ...]] = (
        Need.NUM_WARPS,
        Need.WAVEFRONT_SIZE,
    )
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("num_warps", "lower", "with wavefronts of 64 lanes 16 is the most, with 32 lanes 32"),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = RAN
    launch_fails: ClassVar[bool] = True

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        warps, size = facts.resources.num_warps, facts.resources.wavefront_size
        assert isinstance(warps, int)
        assert isinstance(size, int)
        limit = facts.arch.occupancy.max_workgroup_size
        if warps * size > limit:
            yield self.finding(
                f"{warps} wavefronts of {size} lanes: {warps * size:,} work-items; {facts.arch.name} allows {limit:,}",
                evidence={"work_items": warps * size, "limit": limit, "num_warps": warps, "wavefront_size": size},
            )
