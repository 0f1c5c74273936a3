"""How code is compiled for an architecture and issued by it: frozen records, as in :mod:`kprof.hardware.model`."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class LlvmFacts:
    """How LLVM sees the architecture.

    Attributes:
        elf_machine: ``EF_AMDGPU_MACH`` value in the low byte of ``e_flags``.
        sgpr_extra: scalar registers that ``.sgpr_count`` counts beyond ``.amdhsa_next_free_sgpr`` in a kernel that uses
            neither VCC nor scratch: flat scratch or the XNACK mask.
        sramecc, xnack: whether the name that the driver gives says so: ``gfx942:sramecc+:xnack-``; ``None``: not known.
        oldest_objdump: major version of the first llvm-objdump that reads the architecture's code right; ``None``: any
            that knows it.
    """

    elf_machine: int
    sgpr_extra: int
    sramecc: bool | None = None
    xnack: bool | None = None
    oldest_objdump: int | None = None


@dataclass(frozen=True)
class IssueRules:
    """How a SIMD issues instructions.

    Attributes:
        cycles: cycles between two instructions of one wavefront.
        valu_lanes: lanes of an ordinary vector instruction that a SIMD does in a cycle.
        matrix_unit: matrix instructions have a unit of their own beside the vector unit.
    """

    cycles: int
    valu_lanes: int
    matrix_unit: bool

    def valu_cycles(self, lanes: int) -> int:
        """Cycles for which a vector instruction of so many lanes keeps its SIMD."""
        return max(1, lanes // self.valu_lanes)


@dataclass(frozen=True)
class TritonFacts:
    """What Triton's options and switches do on the architecture. ``None``: not known.

    Attributes:
        kpack: values that Triton takes as they are; empty where the option changes no instruction.
        matrix_instr_nonkdim: values that make a difference; empty where the option changes no instruction.
        max_num_ctas: workgroups of the largest cluster; 1 where there are no clusters.
        switches: environment switch that changes code here to the release since which it is on by default, empty where
            it never is.
    """

    kpack: tuple[int, ...] | None = None
    matrix_instr_nonkdim: tuple[int, ...] | None = None
    max_num_ctas: int | None = None
    switches: Mapping[str, tuple[int, ...]] | None = None

    def is_on(self, switch: str, version: tuple[int, int]) -> bool | None:
        """Whether a switch is on when it is not set; ``None`` where that is not known."""
        if self.switches is None:
            return None
        since = self.switches.get(switch)
        return bool(since) and version >= since if since is not None else False
