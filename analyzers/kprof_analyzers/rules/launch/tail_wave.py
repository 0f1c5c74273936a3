"""KP405 tail-wave."""

from collections.abc import Iterable
from math import prod
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Finding, Severity
from kprof_analyzers.rules.about import KERNEL, About
from kprof_analyzers.rules.levers import Lever, grid_numbers_tiles, smaller_blocks
from kprof_analyzers.rules.questions import Answer, Numbers, RuleQuestion, achieved
from kprof_analyzers.rules.rule import Costed, Need, Rule, known, units_of

_IDLE = 0.25


def _tail(numbers: Numbers) -> Answer:
    measured, computed, text = achieved(numbers)
    return measured < 0.9 * computed, text


class TailWave(Rule):
    """The last round of workgroups leaves much of the GPU idle, or there are fewer workgroups than AMD recommends.

    ## What it does
    Divides the grid by the number of workgroups that the whole GPU holds at a time (CUs times resident workgroups). The
    workgroups run in rounds. A round has one place for each workgroup that the GPU can hold. Reports a launch whose
    empty places in the last round are at least a quarter of the places of all rounds. On an MI300X or MI325X it also
    reports grids of fewer than 1,024 workgroups, except grids that give every CU the same number, as persistent kernels
    do.

    ## Why it matters
    A GPU that holds 608 workgroups needs two rounds for 609. With many rounds the loss is small; with one to four
    rounds it is a visible part of the time. The rule assumes that workgroups take equally long, which is not true with
    causal masks.

    ## Evidence
    `workgroups`; `places`: number of workgroups that the GPU holds at a time; `rounds`; `idle`: share of the places of
    all rounds that stay empty; `product`.

    ## What to try
    Use a tile that makes the grid slightly smaller than a multiple of `places`, a persistent kernel, or stream-K or
    split-K for the last round.
    """

    id: ClassVar[str] = "KP405"
    name: ClassVar[str] = "tail-wave"
    severity: ClassVar[Severity] = Severity.NOTE
    fix: ClassVar[str] = "choose a tile that makes the grid a multiple of the resident workgroups, or a little less"
    about: ClassVar[About] = KERNEL
    needs: ClassVar[tuple[Need, ...]] = (
        Need.GRID,
        Need.PRODUCT,
        Need.OCCUPANCY,
    )
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("SPLIT_K", "higher", "more and shorter workgroups for the last round"),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = RuleQuestion(("waves_per_simd", "computed_waves_per_simd"), _tail)

    def check(self, facts: KernelFacts) -> Iterable[Finding | Costed]:
        """See :meth:`Rule.check`."""
        product, workgroups = known(facts.product), prod(known(facts.grid))
        units = units_of(product)
        # In WGP mode `workgroups_per_cu` counts the workgroups of a pair of CUs (a WGP), not of a single CU.
        shared = 2 if facts.program.registers.wgp_mode else 1
        places = units // shared * known(facts.occupancy).workgroups_per_cu
        if workgroups < units or not places:
            return
        rounds = -(-workgroups // places)
        idle = 1 - workgroups / (rounds * places)
        evidence = {
            "workgroups": workgroups,
            "places": places,
            "rounds": rounds,
            "idle": round(idle, 3),
            "product": product.name,
        }
        # The share of empty places can only reach `_IDLE` if the launch has at most three rounds.
        if rounds > 1 and idle >= _IDLE:
            yield Costed(
                self.finding(
                    f"{workgroups:,} workgroups take {rounds} rounds of {places:,}: {100 * idle:.0f} % of the places "
                    "stay empty in the last one",
                    evidence=evidence,
                    fix=_other_grid((rounds - 1) * places, rounds * places, tiles=grid_numbers_tiles(facts)),
                ),
                ModelChange(leave_out=("wave_quantisation",), at_most=True),
            )
        elif product.least_workgroups is not None and workgroups < product.least_workgroups and workgroups % units:
            yield self.finding(
                f"{workgroups:,} workgroups; AMD's guide asks for at least {product.least_workgroups:,} on an "
                f"{product.name}",
                evidence=evidence,
                fix=smaller_blocks(facts, -(-product.least_workgroups // workgroups)),
            )


def _other_grid(fewer: int, more: int, *, tiles: bool) -> str:
    """Describe a grid that fills the last round, by another tile size or by a persistent kernel's loop."""
    if tiles:
        return (
            f"choose a larger tile that makes {fewer:,} workgroups or a few less, or a smaller one that makes {more:,}"
        )
    return f"launch {fewer:,} workgroups, each of which loops over several workgroups' work (a persistent kernel)"
