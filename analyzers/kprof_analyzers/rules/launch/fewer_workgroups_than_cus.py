"""KP404 fewer-workgroups-than-cus."""

from collections.abc import Iterable
from math import prod
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof_analyzers.rules.rule import NotCheckedError, Rule, named_product

# Persistent kernels leave a few CUs out on purpose.
_MUCH = 0.1


class FewerWorkgroupsThanCus(Rule):
    """The launch has fewer workgroups than the GPU has CUs.

    ## What it does
    Compares the grid with the CUs of the GPU that was named, such as `--arch MI300X`. Below a tenth of idle CUs it is a
    note: persistent kernels leave some out on purpose.

    ## Why it matters
    A workgroup runs on one CU. CUs without one stand still for the whole kernel.

    ## Evidence
    `workgroups`, `compute_units`, `product`. The rule needs a launch and a product: an architecture alone does not
    say how many CUs there are.

    ## What to try
    Smaller tiles, or split the reduction over several workgroups (split-K, split KV). AMD's tuning guide asks for at
    least 1,024 workgroups on an MI300X.
    """

    id: ClassVar[str] = "KP404"
    name: ClassVar[str] = "fewer-workgroups-than-cus"
    severity: ClassVar[Severity] = Severity.WARNING

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        if facts.grid is None:
            raise NotCheckedError("the launch's grid is not known")
        product = named_product(facts)
        workgroups = prod(facts.grid)
        units = product.compute_units
        if units is None:
            raise NotCheckedError(f"the CUs of an {product.name} are not known")
        if workgroups < units:
            idle = (units - workgroups) / units
            yield self.finding(
                f"{workgroups:,} workgroups for {units} CUs of an {product.name}: "
                f"{100 * idle:.0f} % of the GPU stands still",
                severity=Severity.WARNING if idle >= _MUCH else Severity.NOTE,
                evidence={"workgroups": workgroups, "compute_units": units, "product": product.name},
            )
