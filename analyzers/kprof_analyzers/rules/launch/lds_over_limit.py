"""KP401 lds-over-limit."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof_analyzers.rules.about import KERNEL, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import RAN, RuleQuestion
from kprof_analyzers.rules.rule import Need, Rule


class LdsOverLimit(Rule):
    """A workgroup asks for more LDS than the architecture has.

    ## What it does
    Compares the LDS of a workgroup, including LDS that the launch requests (dynamic LDS), with the hardware's limit.

    ## Why it matters
    Such a kernel compiles without a warning, but its launch on the GPU fails with `OutOfResources`.

    No gain is given, because a failing launch has no time. These findings are listed before all others.

    ## Evidence
    `lds_bytes` and `limit_bytes`. Triton's LDS is dynamic: it is in the kernel's metadata, not in the assembly.
    """

    id: ClassVar[str] = "KP401"
    name: ClassVar[str] = "lds-over-limit"
    severity: ClassVar[Severity] = Severity.ERROR
    about: ClassVar[About] = KERNEL
    needs: ClassVar[tuple[Need, ...]] = (Need.LDS,)
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("num_stages", "lower", "each stage has its own tiles in LDS"),
        Lever("BLOCK_K", "lower"),
        Lever("BLOCK_M", "lower", "more traffic for the same work"),
        Lever("BLOCK_N", "lower", "more traffic for the same work"),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = RAN
    explains: ClassVar[tuple[str, ...]] = ("lds_bytes",)
    restates: ClassVar[tuple[str, ...]] = ("lds_over_limit",)
    launch_fails: ClassVar[bool] = True
    lacks_room: ClassVar[bool] = True

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        used, limit = facts.resources.lds_bytes, facts.arch.lds.bytes_per_workgroup
        assert isinstance(used, int)
        if used > limit:
            yield self.finding(
                f"{used:,} B of LDS a workgroup, but {facts.arch.name} has {limit:,}: the launch will fail",
                evidence={"lds_bytes": used, "limit_bytes": limit},
            )
