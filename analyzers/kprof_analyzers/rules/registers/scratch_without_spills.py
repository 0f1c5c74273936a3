"""KP305 scratch-without-spills."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof_analyzers.registers.scratch import has_no_spills
from kprof_analyzers.rules.about import SCRATCH_ACCESSES, About
from kprof_analyzers.rules.questions import SCRATCH, RuleQuestion
from kprof_analyzers.rules.rule import Costed, NotCheckedError, Rule
from kprof_analyzers.scheduling.loops import is_scratch
from kprof_analyzers.source_lines import busiest


class ScratchWithoutSpills(Rule):
    """A kernel uses scratch memory although no register was spilled.

    ## What it does
    Reports scratch accesses of kernels whose metadata states that neither VGPRs nor SGPRs were spilled.

    ## Why it matters
    Scratch then holds an array that the compiler could not keep in registers, usually because its index is only known
    at run time. Each access goes to memory. More registers do not help.

    ## Evidence
    `scratch_accesses`; `scratch_bytes`: per lane; `in_loops`: number of accesses inside loops; `lines`: accesses per
    line.

    ## What to try
    Unroll loops so that indices become constants (`tl.static_range`, `#pragma unroll`), select instead of indexing, or
    move the array to LDS.
    """

    id: ClassVar[str] = "KP305"
    name: ClassVar[str] = "scratch-without-spills"
    severity: ClassVar[Severity] = Severity.WARNING
    fix: ClassVar[str] = "unroll the loop with tl.static_range so that indices into the array are constants"
    about: ClassVar[About] = SCRATCH_ACCESSES
    confirmed_by: ClassVar[RuleQuestion | None] = SCRATCH
    explains: ClassVar[tuple[str, ...]] = ("scratch_bytes",)

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        scratch = [i for i in facts.program.instructions if is_scratch(i)]
        if not scratch:
            return
        if not has_no_spills(facts):
            if facts.resources.vgpr_spills is None:
                raise NotCheckedError("the number of spilled registers is not known")
            return
        place, lines = busiest(scratch)
        inside = {i for loop in facts.program.loops for i in loop.instructions}
        size = facts.resources.scratch_bytes
        yield Costed(
            self.finding(
                f"{len(scratch)} scratch accesses and no spilled register: an array that is not in registers",
                at=place,
                evidence={
                    "scratch_accesses": len(scratch),
                    "scratch_bytes": size if isinstance(size, int) else None,
                    "in_loops": sum(i.index in inside for i in scratch),
                    "lines": lines,
                },
            ),
            ModelChange(gone=tuple(i.index for i in scratch)),
        )
