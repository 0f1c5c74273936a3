"""KP502 large-matrix-instruction."""

from collections import Counter
from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.hardware.machine import Architecture, MatrixInstruction
from kprof.inputs.amdgcn import InstructionClass
from kprof_analyzers.matrix_instructions import matrix_instruction
from kprof_analyzers.rules.about import MATRIX_INSTRUCTIONS, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.rule import Costed, NotCheckedError, Rule, without_matrix
from kprof_analyzers.scheduling.loops import matrix_shape, own_instructions
from kprof_analyzers.source_lines import busiest


class LargeMatrixInstruction(Rule):
    """A loop uses 32x32 matrix instructions although 16x16 instructions have the same rate.

    ## What it does
    Looks in each innermost loop for 32x32 MFMA instructions whose types have a 16x16 instruction of the same rate.

    ## Why it matters
    According to AMD's tuning guide, 16x16 is faster on the MI300X: the chip draws less power and clocks higher. A 16x16
    accumulator also consists of smaller pieces, which the scheduler can place more freely. The compiler's own choice
    (`matrix_instr_nonkdim=0`) is often 32x32. The effect depends on the clock and is therefore not visible in the code.

    ## Evidence
    `instruction`; `count`: in one iteration; `alternative`: the 16x16 instruction.
    """

    id: ClassVar[str] = "KP502"
    name: ClassVar[str] = "large-matrix-instruction"
    severity: ClassVar[Severity] = Severity.NOTE
    about: ClassVar[About] = MATRIX_INSTRUCTIONS
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("matrix_instr_nonkdim", 16, "time both: 32x32 reads fewer operands from LDS for the same work"),
    )

    def absent_from(self, arch: Architecture) -> str | None:
        """See :meth:`Rule.absent_from`."""
        absent = without_matrix(arch)
        if absent is None and not any(_is_large(i) for i in arch.matrix_instructions.values()):
            absent = f"{arch.name} has no 32x32 matrix instructions"
        if absent is None and "matrix_large" not in arch.model:
            raise NotCheckedError(f"whether 32x32 instructions clock lower on {arch.name} is not known")
        return absent

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        known = facts.arch.matrix_instructions
        parents = {loop.parent for loop in facts.program.loops}
        for loop in facts.program.loops:
            if loop.index in parents:
                continue
            used = [i for i in own_instructions(facts.program, loop) if i.opcode.cls is InstructionClass.MATRIX]
            for name, count in Counter(i.opcode.name for i in used).items():
                mine = matrix_instruction(facts.arch, next(i for i in used if i.opcode.name == name))
                if mine is None or not _is_large(mine):
                    continue
                other = next(
                    (
                        o
                        for o in known.values()
                        if (o.m, o.n, o.blocks) == (16, 16, mine.blocks)
                        and (o.type, o.sparse) == (mine.type, mine.sparse)
                        and _operands(o.name) == _operands(name)
                        and o.flops_per_cycle >= mine.flops_per_cycle
                    ),
                    None,
                )
                if other is not None:
                    yield Costed(
                        self.finding(
                            f"{count} {name} in loop {loop.header}; {other.name} has the same rate at less power",
                            at=busiest(i for i in used if i.opcode.name == name)[0],
                            evidence={
                                "loop": loop.header,
                                "instruction": name,
                                "count": count,
                                "alternative": other.name,
                            },
                        ),
                        ModelChange(leave_out=("matrix_large",)),
                    )


def _operands(name: str) -> str:
    """Return the types of both operands from an instruction's name: ``fp8_bf8`` differs from ``fp8_fp8``."""
    return (matrix_shape(name) or "").partition(" ")[2]


def _is_large(instruction: MatrixInstruction) -> bool:
    return (instruction.m, instruction.n) == (32, 32)
