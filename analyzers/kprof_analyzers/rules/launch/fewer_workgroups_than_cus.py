"""KP404 fewer-workgroups-than-cus."""

from collections.abc import Iterable
from math import prod
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof_analyzers.memory.addressing import element_bytes, tile
from kprof_analyzers.model.masks import masked
from kprof_analyzers.rules.about import KERNEL, About
from kprof_analyzers.rules.levers import Lever, more_workgroups, smaller_blocks
from kprof_analyzers.rules.questions import Answer, Numbers, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Need, Rule, known, units_of

# Minimum share of idle CUs for a warning. Persistent kernels deliberately leave a few CUs idle.
_MUCH = 0.1

_AXES = 3
_LANE_BYTES = 16
"""Bytes of the widest load or store of a lane."""


def _grid(numbers: Numbers) -> Answer:
    workgroups, units = numbers["workgroups"], numbers["cus"]
    return workgroups < units, f"{workgroups:,.0f} workgroups were launched on {units:g} CUs"


def _multiplies(facts: KernelFacts) -> bool:
    """Return whether the kernel has a matrix product, whose reduction can be split, or its TTGIR is unknown."""
    return facts.ttgir is None or any(facts.ttgir.named("tt.dot", "tt.dot_scaled"))


class FewerWorkgroupsThanCus(Rule):
    """The launch has fewer workgroups than the GPU has CUs.

    ## What it does
    Compares the number of workgroups with the CUs of the named GPU, for example `--arch MI300X`. If less than a tenth
    of the CUs is idle, the finding is a note, because persistent kernels deliberately leave some idle. The rule reports
    nothing if a workgroup has no loops and each of its loads and stores is a single instruction of one wavefront,
    because there is no work to distribute. It also reports nothing if the launch is predicted to take at most twice the
    time of an empty launch.

    ## Why it matters
    A workgroup runs on one CU. CUs without a workgroup are idle for the whole kernel.

    ## Evidence
    `workgroups`, `compute_units`, `product`. The rule needs a launch and a product, because an architecture alone does
    not determine the number of CUs.

    ## What to try
    Split the reduction over several workgroups (split-K, split KV). AMD's tuning guide recommends at least 1,024
    workgroups on an MI300X.
    """

    id: ClassVar[str] = "KP404"
    name: ClassVar[str] = "fewer-workgroups-than-cus"
    severity: ClassVar[Severity] = Severity.WARNING
    fix: ClassVar[str] = "split the work of a workgroup over several, or choose smaller blocks"
    about: ClassVar[About] = KERNEL
    needs: ClassVar[tuple[Need, ...]] = (
        Need.GRID,
        Need.PRODUCT,
    )
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("BLOCK_M", "lower", "more workgroups", when=more_workgroups("BLOCK_M")),
        Lever("BLOCK_N", "lower", "more workgroups", when=more_workgroups("BLOCK_N")),
        Lever("SPLIT_K", "higher", "the reduction over several workgroups", when=_multiplies),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = RuleQuestion(("workgroups", "cus"), _grid)

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        product, workgroups = known(facts.product), prod(known(facts.grid))
        units = units_of(product)
        if workgroups < units and not _nothing_to_spread(facts):
            idle = (units - workgroups) / units
            yield Costed(
                self.finding(
                    f"{workgroups:,} workgroup{'s' * (workgroups != 1)} for {units} CUs of an {product.name}: "
                    f"{100 * idle:.0f} % of the GPU stands still",
                    severity=Severity.WARNING if idle >= _MUCH else Severity.NOTE,
                    evidence={"workgroups": workgroups, "compute_units": units, "product": product.name},
                    fix=_split(facts, -(-units // max(workgroups, 1))),
                ),
                ModelChange(idle_share=idle, at_most=True),
            )


def _split(facts: KernelFacts, parts: int) -> str:
    """Describe how to split a workgroup's loop over ``parts`` workgroups; without a loop, propose smaller blocks."""
    if not facts.loops:
        return smaller_blocks(facts, parts)
    grid = list(known(facts.grid))
    while len(grid) > 1 and grid[-1] == 1:
        grid.pop()
    if len(grid) < _AXES:
        part = f"tl.program_id({len(grid)})"
        grid.append(parts)
    else:
        part = f"tl.program_id({_AXES - 1}) % {parts}"
        grid[-1] *= parts
    launched = ", ".join(map(str, grid))
    return (
        f"split the loop over {parts} workgroups: launch ({launched}), {part} is the part, and add the parts up; "
        "or choose smaller blocks"
    )


def _nothing_to_spread(facts: KernelFacts) -> bool:
    """Return whether each load and store of a workgroup fits into one instruction of one wavefront."""
    if facts.ttgir is None or _multiplies(facts):
        return False
    found = masked(facts)
    sizes = [(tile(one.access), element_bytes(one.access)) for one in found]
    most = _LANE_BYTES * facts.arch.wavefront_size
    return bool(found) and all(
        one.access.loop is None
        and one.share is not None
        and held is not None
        and size is not None
        and held.elements * size * one.share <= most
        for one, (held, size) in zip(found, sizes, strict=True)
    )
