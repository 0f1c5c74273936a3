"""KP204 full-drain."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.inputs.amdgcn import InstructionClass
from kprof_analyzers.rules.about import WAITS, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import LATENCY, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Rule
from kprof_analyzers.scheduling.loops import spills_in
from kprof_analyzers.scheduling.waits import Wait, waits_of

# With fewer instructions between load and wait, too little work hides the hundreds of cycles of memory latency.
_CLOSE = 16
# From this number of wavefronts per SIMD on, other wavefronts fill the time of a wait.
_MANY_WAVES = 4
_LOAD_COUNTERS = ("vmcnt", "loadcnt")


class FullDrain(Rule):
    """A loop waits for all of its global loads right after issuing them.

    ## What it does
    Follows the wait counters through an innermost loop. Reports each `s_waitcnt vmcnt(0)` (`s_wait_loadcnt 0x0` on
    gfx12) that comes less than 16 instructions after the load from global memory that it waits for. Loads of the
    previous iteration, as in a pipelined loop, are far enough away. Loops that spill are skipped, because their reloads
    share the counter; KP301 reports them.

    ## Why it matters
    A load from HBM takes hundreds of cycles. With the wait right after the load, the wavefront stalls for all of them
    in every iteration. Only other wavefronts of the SIMD can fill the time.

    ## Evidence
    `distance`: instructions between the load and the wait. `cycles`: issue cycles between them. `load`, `wait`: the
    instructions. `loop`. `waves_per_simd`: from four on, the finding is a note, because others fill the time.

    ## What to try
    Write the loop so that Triton can pipeline it (no loads behind a branch, no pointers that depend on loaded data), or
    allow more wavefronts on the SIMD.
    """

    id: ClassVar[str] = "KP204"
    name: ClassVar[str] = "full-drain"
    severity: ClassVar[Severity] = Severity.WARNING
    about: ClassVar[About] = WAITS
    levers: ClassVar[tuple[Lever, ...]] = (Lever("num_stages", "higher", "where the loop is not pipelined", limit=2),)
    confirmed_by: ClassVar[RuleQuestion | None] = LATENCY

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        parents = {loop.parent for loop in facts.program.loops}
        for loop in facts.program.loops:
            if loop.index in parents or spills_in(facts.program, loop):
                continue
            drains = [wait for wait in waits_of(facts.program, loop, facts.arch) if _is_close(wait)]
            if not drains:
                continue
            worst = min(drains, key=lambda wait: wait.instructions)
            load, distance = worst.waits_for, worst.instructions
            assert load is not None
            right = f"{distance} instruction{'' if distance == 1 else 's'} behind" if distance else "right behind"
            waves = facts.occupancy.waves_per_simd if facts.occupancy is not None else None
            more = f", and {len(drains) - 1} more" if len(drains) > 1 else ""
            yield Costed(
                self.finding(
                    f"{worst.instruction.text} {right} {load.mnemonic} in loop {loop.header}{more}",
                    at=load,
                    severity=Severity.NOTE if waves is not None and waves >= _MANY_WAVES else Severity.WARNING,
                    evidence={
                        "loop": loop.header,
                        "distance": distance,
                        "cycles": worst.cycles,
                        "load": load.text,
                        "wait": worst.instruction.text,
                        "drains": len(drains),
                        "waves_per_simd": waves,
                    },
                ),
                ModelChange(leave_out=("memory_latency",), at_most=True),
            )


def _is_close(wait: Wait) -> bool:
    """Return whether a wait requires all loads to finish and comes right after the global load that it waits for."""
    load = wait.waits_for
    if load is None or wait.count != 0 or wait.counter not in _LOAD_COUNTERS or wait.instructions >= _CLOSE:
        return False
    return load.opcode.cls is InstructionClass.VMEM and load.opcode.is_load and not load.to_lds
