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
    """A loop, or other significant code, stores to global memory in small pieces.

    ## What it does
    Looks at vector stores as KP101 does at loads: in each innermost loop, and in other code that executes at least an
    eighth of the kernel's memory instructions. Reports lines with at least four stores of at most 4 bytes per lane.
    Stores that are narrow for the same reason as loads are part of the loads' finding.

    ## Why it matters
    A wavefront moves 16 bytes per lane with one `global_store_dwordx4` or `buffer_store_dwordx4`. Smaller pieces need
    more instructions and slots of the memory pipeline, and L2 must merge writes to parts of lines.

    ## Evidence
    `widths`: bytes per lane to number of stores. `bytes_per_lane`: total bytes moved. `loop`: null outside of loops.
    `why`: the cause according to the TTGIR, as in KP101; null if unknown. In that case the tile often has the layout of
    a product's result, where each lane holds a column. `divisible`: as in KP101.

    ## What to try
    Apply the advice of KP101 for addresses and masks. For the result of a product, convert to a layout along the rows
    before the store: `tl.store` a tile that went through an element-wise operation with a loaded tile, or a transposed
    product. The conversion costs a pass through LDS.
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
