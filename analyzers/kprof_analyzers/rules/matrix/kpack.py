"""KP503 kpack-misfit."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Finding, Severity
from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import InstructionClass
from kprof.inputs.mlir import Operation, Scalar, TensorType
from kprof.inputs.mlir.layouts import DotOperand, Mfma
from kprof_analyzers.rules.about import LDS_ACCESSES, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.narrow_accesses import as_wide
from kprof_analyzers.rules.questions import LDS, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Need, NotCheckedError, Rule, known
from kprof_analyzers.source_lines import on_line_of

_WIDEST = 16


class KpackMisfit(Rule):
    """`kpack` keeps the LDS reads of an operand narrow, or has no effect on the architecture.

    ## What it does
    If Triton supports `kpack=2` for the architecture (CDNA 1 to 3), reports operands of a product in a loop that are
    read from LDS with 8 bytes per lane, because each lane holds the K values of only one instruction (`kpack=1`). On
    other architectures, reports a `kpack` other than 1: on CDNA 4 Triton uses 1 instead, because its instructions have
    twice the K, and on RDNA the option has no effect.

    ## Why it matters
    With `kpack=2`, a lane holds the operands of two instructions next to each other and reads them with one
    `ds_read_b128`. This halves the number of LDS instructions, and needs fewer cycles for the same bytes.

    ## Evidence
    `kpack`. `bytes`: number of bytes that a lane reads with one instruction. `k_width`: number of neighbours along K in
    a lane. `operand`: 0 or 1.

    ## What to try
    The value 2 requires that K of the tile is at least twice the K of an instruction. Newer compilers call the option
    deprecated.
    """

    id: ClassVar[str] = "KP503"
    name: ClassVar[str] = "kpack-misfit"
    severity: ClassVar[Severity] = Severity.NOTE
    about: ClassVar[About] = LDS_ACCESSES
    needs: ClassVar[tuple[Need, ...]] = (Need.TTGIR,)
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            "kpack",
            2,
            "look at LDS bank conflicts and registers too",
        ),
        Lever("kpack", 1, "what Triton makes of it", when=lambda facts: 2 not in (facts.arch.triton.kpack or ())),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = LDS

    def absent_from(self, arch: Architecture) -> str | None:
        """See :meth:`Rule.absent_from`."""
        if arch.triton.kpack is None:
            raise NotCheckedError(f"what kpack does on {arch.name} is not known")
        return None

    def check(self, facts: KernelFacts) -> Iterable[Finding | Costed]:
        """See :meth:`Rule.check`."""
        kpack = facts.metadata.get("kpack", facts.specialization.options.get("kpack"))
        if 2 not in known(facts.arch.triton.kpack):
            asked = facts.specialization.options.get("kpack", kpack)
            if isinstance(asked, int) and asked > 1:
                yield self.finding(f"kpack={asked} has no effect on {facts.arch.name}", evidence={"kpack": asked})
            return
        module = known(facts.ttgir)
        if not isinstance(kpack, int):
            raise NotCheckedError("kpack is not known")
        if kpack > 1:
            return
        for load in module.named("ttg.local_load"):
            held = next((t for t in load.result_types if isinstance(t, TensorType)), None)
            if load.loop is None or held is None or not isinstance(held.layout, DotOperand):
                continue
            layout, element = held.layout, held.element
            bits = element.bits if isinstance(element, Scalar) else None
            if not isinstance(layout.parent, Mfma) or not bits or layout.k_width * bits * 2 > 8 * _WIDEST:
                continue
            size = layout.parent.instr_shape[0 if layout.index == 0 else 1]
            if size < 16 or held.shape[-1 if layout.index == 0 else -2] < 2 * layout.k_width * (64 // size):
                continue
            finding = self.finding(
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
            yield _in_halves(facts, load, finding)
            return


def _in_halves(facts: KernelFacts, load: Operation, finding: Finding) -> Finding | Costed:
    """Add the gain of merging the 8-byte reads on the load's line into 16-byte reads, without bank conflicts.

    The gain is an upper bound, because the compiler may already have paired reads into one instruction
    (``ds_read2_b64``).
    """
    reads = [
        i
        for i in on_line_of(facts.program.instructions, load)
        if i.opcode.cls is InstructionClass.LDS
        and i.opcode.is_load
        and (i.opcode.bytes_per_lane or 0) // i.opcode.parts == _WIDEST // 2
    ]
    if not reads:
        return finding
    wide = as_wide(reads)
    return Costed(finding, ModelChange(gone=wide.gone, wide=wide.wide, at_most=True))
