"""KP304 agpr-copies-in-loop."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof.inputs.amdgcn import InstructionClass, Kind
from kprof_analyzers.advice.rule import Rule
from kprof_analyzers.scheduling.loops import own_instructions
from kprof_analyzers.source_lines import busiest

_SHARE = 0.25


class AgprCopiesInLoop(Rule):
    """A loop moves values between VGPRs and AGPRs.

    ## What it does
    Counts `v_accvgpr_read` and `v_accvgpr_write` in each loop with matrix instructions, and reports a loop with at
    least one copy for four matrix instructions.

    ## Why it matters
    AGPRs are meant for accumulators that stay there. When they serve as overflow for VGPRs, each use costs a copy on
    the vector pipe: spilling that does not show up as a spill.

    ## Evidence
    `copies`, `matrix`: instructions in one iteration. `lines`: copies for each source line.

    ## What to try
    What helps against spills: a smaller tile, more wavefronts for the same tile, a lower `waves_per_eu`.
    """

    id: ClassVar[str] = "KP304"
    name: ClassVar[str] = "agpr-copies-in-loop"
    severity: ClassVar[Severity] = Severity.WARNING
    families: ClassVar[tuple[str, ...]] = ("CDNA1", "CDNA2", "CDNA3", "CDNA4")

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        for loop in facts.program.loops:
            members = own_instructions(facts.program, loop)
            copies = [i for i in members if i.opcode.kind is Kind.ACC_COPY]
            matrix = sum(i.opcode.cls is InstructionClass.MATRIX for i in members)
            if not matrix or len(copies) < max(1, _SHARE * matrix):
                continue
            place, lines = busiest(copies)
            yield self.finding(
                f"{len(copies)} copies between VGPRs and AGPRs for {matrix} matrix instructions in loop {loop.header}",
                at=place,
                evidence={"loop": loop.header, "copies": len(copies), "matrix": matrix, "lines": lines},
            )
