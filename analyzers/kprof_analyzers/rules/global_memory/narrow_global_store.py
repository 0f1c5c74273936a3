"""KP105 narrow-global-store."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Severity
from kprof_analyzers.rules.about import GLOBAL_STORES, About
from kprof_analyzers.rules.narrow_accesses import narrow_accesses
from kprof_analyzers.rules.rule import Costed, Rule
from kprof_analyzers.source_lines import other_lines


class NarrowGlobalStore(Rule):
    """A loop, or straight-line code that counts, stores to global memory in small pieces.

    ## What it does
    Looks at the vector stores as KP101 does at loads: in each innermost loop, and in other code where at least an
    eighth of the kernel's memory instructions are executed. Reported are lines with at least four stores of 4 bytes or
    less a lane. Stores that are narrow for the same reason as loads are named in the finding about those.

    ## Why it matters
    A wavefront moves 16 bytes a lane with one `global_store_dwordx4` or `buffer_store_dwordx4`. In pieces it takes more
    instructions and slots of the memory pipeline, and L2 merges writes of parts of lines.

    ## Evidence
    `widths`: bytes per lane to number of stores. `bytes_per_lane`: what they move in all. `loop`, null outside of
    loops. `why`: what the TTGIR tells of the cause, as in KP101; null where it tells nothing: often the tile has the
    layout of a product's result, whose lanes hold a column each. `divisible`, as in KP101.

    ## What to try
    What KP101 says of addresses and masks. For the result of a product, a conversion to a layout along the rows before
    the store (`tl.store` of a tile that went through an element-wise operation with a loaded one, or a transposed
    product), which costs a pass through LDS.
    """

    id: ClassVar[str] = "KP105"
    name: ClassVar[str] = "narrow-global-store"
    severity: ClassVar[Severity] = Severity.NOTE
    about: ClassVar[About] = GLOBAL_STORES

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        for found in narrow_accesses(facts):
            if all(i.opcode.is_store for i in found.instructions):
                yield Costed(
                    self.finding(
                        found.words,
                        at=found.place,
                        fix=found.fix_for(facts.arguments),
                        evidence=found.evidence,
                        related=other_lines(found.instructions, found.place),
                    ),
                    found.widened,
                )
