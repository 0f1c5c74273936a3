"""KP509 full-precision-division."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.inputs.amdgcn import Instruction, InstructionClass
from kprof_analyzers.model.executions import Region, significant_regions
from kprof_analyzers.rules.about import DIVISIONS, About
from kprof_analyzers.rules.questions import VECTOR, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Rule
from kprof_analyzers.source_lines import busiest, other_lines

_ENDS = ("v_div_fixup_f32", "v_div_fixup_f16", "v_div_fixup_f64")
_ENOUGH = 4
# Instructions of a full-precision division that are not needed if it is replaced by a reciprocal and a multiplication.
_STEPS = ("v_div_", "v_fma_", "v_fmac_", "v_mul_", "v_pk_fma_", "v_pk_mul_")


class FullPrecisionDivision(Rule):
    """Elements of a tile are divided with correct rounding, which takes about ten instructions per element.

    ## What it does
    Counts divisions by their last instruction (`v_div_fixup_f32`) in innermost loops, and in other code that executes
    at least an eighth of the kernel's vector instructions. Reports code in which one operation has at least four
    divisions; fewer are divisions of scalars.

    ## Why it matters
    There is no division instruction. The correctly rounded quotient needs a reciprocal with two steps of refinement,
    two scalings and a correction: nine to eleven dependent instructions. A reciprocal and a multiplication are two
    instructions, with an error of about one unit in the last place of fp32, which is not visible in fp16 or bf16
    results.

    ## Evidence
    `divisions`: number of divisions per lane in one execution. `instruction`: the last instruction of each division.
    `loop`: null outside of loops.

    ## What to try
    If the divisor is the same for a row, divide once: `x * (1.0 / total)`. If each element has its own divisor, use
    `tl.extra.hip.libdevice.fast_dividef(x, y)`, which is a reciprocal and a multiplication. `tl.sigmoid` also divides.
    """

    id: ClassVar[str] = "KP509"
    name: ClassVar[str] = "full-precision-division"
    severity: ClassVar[Severity] = Severity.NOTE
    fix: ClassVar[str] = "multiply by 1.0 / total once per row, or use tl.extra.hip.libdevice.fast_dividef(x, y)"
    about: ClassVar[About] = DIVISIONS
    confirmed_by: ClassVar[RuleQuestion | None] = VECTOR

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        for region in significant_regions(facts, InstructionClass.VALU):
            found = [i for i in region.instructions if i.opcode.name in _ENDS]
            if any(count >= _ENOUGH for count in Counter(map(_place, found)).values()):
                place = busiest(found)[0]
                yield Costed(
                    self.finding(
                        f"{len(found)} full-precision divisions a lane {region.words}, about ten instructions each",
                        at=place,
                        evidence={"divisions": len(found), "instruction": found[0].opcode.name, "loop": region.header},
                        related=other_lines(found, place),
                    ),
                    _fast(region, found),
                )


def _fast(region: Region, divisions: Sequence[Instruction]) -> ModelChange:
    """Return the change that removes all instructions of each division except a reciprocal and a multiplication."""
    places = Counter(_place(i) for i in divisions)
    # The last instruction of each division is kept, in place of the multiplication.
    kept = {i.index for i in divisions}
    steps = (i for i in region.instructions if i.opcode.name.startswith(_STEPS) and i.index not in kept)
    return ModelChange(gone=tuple(i.index for i in steps if places[_place(i)]))


def _place(instruction: Instruction) -> tuple[str, int, int] | None:
    """Return file, line and column of the operation that an instruction was compiled from, or None if unknown."""
    frame = next(iter(instruction.location), None)
    return None if frame is None else (frame.file, frame.line, frame.column)
