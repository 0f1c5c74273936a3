"""KP603 transposed-operand."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Finding, Severity
from kprof.inputs.amdgcn import InstructionClass
from kprof_analyzers.memory.transposition import TransposedOperandUse, transposed_operands
from kprof_analyzers.rules.about import LDS_ACCESSES, About
from kprof_analyzers.rules.narrow_accesses import as_wide
from kprof_analyzers.rules.rule import Costed, Need, Rule
from kprof_analyzers.source_lines import location_of

_NARROW = 4


class TransposedOperand(Rule):
    """An operand of a product is transposed on its way through LDS, element by element.

    ## What it does
    Follows each operand of a product in a loop from global memory through LDS. Reports an operand that is contiguous in
    memory along M or N although the matrix instruction needs neighbours along K, so that LDS is read or written in
    pieces of at most 4 bytes per lane.

    ## Why it matters
    A tile that keeps its order moves 16 bytes per lane with one LDS instruction. A transposed fp16 tile needs eight
    times as many reads or writes, and instructions that merge the halves. gfx950 reads 16-bit tiles transposed in
    hardware (`ds_read_b64_tr_b16`); the rule does not report these.

    ## Evidence
    `operand`: 0 or 1. `width`: bytes that an LDS instruction moves per lane. `write`: whether the narrow access is the
    write. `instructions`: number of narrow LDS instructions per wavefront. `contiguous`: the tile's axis that is
    contiguous in memory.

    ## What to try
    Store the operand in memory with K contiguous (for weights once, ahead of time), or load it transposed so that
    `tl.trans` is free. If one tensor is the operand of two products with different needs, choose its layout for the
    product that is executed more often.
    """

    id: ClassVar[str] = "KP603"
    name: ClassVar[str] = "transposed-operand"
    severity: ClassVar[Severity] = Severity.WARNING
    fix: ClassVar[str] = "store the operand with K contiguous, or load it transposed and use tl.trans"
    about: ClassVar[About] = LDS_ACCESSES
    needs: ClassVar[tuple[Need, ...]] = (Need.TTGIR,)

    def check(self, facts: KernelFacts) -> Iterable[Finding | Costed]:
        """See :meth:`Rule.check`."""
        seen: set[str] = set()
        for found in transposed_operands(facts):
            place = str(location_of(found.load)[0])
            if place in seen:
                continue
            seen.add(place)
            verb = "written" if found.access.write else "read"
            finding = self.finding(
                f"operand {found.operand} is contiguous along {'MN'[found.operand]}, not K: LDS is {verb} "
                f"{found.access.width} B a lane at a time, {found.access.instructions} times",
                at=found.load,
                evidence={
                    "operand": found.operand,
                    "width": found.access.width,
                    "write": found.access.write,
                    "instructions": found.access.instructions,
                    "contiguous": found.contiguous,
                },
            )
            yield _straight(facts, found, finding)


def _straight(facts: KernelFacts, found: TransposedOperandUse, finding: Finding) -> Finding | Costed:
    """Return the finding together with the change from narrow to wide LDS accesses, whose gain the model predicts.

    The instructions that merge the parts of narrow accesses are assumed to remain.
    """
    narrow = [
        i
        for i in facts.program.instructions
        if i.opcode.cls is InstructionClass.LDS
        and (i.opcode.is_store if found.access.write else i.opcode.is_load)
        and 0 < (i.opcode.bytes_per_lane or 0) // i.opcode.parts <= _NARROW
        and (place := location_of(i)[0]) is not None
        and (place.file, place.line) in found.lines
    ]
    wide: ModelChange = as_wide(narrow)
    return Costed(finding, wide) if narrow else finding
