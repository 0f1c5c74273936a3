"""Frozen records of an architecture's facts about compiling and issuing code; see also :mod:`kprof.hardware.model`."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class LlvmFacts:
    """Facts about the architecture that LLVM and its tools define.

    Attributes:
        elf_machine: ``EF_AMDGPU_MACH`` value in the low byte of ``e_flags``.
        sgpr_extra: number of scalar registers by which ``.sgpr_count`` exceeds ``.amdhsa_next_free_sgpr`` in a kernel
            that uses neither VCC nor scratch; they hold flat scratch or the XNACK mask.
        sramecc, xnack: whether the name that the driver reports contains this feature, as ``gfx942:sramecc+:xnack-``
            does; ``None``: not known.
        oldest_objdump: major version of the oldest llvm-objdump that disassembles the architecture correctly; ``None``:
            any that supports it.
    """

    elf_machine: int
    sgpr_extra: int
    sramecc: bool | None = None
    xnack: bool | None = None
    oldest_objdump: int | None = None


@dataclass(frozen=True)
class IssueRules:
    """Issue rates of a SIMD.

    Attributes:
        cycles: minimum cycles between two instructions of one wavefront.
        valu_lanes: number of lanes of an ordinary vector instruction that a SIMD processes per cycle.
        matrix_unit: True if matrix instructions run on a separate unit instead of the vector unit.
    """

    cycles: int
    valu_lanes: int
    matrix_unit: bool

    def valu_cycles(self, lanes: int) -> int:
        """Return the cycles for which a vector instruction of this many lanes keeps its SIMD busy."""
        return max(1, lanes // self.valu_lanes)


@dataclass(frozen=True)
class TritonFacts:
    """Effects of Triton's options and switches on the architecture. ``None``: not known.

    Attributes:
        kpack: values of the option that Triton uses unchanged; empty if the option changes no instruction.
        matrix_instr_nonkdim: values of the option with different effects; empty if the option changes no instruction.
        max_num_ctas: maximum number of workgroups in a cluster; 1 without clusters.
        switches: for each environment switch that changes the architecture's code, the release since which it is on by
            default; empty if it never is.
    """

    kpack: tuple[int, ...] | None = None
    matrix_instr_nonkdim: tuple[int, ...] | None = None
    max_num_ctas: int | None = None
    switches: Mapping[str, tuple[int, ...]] | None = None

    def is_on(self, switch: str, version: tuple[int, int]) -> bool | None:
        """Return whether a switch is on by default; ``None`` if not known."""
        if self.switches is None:
            return None
        since = self.switches.get(switch)
        return bool(since) and version >= since if since is not None else False
