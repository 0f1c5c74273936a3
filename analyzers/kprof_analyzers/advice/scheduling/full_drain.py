"""KP204 full-drain."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof.inputs.amdgcn import Instruction, InstructionClass
from kprof_analyzers.advice.rule import Rule
from kprof_analyzers.scheduling.loops import own_instructions

# A wait this close behind the load has nothing to hide hundreds of cycles of memory latency behind.
_CLOSE = 16
_LOAD_COUNTERS = ("vmcnt", "loadcnt")


class FullDrain(Rule):
    """A loop waits for all of its global loads right after issuing them.

    ## What it does
    Finds `s_waitcnt vmcnt(0)` (`s_wait_loadcnt 0x0` on gfx12) in an innermost loop, at most 16 instructions
    behind the latest load from global memory.

    ## Why it matters
    A load from HBM takes hundreds of cycles. With the wait right behind it the wavefront stands still for all of
    them, in every iteration; only other wavefronts of the SIMD can fill the time.

    ## Evidence
    `distance`: instructions between the load and the wait. `load`, `wait`: as written. `loop`.

    ## What to try
    `num_stages=2` where the loop is not pipelined; a loop that Triton can pipeline (loads not behind a branch, no
    pointer that depends on loaded data); more wavefronts on the SIMD.
    """

    id: ClassVar[str] = "KP204"
    name: ClassVar[str] = "full-drain"
    severity: ClassVar[Severity] = Severity.WARNING

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        parents = {loop.parent for loop in facts.program.loops}
        for loop in facts.program.loops:
            if loop.index in parents:
                continue
            pairs = close_drains(own_instructions(facts.program, loop))
            if not pairs:
                continue
            load, wait = min(pairs, key=lambda pair: pair[1].index - pair[0].index)
            distance = wait.index - load.index
            behind = f"{distance} instruction{'' if distance == 1 else 's'} behind"
            more = f", and {len(pairs) - 1} more" if len(pairs) > 1 else ""
            yield self.finding(
                f"{wait.text} {behind} {load.mnemonic} in loop {loop.header}{more}",
                at=load,
                evidence={
                    "loop": loop.header,
                    "distance": distance,
                    "load": load.text,
                    "wait": wait.text,
                    "drains": len(pairs),
                },
            )


def close_drains(members: list[Instruction]) -> list[tuple[Instruction, Instruction]]:
    """Pairs of a global load and the full wait that follows it within a few instructions."""
    pairs = []
    latest: Instruction | None = None
    for instruction in members:
        cls = instruction.opcode.cls
        if cls is InstructionClass.VMEM and instruction.opcode.is_load and not instruction.to_lds:
            latest = instruction
        elif cls is InstructionClass.WAIT and latest is not None:
            drained = any(instruction.waits.get(counter) == 0 for counter in _LOAD_COUNTERS)
            if drained:
                if instruction.index - latest.index <= _CLOSE:
                    pairs.append((latest, instruction))
                latest = None
    return pairs
