"""KP502 large-matrix-instruction."""

from collections import Counter
from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof.inputs.amdgcn import InstructionClass
from kprof_analyzers.rules.rule import Rule
from kprof_analyzers.scheduling.loops import own_instructions
from kprof_analyzers.source_lines import busiest


class LargeMatrixInstruction(Rule):
    """A loop uses 32x32 matrix instructions where 16x16 ones have the same rate.

    ## What it does
    Looks in each innermost loop for 32x32 MFMA instructions whose type has a 16x16 instruction of the same rate.

    ## Why it matters
    AMD's tuning guide finds 16x16 faster on the MI300X: the chip draws less power and clocks higher. A 16x16
    accumulator also comes in smaller pieces, which the scheduler can place more freely. The compiler's own choice
    (`matrix_instr_nonkdim=0`) is often 32x32. It is a matter of the clock and therefore not visible in the code.

    ## Evidence
    `instruction`, `count`: in one iteration. `alternative`: the 16x16 instruction.

    ## What to try
    `matrix_instr_nonkdim=16`. Time both: 32x32 reads fewer operands from LDS for the same work.
    """

    id: ClassVar[str] = "KP502"
    name: ClassVar[str] = "large-matrix-instruction"
    severity: ClassVar[Severity] = Severity.NOTE
    families: ClassVar[tuple[str, ...]] = ("CDNA3", "CDNA4")

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        known = facts.arch.matrix_instructions
        parents = {loop.parent for loop in facts.program.loops}
        for loop in facts.program.loops:
            if loop.index in parents:
                continue
            used = [i for i in own_instructions(facts.program, loop) if i.opcode.cls is InstructionClass.MATRIX]
            for name, count in Counter(i.opcode.name for i in used).items():
                mine = known.get(name)
                if mine is None or (mine.m, mine.n) != (32, 32):
                    continue
                other = next(
                    (
                        o
                        for o in known.values()
                        if (o.m, o.n, o.blocks) == (16, 16, mine.blocks)
                        and (o.type, o.sparse) == (mine.type, mine.sparse)
                        and o.flops_per_clock >= mine.flops_per_clock
                    ),
                    None,
                )
                if other is not None:
                    yield self.finding(
                        f"{count} {name} in loop {loop.header}; {other.name} has the same rate at less power",
                        at=busiest(i for i in used if i.opcode.name == name)[0],
                        evidence={"loop": loop.header, "instruction": name, "count": count, "alternative": other.name},
                    )
