"""KP402 workgroup-over-limit."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof_analyzers.rules.rule import NotCheckedError, Rule


class WorkgroupOverLimit(Rule):
    """A workgroup has more work-items than the architecture allows.

    ## What it does
    Multiplies `num_warps` by the wavefront size and compares with the largest flat workgroup.

    ## Why it matters
    Such a kernel compiles without a word and fails at the launch.

    ## Evidence
    `work_items`, `limit`, `num_warps`, `wavefront_size`.

    ## What to try
    A lower `num_warps`. With wavefronts of 64 lanes 16 is the most, with 32 lanes 32.
    """

    id: ClassVar[str] = "KP402"
    name: ClassVar[str] = "workgroup-over-limit"
    severity: ClassVar[Severity] = Severity.ERROR

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        warps, size = facts.resources.num_warps, facts.resources.wavefront_size
        if not isinstance(warps, int) or not isinstance(size, int):
            raise NotCheckedError("the size of a workgroup is not known")
        limit = facts.arch.occupancy.max_workgroup_size
        if warps * size > limit:
            yield self.finding(
                f"{warps} wavefronts of {size} lanes: {warps * size:,} work-items; {facts.arch.name} allows {limit:,}",
                evidence={"work_items": warps * size, "limit": limit, "num_warps": warps, "wavefront_size": size},
            )
