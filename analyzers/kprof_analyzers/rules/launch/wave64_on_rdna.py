"""KP407 wave64-where-wave32."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import InstructionClass
from kprof_analyzers.rules.about import KERNEL, About
from kprof_analyzers.rules.rule import Need, Rule


class Wave64WhereWave32(Rule):
    """A kernel was compiled for wavefronts of 64 lanes on hardware whose vector unit has 32.

    ## What it does
    Reports wavefronts of 64 lanes on architectures that support both sizes (RDNA). CDNA and gfx1250 support only one
    size. By default, Triton uses 64 lanes on CDNA and 32 on RDNA; HIP uses 64 with `-mwavefrontsize64`.

    ## Why it matters
    A vector instruction of 64 lanes is issued twice, and a wavefront needs twice the registers, so fewer wavefronts fit
    on a SIMD. Branches diverge over 64 lanes instead of 32.

    No gain is given: both modes compute the same work-items. The number of registers and the branch divergence differ,
    but only another compile can show by how much.

    ## Evidence
    `wavefront_size`, `vector_instructions`.

    ## What to try
    Remove `-mwavefrontsize64`. The option pays off only if 64 lanes exchange data inside a wavefront, or if scalar
    work dominates, which 64 lanes then share.
    """

    id: ClassVar[str] = "KP407"
    name: ClassVar[str] = "wave64-where-wave32"
    severity: ClassVar[Severity] = Severity.NOTE
    fix: ClassVar[str] = "compile without -mwavefrontsize64"
    about: ClassVar[About] = KERNEL
    needs: ClassVar[tuple[Need, ...]] = (Need.WAVEFRONT_SIZE,)

    def absent_from(self, arch: Architecture) -> str | None:
        """See :meth:`Rule.absent_from`."""
        sizes = arch.wavefront_sizes
        return None if set(sizes) == {32, 64} else f"wavefronts of {arch.name} have {sizes[0]} lanes only"

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        size = facts.resources.wavefront_size
        if size == 64:
            vector = sum(i.opcode.cls is InstructionClass.VALU for i in facts.program.instructions)
            yield self.finding(
                f"wavefronts of 64 lanes on {facts.arch.name}: {vector:,} vector instructions are issued twice",
                evidence={"wavefront_size": size, "vector_instructions": vector},
            )
