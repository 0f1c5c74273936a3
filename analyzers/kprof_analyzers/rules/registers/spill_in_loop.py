"""KP301 spill-in-loop."""

from collections.abc import Iterable
from typing import ClassVar

from msgspec import UNSET

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Location, Severity
from kprof.inputs.amdgcn import Instruction, InstructionClass
from kprof_analyzers.registers.scratch import has_no_spills
from kprof_analyzers.rules.about import SCRATCH_ACCESSES, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import SCRATCH, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Rule
from kprof_analyzers.scheduling.loops import is_scratch, own_instructions
from kprof_analyzers.source_lines import busiest, location_of

# From this ratio to the loop's other vector memory and LDS accesses on, scratch traffic is significant.
_ERROR_SHARE = 0.25


class SpillInLoop(Rule):
    """Registers are spilled to scratch inside a loop.

    ## What it does
    Counts scratch loads and stores inside of each loop. Names the source line with most of them.

    ## Why it matters
    A wavefront needs more VGPRs than it can get, so values are stored to scratch memory and reloaded in every
    iteration. Scratch accesses use the vector memory path and share the counter `vmcnt` with prefetched loads. Because
    memory returns data in order, a reload waits for all loads before it.

    ## Evidence
    `scratch_loads`, `scratch_stores`: accesses in one iteration. `vgpr_spills`: of the whole kernel. `lines`: number of
    accesses per source line. `share`: ratio to the loop's other memory accesses; from 0.25 on, the finding is an error.
    A few spills at the edge of a loop may cost nothing: the fastest tile of a published GEMM sweep on an MI300X has
    about 115.
    """

    id: ClassVar[str] = "KP301"
    name: ClassVar[str] = "spill-in-loop"
    severity: ClassVar[Severity] = Severity.WARNING
    about: ClassVar[About] = SCRATCH_ACCESSES
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("BLOCK_M", "lower", "a smaller tile holds fewer registers"),
        Lever("BLOCK_N", "lower", "a smaller tile holds fewer registers"),
        Lever("num_warps", "higher", "the same tile on more wavefronts"),
        Lever("waves_per_eu", "lower", "lets the compiler use more registers"),
        Lever("num_stages", "lower", "fewer tiles in registers"),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = SCRATCH
    explains: ClassVar[tuple[str, ...]] = (
        "vgpr_spills",
        "sgpr_spills",
        "scratch_bytes",
    )
    restates: ClassVar[tuple[str, ...]] = ("loop_spills",)
    spills: ClassVar[bool] = True
    lacks_room: ClassVar[bool] = True

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        if has_no_spills(facts):
            return
        for loop in facts.program.loops:
            members = own_instructions(facts.program, loop)
            scratch = [i for i in members if is_scratch(i)]
            if scratch:
                yield self._report(facts, loop.header, members, scratch)

    def _report(
        self, facts: KernelFacts, header: str, members: list[Instruction], scratch: list[Instruction]
    ) -> Costed:
        other = sum(i.opcode.cls in {InstructionClass.VMEM, InstructionClass.LDS} for i in members)
        share = len(scratch) / max(other, 1)
        spills = facts.resources.vgpr_spills
        place, lines = busiest(scratch)
        spilled = f"{spills} VGPRs spilled, " if spills not in {None, UNSET, 0} else ""
        return Costed(
            self.finding(
                f"{spilled}{len(scratch)} scratch accesses in each iteration of loop {header}",
                at=place,
                severity=Severity.ERROR if share >= _ERROR_SHARE else Severity.WARNING,
                related=_other_spill_lines(scratch, place),
                evidence={
                    "loop": header,
                    "scratch_loads": sum(i.opcode.is_load for i in scratch),
                    "scratch_stores": sum(i.opcode.is_store for i in scratch),
                    "vgpr_spills": None if spills is UNSET else spills,
                    "share": round(share, 3),
                    "lines": lines,
                },
            ),
            ModelChange(gone=tuple(i.index for i in scratch)),
        )


def _other_spill_lines(scratch: list[Instruction], place: Instruction | None) -> list[Location]:
    """Return the other lines with spill traffic, sorted by decreasing traffic."""
    first = location_of(place)[0] if place is not None else None
    counts: dict[Location, int] = {}
    for instruction in scratch:
        location = location_of(instruction)[0]
        if location is not None and (first is None or (location.file, location.line) != (first.file, first.line)):
            key = Location(file=location.file, line=location.line)
            counts[key] = counts.get(key, 0) + 1
    return sorted(counts, key=lambda where: -counts[where])
