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

# Number of barriers per iteration that is considered necessary: alternately writing and reading two tiles takes two
# barriers per tile.
_NEEDED = 4
_CYCLES = 512


class ManyBarriersInLoop(Rule):
    """The wavefronts of a workgroup wait at barriers too often, with little matrix work in between.

    ## What it does
    Counts `s_barrier` in each innermost loop, including its conditional parts. Reports more than four per iteration if
    they are on average less than 512 cycles of matrix work apart. Loops with priorities (`s_setprio`), such as block
    ping-pong, have their barriers on purpose and are skipped.

    ## Why it matters
    At each barrier all wavefronts wait for the slowest, and no work can overlap across the barrier.

    ## Evidence
    `barriers`, `matrix_cycles`: per iteration. `lines`: number of barriers per source line. `num_warps`.

    ## What to try
    Each conversion or reduction through LDS adds one or two barriers. Keep reductions inside a wavefront (rows within
    one wavefront), convert before the loop, or merge small steps into one with a larger block. A workgroup with a
    single wavefront needs no barriers.
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
