"""KP401 lds-over-limit."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof_analyzers.rules.rule import NotCheckedError, Rule


class LdsOverLimit(Rule):
    """A workgroup asks for more LDS than the architecture has.

    ## What it does
    Compares the LDS of a workgroup, dynamic part included, with the hardware's limit.

    ## Why it matters
    Such a kernel compiles without a word. It fails at the launch, on the GPU, with `OutOfResources`.

    ## Evidence
    `lds_bytes` and `limit_bytes`. Triton's LDS is dynamic: it is in the kernel's metadata, not in the assembly.

    ## What to try
    A lower `num_stages`, a smaller `BLOCK_K`, then a smaller tile.
    """

    id: ClassVar[str] = "KP401"
    name: ClassVar[str] = "lds-over-limit"
    severity: ClassVar[Severity] = Severity.ERROR

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        used, limit = facts.resources.lds_bytes, facts.arch.lds.bytes_per_workgroup
        if not isinstance(used, int):
            raise NotCheckedError("the LDS of a workgroup is not known")
        if used > limit:
            yield self.finding(
                f"{used:,} B of LDS a workgroup, but {facts.arch.name} has {limit:,}: the launch will fail",
                evidence={"lds_bytes": used, "limit_bytes": limit},
            )
