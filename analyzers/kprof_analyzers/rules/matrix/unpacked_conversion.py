"""KP507 unpacked-conversion."""

from collections import defaultdict
from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import Instruction, InstructionClass
from kprof_analyzers.model.executions import significant_regions
from kprof_analyzers.rules.about import CONVERSIONS, About
from kprof_analyzers.rules.questions import VECTOR, RuleQuestion
from kprof_analyzers.rules.rule import Costed, NotCheckedError, Rule, known
from kprof_analyzers.source_lines import busiest

_ENOUGH = 16


class UnpackedConversion(Rule):
    """Values are converted one at a time although an instruction can convert two.

    ## What it does
    Counts conversions that have a packed form with the same rounding on the architecture: from fp8 to fp32, and on CDNA
    4 from fp32 to fp16. Reports at least 16 in an innermost loop, or in other code that executes at least an eighth of
    the kernel's vector instructions. On CDNA 3 the only packed conversion to fp16 rounds towards zero, and bf16 has
    none, so nothing can be gained there.

    ## Why it matters
    The packed form halves the number of conversions, and removes the instructions that merge two halves into one
    register.

    ## Evidence
    `instruction`; `count`; `packed`: the instruction that converts two values. `loop`: null outside of loops.

    ## What to try
    If possible, convert outside of the loop. Otherwise keep neighbouring values next to each other, because the
    compiler converts two values in one register together. If it does not, use an inline assembly block
    (`tl.inline_asm_elementwise` with `pack=2`).
    """

    id: ClassVar[str] = "KP507"
    name: ClassVar[str] = "unpacked-conversion"
    severity: ClassVar[Severity] = Severity.NOTE
    fix: ClassVar[str] = "convert before the loop, or convert pairs with tl.inline_asm_elementwise(..., pack=2)"
    about: ClassVar[About] = CONVERSIONS
    confirmed_by: ClassVar[RuleQuestion | None] = VECTOR

    def absent_from(self, arch: Architecture) -> str | None:
        """See :meth:`Rule.absent_from`."""
        if arch.packed_conversions is None:
            raise NotCheckedError(f"which conversions {arch.name} packs is not known")
        return None if arch.packed_conversions else f"{arch.name} packs no conversion with the same rounding"

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        packed = known(facts.arch.packed_conversions)
        for region in significant_regions(facts, InstructionClass.VALU):
            by_name: dict[str, list[Instruction]] = defaultdict(list)
            for instruction in region.instructions:
                if instruction.opcode.name in packed:
                    by_name[instruction.opcode.name].append(instruction)
            for name, found in by_name.items():
                if len(found) >= _ENOUGH:
                    yield Costed(
                        self.finding(
                            f"{len(found)} {name} {region.words}; {packed[name]} converts two at once",
                            at=busiest(found)[0],
                            evidence={
                                "loop": region.header,
                                "instruction": name,
                                "count": len(found),
                                "packed": packed[name],
                            },
                        ),
                        ModelChange(gone=tuple(i.index for i in found[1::2])),
                    )
