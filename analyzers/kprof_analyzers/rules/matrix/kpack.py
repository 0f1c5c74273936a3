"""KP503 kpack-misfit."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof.inputs.mlir import Scalar, Tensor
from kprof.inputs.mlir.layouts import DotOperand, Mfma
from kprof_analyzers.rules.rule import NotCheckedError, Rule

_WIDEST = 16


class KpackMisfit(Rule):
    """`kpack` keeps the LDS reads of an operand narrow, or has no effect any more.

    ## What it does
    On CDNA 2 and 3, reports operands of a product in a loop that are read from LDS 8 bytes a lane because each lane
    holds just one instruction's share of K (`kpack=1`). On CDNA 4, reports a `kpack` other than 1: Triton takes it
    for 1 there, since its instructions are twice as deep.

    ## Why it matters
    With `kpack=2` a lane holds the operands of two instructions next to each other and reads them with one
    `ds_read_b128`: half of the LDS instructions, and fewer clocks for the same bytes.

    ## Evidence
    `kpack`, `bytes`: that a lane reads at a time. `k_width`: neighbours along K in a lane. `operand`: 0 or 1.

    ## What to try
    `kpack=2`, where K of the tile is at least twice what an instruction takes. Look at LDS bank conflicts and at
    registers too; newer compilers call the knob deprecated.
    """

    id: ClassVar[str] = "KP503"
    name: ClassVar[str] = "kpack-misfit"
    severity: ClassVar[Severity] = Severity.NOTE
    families: ClassVar[tuple[str, ...]] = ("CDNA2", "CDNA3", "CDNA4")

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        kpack = facts.metadata.get("kpack", facts.specialization.options.get("kpack"))
        if facts.arch.triton.kpack is None:
            raise NotCheckedError(f"what kpack does on {facts.arch.name} is not known")
        if 2 not in facts.arch.triton.kpack:
            asked = facts.specialization.options.get("kpack", kpack)
            if isinstance(asked, int) and asked > 1:
                yield self.finding(f"kpack={asked} has no effect on {facts.arch.name}", evidence={"kpack": asked})
            return
        if facts.ttgir is None:
            raise NotCheckedError("there is no TTGIR")
        if not isinstance(kpack, int):
            raise NotCheckedError("kpack is not known")
        if kpack > 1:
            return
        for load in facts.ttgir.named("ttg.local_load"):
            held = next((t for t in load.result_types if isinstance(t, Tensor)), None)
            if load.loop is None or held is None or not isinstance(held.layout, DotOperand):
                continue
            layout, element = held.layout, held.element
            bits = element.bits if isinstance(element, Scalar) else None
            if not isinstance(layout.parent, Mfma) or not bits or layout.k_width * bits * 2 > 8 * _WIDEST:
                continue
            size = layout.parent.instr_shape[0 if layout.index == 0 else 1]
            if size < 16 or held.shape[-1 if layout.index == 0 else -2] < 2 * layout.k_width * (64 // size):
                continue
            yield self.finding(
                f"operand {layout.index} is read from LDS {layout.k_width * bits // 8} B a lane; kpack=2 allows "
                f"{layout.k_width * bits // 4}",
                at=load,
                evidence={
                    "kpack": kpack,
                    "bytes": layout.k_width * bits // 8,
                    "k_width": layout.k_width,
                    "operand": layout.index,
                },
            )
            return
