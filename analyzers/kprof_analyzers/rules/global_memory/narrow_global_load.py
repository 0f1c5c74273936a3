"""KP101 narrow-global-load."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Severity
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.dataflow import is_load
from kprof_analyzers.rules.about import GLOBAL_ACCESSES, About
from kprof_analyzers.rules.global_memory.gapped_access import GappedGlobalAccess
from kprof_analyzers.rules.narrow_accesses import narrow_accesses
from kprof_analyzers.rules.questions import BUSY, UNITS, WAITING, Answer, Numbers, RuleQuestion, busy_unit
from kprof_analyzers.rules.rule import Costed, Rule
from kprof_analyzers.source_lines import busiest, other_lines


def _memory(numbers: Numbers) -> Answer:
    hbm, wait = numbers["hbm_percent_of_peak"], numbers["wait_share"]
    text = f"HBM at {hbm:.0f} % of its peak, wavefronts waited {wait:.0f} % of their time"
    if hbm >= BUSY:
        return False, f"{text}: the bandwidth is reached all the same"
    if unit := busy_unit(numbers):
        return False, f"{text}, but {unit}"
    return wait >= WAITING, text


class NarrowGlobalLoad(Rule):
    """A loop, or other significant code, loads from global memory in small pieces.

    ## What it does
    Looks at the vector loads in each innermost loop, and in other code that executes at least an eighth of the kernel's
    memory instructions over all iterations. Reports source lines with at least four loads of at most 4 bytes per lane,
    with the widths found; lines with the same cause are one finding. If the TTGIR describes the tiles, the rule ignores
    tiles that a wavefront can load with one instruction (scales, indices), tiles of which a lane holds at most 4 bytes,
    tiles with no more loads than their size requires, and tiles gathered by an index or a division. KP103 reports tiles
    without a contiguous axis.

    ## Why it matters
    A wavefront moves 16 bytes per lane with one `global_load_dwordx4` or `buffer_load_dwordx4`. In pieces of 2 or 4
    bytes, the same data needs 4 to 8 times as many instructions, address registers and slots of the memory pipeline.

    ## Evidence
    `widths`: for each number of bytes per lane, the number of accesses. `bytes_per_lane`: total bytes moved. `loop`:
    null outside of loops. `why`: the cause according to the TTGIR: no contiguous axis, short rows, an address that is
    not known to be a multiple of 16 bytes (with the arguments responsible), a mask that changes within 16 bytes, or
    both of the last two; null if unknown. `divisible`: the arguments that the fix makes multiples of 16, if the fix
    requires nothing else; kprof then compiles the kernel with such arguments. Stores that are narrow for the same
    reason are counted with the loads.

    ## What to try
    Make contiguity visible to the compiler: divisibility by 16 of strides and pointers (`tl.multiple_of`,
    `tl.max_contiguous`), the fastest dimension along the last axis of the block, and a mask that is constant along it.
    """

    id: ClassVar[str] = "KP101"
    name: ClassVar[str] = "narrow-global-load"
    severity: ClassVar[Severity] = Severity.WARNING
    about: ClassVar[About] = GLOBAL_ACCESSES
    confirmed_by: ClassVar[RuleQuestion | None] = RuleQuestion(("hbm_percent_of_peak", "wait_share"), _memory, UNITS)

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        for found in narrow_accesses(facts):
            loads = [i for i in found.instructions if i.opcode.is_load]
            if loads and not any(is_load(access) and _is_gapped(access, facts) for access in found.tiles):
                place = busiest(loads)[0]
                yield Costed(
                    self.finding(
                        found.words,
                        at=place,
                        fix=found.fix_for(facts.arguments),
                        evidence=found.evidence,
                        related=other_lines(found.instructions, place),
                    ),
                    found.widened,
                )


def _is_gapped(load: Operation, facts: KernelFacts) -> bool:
    """Return whether KP103 (gapped access) reports the load for the same cause."""
    return any(True for _ in GappedGlobalAccess().judge(load, facts))
