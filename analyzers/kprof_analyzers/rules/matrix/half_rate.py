"""KP504 half-rate-matrix-instruction."""

from collections import Counter
from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import InstructionClass
from kprof_analyzers.matrix_instructions import matrix_instruction
from kprof_analyzers.rules.about import MATRIX_INSTRUCTIONS, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import MATRIX, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Rule, without_matrix
from kprof_analyzers.source_lines import busiest


class HalfRateMatrixInstruction(Rule):
    """Matrix instructions run at half of the architecture's highest rate for the type.

    ## What it does
    Compares the rate of each matrix instruction with the highest rate for the same operand type and tile on the
    architecture. Reports instructions with at most half of that rate.

    ## Why it matters
    The matrix instructions that gfx950 shares with gfx942 (`v_mfma_f32_16x16x16_f16`) take as many passes as those with
    twice the K (`v_mfma_f32_16x16x32_f16`), so they reach half of the peak. The same is true of bf16 without `_1k` on
    gfx90a.

    ## Evidence
    `instruction`, `better`, `count`, `rate`, `best_rate`: operations per cycle and CU, from the hardware file.

    ## What to try
    Use a newer Triton.
    """

    id: ClassVar[str] = "KP504"
    name: ClassVar[str] = "half-rate-matrix-instruction"
    severity: ClassVar[Severity] = Severity.WARNING
    about: ClassVar[About] = MATRIX_INSTRUCTIONS
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("BLOCK_K", "higher", "a multiple of the wider instruction's K"),
        Lever("matrix_instr_nonkdim", 0, "the compiler's own choice"),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = MATRIX

    def absent_from(self, arch: Architecture) -> str | None:
        """See :meth:`Rule.absent_from`."""
        return without_matrix(arch)

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        used = [i for i in facts.program.instructions if i.opcode.cls is InstructionClass.MATRIX]
        known = facts.arch.matrix_instructions
        for name, count in Counter(i.opcode.name for i in used).items():
            mine = matrix_instruction(facts.arch, next(i for i in used if i.opcode.name == name))
            if mine is None or mine.sparse:
                continue
            alike = (
                o for o in known.values() if o.type == mine.type and not o.sparse and (o.m, o.n) == (mine.m, mine.n)
            )
            best = max(alike, key=lambda other: other.flops_per_cycle)
            if mine.flops_per_cycle * 2 > best.flops_per_cycle:
                continue
            yield Costed(
                self.finding(
                    f"{count} {name} at {mine.flops_per_cycle:,.0f} operations per cycle and CU; "
                    f"{best.name} does {best.flops_per_cycle:,.0f}",
                    at=busiest(i for i in used if i.opcode.name == name)[0],
                    evidence={
                        "instruction": name,
                        "better": best.name,
                        "count": count,
                        "rate": mine.flops_per_cycle,
                        "best_rate": best.flops_per_cycle,
                    },
                ),
                ModelChange(
                    cycles={i.index: mine.flops_per_cycle / best.flops_per_cycle for i in used if i.opcode.name == name}
                ),
            )
