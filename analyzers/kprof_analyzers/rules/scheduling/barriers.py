"""KP208 many-barriers-in-loop."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.inputs.amdgcn import InstructionClass, InstructionKind
from kprof_analyzers.matrix_instructions import matrix_instruction
from kprof_analyzers.rules.about import BARRIERS, About
from kprof_analyzers.rules.rule import Costed, Rule
from kprof_analyzers.scheduling.loops import own_instructions
from kprof_analyzers.source_lines import busiest

# Two tiles that are each written and read in turn need a barrier before and behind either.
_NEEDED = 4
_CYCLES = 512


class ManyBarriersInLoop(Rule):
    """The wavefronts of a workgroup meet more often than their work in between is worth.

    ## What it does
    Counts `s_barrier` in each innermost loop, outside conditional parts too. Reports more than four in an iteration
    when fewer than 512 cycles of matrix work stand between them on average. Loops with priorities (`s_setprio`), such
    as block ping-pong, place their barriers on purpose and are left out.

    ## Why it matters
    At each barrier all wavefronts wait for the slowest. What each of them could have overlapped stops there.

    ## Evidence
    `barriers`, `matrix_cycles`: in an iteration. `lines`: barriers for each source line. `num_warps`.

    ## What to try
    Each conversion or reduction through LDS brings one or two: keep reductions inside a wavefront (rows within one
    wavefront), do the conversion before the loop, or fuse small steps into one with a larger block. A workgroup of one
    wavefront needs none.
    """

    id: ClassVar[str] = "KP208"
    name: ClassVar[str] = "many-barriers-in-loop"
    severity: ClassVar[Severity] = Severity.NOTE
    fix: ClassVar[str] = (
        "reduce tiles with as many rows as wavefronts or more, so that a row stays inside one; num_warps=1 needs no "
        "barrier"
    )
    about: ClassVar[About] = BARRIERS

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        parents = {loop.parent for loop in facts.program.loops}
        for loop in facts.program.loops:
            if loop.index in parents:
                continue
            members = own_instructions(facts.program, loop)
            barriers = [
                i for i in members if i.opcode.cls is InstructionClass.BARRIER and "signal" not in i.opcode.name
            ]
            if len(barriers) <= _NEEDED or any(i.opcode.kind is InstructionKind.PRIORITY for i in members):
                continue
            matrix = (i for i in members if i.opcode.cls is InstructionClass.MATRIX)
            cycles = sum(known.cycles for i in matrix if (known := matrix_instruction(facts.arch, i)) is not None)
            if cycles >= _CYCLES * len(barriers):
                continue
            place, lines = busiest(barriers)
            work = f" for {cycles:,} cycles of matrix work" if cycles else ", and no matrix work"
            yield Costed(
                self.finding(
                    f"{len(barriers)} barriers an iteration of loop {loop.header}{work}",
                    at=place,
                    evidence={
                        "loop": loop.header,
                        "barriers": len(barriers),
                        "matrix_cycles": cycles,
                        "lines": lines,
                        "num_warps": facts.resources.num_warps if isinstance(facts.resources.num_warps, int) else None,
                    },
                ),
                ModelChange(gone=tuple(i.index for i in barriers), at_most=True),
            )
