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
    """A loop, or straight-line code that counts, loads from global memory in small pieces.

    ## What it does
    Looks at the vector loads in each innermost loop, and in other code where at least an eighth of the kernel's memory
    instructions are executed, iterations counted. When one source line makes at least four loads of 4 bytes or less a
    lane, it is reported with the widths found; lines for which the same is to blame are one finding. Where the TTGIR
    tells the tiles, some are left alone: those that are no more than one wavefront fetches at once (scales, indices),
    those of which a lane holds no more than 4 bytes, those with no more loads than tiles of their size take, and those
    gathered by an index or a division. Tiles without a contiguous axis are left to KP103.

    ## Why it matters
    A wavefront moves 16 bytes a lane with one `global_load_dwordx4` or `buffer_load_dwordx4`; in pieces of 2 or 4
    bytes the same data takes 4 to 8 instructions, address registers and slots of the memory pipeline.

    ## Evidence
    `widths`: bytes per lane to number of accesses. `bytes_per_lane`: what they move in all. `loop`, null outside of
    loops. `why`: what the TTGIR tells of the cause: no contiguous axis, short rows, an address that is not known to be
    a multiple of 16 bytes (with the arguments to blame), a mask that changes inside 16 bytes, or both of these; null
    where it tells nothing. `divisible`: the arguments that the fix makes multiples of 16, where it asks for no more
    than that; kprof compiles the kernel with them so. Stores that are narrow for the same cause are counted with the
    loads.

    ## What to try
    Make contiguity visible: divisibility by 16 of strides and pointers (`tl.multiple_of`, `tl.max_contiguous`), the
    fastest dimension along the last axis of the block, a mask that is constant along it.
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
    """Whether the rule about gapped access reports the load, with the same cause."""
    return any(True for _ in GappedGlobalAccess().judge(load, facts))
