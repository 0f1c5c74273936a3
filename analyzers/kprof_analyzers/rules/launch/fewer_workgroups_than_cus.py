"""KP404 fewer-workgroups-than-cus."""

from collections.abc import Iterable
from math import prod
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import Answer, Numbers, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Need, Rule, known, units_of

# Persistent kernels leave a few CUs out on purpose.
_MUCH = 0.1


def _grid(numbers: Numbers) -> Answer:
    workgroups, units = numbers["workgroups"], numbers["cus"]
    return workgroups < units, f"{workgroups:,.0f} workgroups were launched on {units:g} CUs"


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
    Split the reduction over several workgroups (split-K, split KV). AMD's tuning guide asks for at least 1,024
    workgroups on an MI300X.
    """

    id: ClassVar[str] = "KP404"
    name: ClassVar[str] = "fewer-workgroups-than-cus"
    severity: ClassVar[Severity] = Severity.WARNING
    needs: ClassVar[tuple[Need, ...]] = (
        Need.GRID,
        Need.PRODUCT,
    )
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("BLOCK_M", "lower", "more workgroups"),
        Lever("BLOCK_N", "lower", "more workgroups"),
        Lever("SPLIT_K", "higher", "the reduction over several workgroups"),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = RuleQuestion(("workgroups", "cus"), _grid)

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        product, workgroups = known(facts.product), prod(known(facts.grid))
        units = units_of(product)
        if workgroups < units:
            idle = (units - workgroups) / units
            yield Costed(
                self.finding(
                    f"{workgroups:,} workgroups for {units} CUs of an {product.name}: "
                    f"{100 * idle:.0f} % of the GPU stands still",
                    severity=Severity.WARNING if idle >= _MUCH else Severity.NOTE,
                    evidence={"workgroups": workgroups, "compute_units": units, "product": product.name},
                ),
                ModelChange(idle_share=idle, at_most=True),
            )
