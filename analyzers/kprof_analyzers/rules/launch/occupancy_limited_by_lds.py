"""KP403 occupancy-limited-by-lds."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof_analyzers.rules.rule import NotCheckedError, Rule


class OccupancyLimitedByLds(Rule):
    """LDS keeps a SIMD below two wavefronts, though the registers would allow more.

    ## What it does
    Reports a kernel that LDS alone holds below two wavefronts a SIMD.

    ## Why it matters
    With a single wavefront on a SIMD nothing runs while it waits for memory, LDS or a barrier.

    ## Evidence
    `lds_bytes`, `waves_per_simd`, and `without`: the wavefronts that the other resources would allow.

    ## What to try
    A lower `num_stages`, a smaller `BLOCK_K`, or more wavefronts in the workgroup (`num_warps`), which share the
    same LDS.
    """

    id: ClassVar[str] = "KP403"
    name: ClassVar[str] = "occupancy-limited-by-lds"
    severity: ClassVar[Severity] = Severity.WARNING

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        occupancy = facts.occupancy
        if occupancy is None:
            raise NotCheckedError("the occupancy is not known")
        others = min((waves for name, waves in occupancy.limits.items() if name != "lds"), default=0)
        # None at all is another matter: such a kernel cannot be launched (KP401).
        if occupancy.limiter != "lds" or not 0 < occupancy.waves_per_simd < 2 or others < 2:
            return
        yield self.finding(
            f"LDS of {facts.resources.lds_bytes:,} B allows {occupancy.waves_per_simd:g} "
            f"wave{'' if occupancy.waves_per_simd == 1 else 's'} per SIMD, "
            f"everything else {others:g}",
            evidence={
                "lds_bytes": facts.resources.lds_bytes,
                "waves_per_simd": occupancy.waves_per_simd,
                "without": others,
            },
        )
