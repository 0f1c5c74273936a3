"""KP205 lds-wait-right-behind."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.inputs.amdgcn import InstructionClass
from kprof_analyzers.rules.about import WAITS, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import LATENCY, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Rule
from kprof_analyzers.scheduling.waits import Wait, waits_of

# With fewer instructions between read and wait, latency is not hidden: an LDS read takes about 100 cycles, issuing an
# instruction takes 4.
_CLOSE = 4
_ENOUGH = 4
_COUNTERS = ("lgkmcnt", "dscnt")


class LdsWaitRightBehind(Rule):
    """A loop with matrix work waits for LDS right after most of its LDS reads.

    ## What it does
    Follows the wait counters through an innermost loop with matrix instructions. Counts waits for `lgkmcnt(0)` (`dscnt`
    on gfx12) that come less than four instructions after the LDS read that they wait for. Reports a loop with at least
    four such waits per iteration, if they are most of its waits for LDS.

    ## Why it matters
    An LDS read takes about a hundred cycles. With the wait right after the read, no work of the same wavefront hides
    them. With several wavefronts on the SIMD, others fill the time and the cost is small.

    ## Evidence
    `drains`: number of such waits per iteration. `waits`: all waits for LDS reads. `distance`: minimum number of
    instructions between read and wait. `waves_per_simd`: if known.

    ## What to try
    Use more wavefronts on the SIMD, or fewer registers, so that the compiler's scheduler can hold several slices of the
    tile in registers at a time.
    """

    id: ClassVar[str] = "KP205"
    name: ClassVar[str] = "lds-wait-right-behind"
    severity: ClassVar[Severity] = Severity.NOTE
    about: ClassVar[About] = WAITS
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("BLOCK_K", "higher", "reads of the next slice can move up"),
        Lever("kpack", 2, "half of the reads"),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = LATENCY

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        parents = {loop.parent for loop in facts.program.loops}
        for loop in facts.program.loops:
            members = (facts.program.instructions[i] for i in loop.instructions)
            if loop.index in parents or not any(i.opcode.cls is InstructionClass.MATRIX for i in members):
                continue
            waits = [wait for wait in waits_of(facts.program, loop, facts.arch) if _for_lds(wait)]
            drains = [w for w in waits if w.count == 0 and w.instructions < _CLOSE and not w.matrix]
            if len(drains) < _ENOUGH or 2 * len(drains) <= len(waits):
                continue
            worst = min(drains, key=lambda wait: wait.instructions)
            waves = facts.occupancy.waves_per_simd if facts.occupancy is not None else None
            yield Costed(
                self.finding(
                    f"{len(drains)} of {len(waits)} waits for LDS in loop {loop.header} stand right behind the read",
                    at=worst.waits_for,
                    evidence={
                        "loop": loop.header,
                        "drains": len(drains),
                        "waits": len(waits),
                        "distance": worst.instructions,
                        "waves_per_simd": waves,
                    },
                ),
                ModelChange(leave_out=("lds_latency",), at_most=True),
            )


def _for_lds(wait: Wait) -> bool:
    read = wait.waits_for
    if read is None or wait.counter not in _COUNTERS:
        return False
    return read.opcode.cls is InstructionClass.LDS and read.opcode.is_load
