"""KP302 spill-outside-loop."""

from collections.abc import Iterable
from typing import ClassVar

from msgspec import UNSET

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof_analyzers.registers.scratch import has_no_spills
from kprof_analyzers.rules.about import SCRATCH_ACCESSES, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import SCRATCH, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Rule
from kprof_analyzers.scheduling.loops import is_scratch
from kprof_analyzers.source_lines import busiest


class SpillOutsideLoop(Rule):
    """Registers are spilled, but never inside a loop.

    ## What it does
    Reports scratch accesses of kernels whose loops have none.

    ## Why it matters
    Spills before or after the loops run once per wavefront. In a kernel with loops they seldom have a measurable cost.
    In straight-line code they are part of the kernel's main work.

    ## Evidence
    `vgpr_spills`; `scratch_accesses`; `lines`: number of accesses per source line.

    ## What to try
    Usually nothing needs to be done. If the kernel is short, use a smaller tile.
    """

    id: ClassVar[str] = "KP302"
    name: ClassVar[str] = "spill-outside-loop"
    severity: ClassVar[Severity] = Severity.NOTE
    about: ClassVar[About] = SCRATCH_ACCESSES
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("waves_per_eu", "lower", "if the kernel is short", when=lambda facts: not facts.program.loops),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = SCRATCH
    explains: ClassVar[tuple[str, ...]] = (
        "vgpr_spills",
        "sgpr_spills",
        "scratch_bytes",
    )
    restates: ClassVar[tuple[str, ...]] = ("vgpr_spills",)
    spills: ClassVar[bool] = True
    lacks_room: ClassVar[bool] = True

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        if has_no_spills(facts):
            return
        scratch = [i for i in facts.program.instructions if is_scratch(i)]
        inside = {i for loop in facts.program.loops for i in loop.instructions}
        if not scratch or any(i.index in inside for i in scratch):
            return
        place, lines = busiest(scratch)
        spills = facts.resources.vgpr_spills
        where = "outside all loops" if facts.program.loops else "in straight-line code"
        spilled = f"{spills} VGPRs spilled, " if spills not in {None, UNSET, 0} else ""
        yield Costed(
            self.finding(
                f"{spilled}{len(scratch)} scratch accesses {where}",
                at=place,
                severity=Severity.NOTE if facts.program.loops else Severity.WARNING,
                evidence={
                    "vgpr_spills": None if spills is UNSET else spills,
                    "scratch_accesses": len(scratch),
                    "lines": lines,
                },
            ),
            ModelChange(gone=tuple(i.index for i in scratch)),
        )
