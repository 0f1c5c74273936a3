"""KP206 load-not-overlapped."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.inputs.amdgcn import InstructionClass
from kprof_analyzers.rules.about import GLOBAL_ACCESSES, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import LATENCY, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Rule
from kprof_analyzers.scheduling.loops import has_unstaged_product, spills_in
from kprof_analyzers.scheduling.waits import Wait, waits_of

_LOAD_COUNTERS = ("vmcnt", "loadcnt")


class LoadNotOverlapped(Rule):
    """A loop's global loads do not overlap with its matrix work.

    ## What it does
    Follows the wait counters through an innermost loop with matrix instructions. Reports the loop if no matrix
    instruction is issued between any global load and the wait for it: the loads then overlap with none of the
    wavefront's matrix work. Loops that spill (KP301) and single products with `num_stages=1` (KP207) are skipped,
    because their cause is known.

    ## Why it matters
    The time of an iteration is then the sum of memory latency and matrix work. Only another wavefront on the SIMD can
    fill the gap.

    ## Evidence
    `loads`: number of global loads that the loop waits for. `cycles`: maximum number of issue cycles between a load and
    its wait. `loop`.

    ## What to try
    Two wavefronts on the SIMD also help: one executes matrix work while the other waits for its loads.
    """

    id: ClassVar[str] = "KP206"
    name: ClassVar[str] = "load-not-overlapped"
    severity: ClassVar[Severity] = Severity.NOTE
    about: ClassVar[About] = GLOBAL_ACCESSES
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            "num_stages",
            "higher",
            "prefetches the next iteration's tiles; with two products in a row it may cost more than it gains",
            limit=2,
        ),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = LATENCY

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        if has_unstaged_product(facts):
            return
        parents = {loop.parent for loop in facts.program.loops}
        for loop in facts.program.loops:
            members = [facts.program.instructions[i] for i in loop.instructions]
            if spills_in(facts.program, loop):
                continue
            if loop.index in parents or not any(i.opcode.cls is InstructionClass.MATRIX for i in members):
                continue
            waits = [wait for wait in waits_of(facts.program, loop, facts.arch) if _for_load(wait)]
            if not waits or any(wait.matrix for wait in waits):
                continue
            first = waits[0]
            known = [wait.cycles for wait in waits if wait.cycles is not None]
            cycles = max(known) if len(known) == len(waits) else None
            yield Costed(
                self.finding(
                    f"no matrix instruction between the loads of loop {loop.header} and their waits"
                    + ("" if cycles is None else f"; they are {cycles} cycles of issue apart at most"),
                    at=first.waits_for,
                    evidence={"loop": loop.header, "loads": len(waits), "cycles": cycles},
                ),
                ModelChange(leave_out=("memory_latency",), at_most=True),
            )


def _for_load(wait: Wait) -> bool:
    load = wait.waits_for
    if load is None or wait.counter not in _LOAD_COUNTERS:
        return False
    return load.opcode.cls is InstructionClass.VMEM and load.opcode.is_load
