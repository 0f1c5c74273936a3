"""KP304 agpr-copies-in-loop."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import InstructionClass, InstructionKind
from kprof_analyzers.matrix_instructions import matrix_instruction
from kprof_analyzers.rules.about import AGPR_COPIES, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.rule import Costed, NotCheckedError, Rule, known
from kprof_analyzers.scheduling.loops import own_instructions
from kprof_analyzers.source_lines import busiest

# Minimum ratio of the issue cycles of copies to the cycles of the loop's matrix work.
_SHARE = 0.1
_ENOUGH = 8


class AgprCopiesInLoop(Rule):
    """A loop moves values between VGPRs and AGPRs.

    ## What it does
    Counts `v_accvgpr_read`, `v_accvgpr_write` and `v_accvgpr_mov` in each innermost loop with matrix instructions.
    Reports a loop with at least eight if issuing them takes at least a tenth of the cycles of its matrix work.

    ## Why it matters
    AGPRs are meant for accumulators that stay in them. If they hold values for which there are not enough VGPRs, each
    use of a value costs a copy on the vector pipe. This is spilling, but the compiler does not count it as such.

    ## Evidence
    `copies`, `matrix`: instructions in one iteration. `share`: cycles of the copies divided by those of the matrix
    work. `lines`: number of copies per source line.
    """

    id: ClassVar[str] = "KP304"
    name: ClassVar[str] = "agpr-copies-in-loop"
    severity: ClassVar[Severity] = Severity.WARNING
    about: ClassVar[About] = AGPR_COPIES
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("BLOCK_M", "lower", "a smaller tile holds fewer registers"),
        Lever("BLOCK_N", "lower", "a smaller tile holds fewer registers"),
        Lever("num_warps", "higher", "the same tile on more wavefronts"),
        Lever("waves_per_eu", "lower", "lets the compiler use more registers"),
    )

    def absent_from(self, arch: Architecture) -> str | None:
        """See :meth:`Rule.absent_from`."""
        if not arch.occupancy.max_agprs:
            return f"{arch.name} has no AGPRs"
        if arch.issue is None:
            raise NotCheckedError(f"how {arch.name} issues instructions is not known")
        return None

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        issue = known(facts.arch.issue)
        cycles_of_copy = issue.valu_cycles(facts.arch.wavefront_size)
        parents = {loop.parent for loop in facts.program.loops}
        for loop in facts.program.loops:
            if loop.index in parents:
                continue
            members = own_instructions(facts.program, loop)
            copies = [i for i in members if i.opcode.kind is InstructionKind.ACC_COPY]
            matrix = [i for i in members if i.opcode.cls is InstructionClass.MATRIX]
            cycles = sum(m.cycles for i in matrix if (m := matrix_instruction(facts.arch, i)) is not None)
            if not cycles or len(copies) < _ENOUGH or cycles_of_copy * len(copies) < _SHARE * cycles:
                continue
            share = cycles_of_copy * len(copies) / cycles
            place, lines = busiest(copies)
            yield Costed(
                self.finding(
                    f"{len(copies)} copies between VGPRs and AGPRs for {len(matrix)} matrix instructions in loop "
                    f"{loop.header}: {100 * share:.0f} % of their cycles",
                    at=place,
                    evidence={
                        "loop": loop.header,
                        "copies": len(copies),
                        "matrix": len(matrix),
                        "share": round(share, 3),
                        "lines": lines,
                    },
                ),
                ModelChange(gone=tuple(i.index for i in copies)),
            )
