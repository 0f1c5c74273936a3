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
# Of one division that is a reciprocal and a multiplication, the other instructions.
_STEPS = ("v_div_", "v_fma_", "v_fmac_", "v_mul_", "v_pk_fma_", "v_pk_mul_")


class FullPrecisionDivision(Rule):
    """Elements of a tile are divided with correct rounding, about ten instructions each.

    ## What it does
    Counts divisions by the instruction that ends them (`v_div_fixup_f32`) in innermost loops, and in other code where
    at least an eighth of the kernel's vector instructions are executed. Reports them where one operation has at least
    four: single ones are of scalars.

    ## Why it matters
    There is no division instruction. The correctly rounded quotient is a reciprocal with two steps of refinement, two
    scalings and a correction: nine to eleven instructions in a chain. A reciprocal and a multiplication are two, with
    an error of about one unit in the last place of fp32, which no result in fp16 or bf16 shows.

    ## Evidence
    `divisions`: a lane, in one execution. `instruction`: what they end with. `loop`, null outside of loops.

    ## What to try
    Divide once where the divisor is the same for a row: `x * (1.0 / total)`. For a divisor of each element
    `tl.extra.hip.libdevice.fast_dividef(x, y)`, a reciprocal and a multiplication; `tl.sigmoid` divides, too.
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
    """The lines of the divisions with a reciprocal and a multiplication for each, and nothing else of their steps."""
    places = Counter(_place(i) for i in divisions)
    # The last step of each stands for the multiplication.
    kept = {i.index for i in divisions}
    steps = (i for i in region.instructions if i.opcode.name.startswith(_STEPS) and i.index not in kept)
    return ModelChange(gone=tuple(i.index for i in steps if places[_place(i)]))


def _place(instruction: Instruction) -> tuple[str, int, int] | None:
    """File, line and column of the operation that an instruction was made from; None where the assembly has none."""
    frame = next(iter(instruction.location), None)
    return None if frame is None else (frame.file, frame.line, frame.column)
