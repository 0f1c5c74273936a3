"""Compute how many wavefronts of a kernel a SIMD holds, by three methods, and which reductions would allow more.

The method ``hardware`` computes the occupancy of a real launch, ``llvm`` the number that the compiler prints, and
``guide`` uses the formula of AMD's tuning guide.
"""

from typing import Any

from kprof.document import Occupancy
from kprof.errors import KprofError
from kprof.hardware.machine import Architecture
from kprof_analyzers.occupancy.request import OccupancyInput, from_registers

__all__ = ["METHODS", "OccupancyInput", "allocated_vgprs", "from_kernel", "from_registers", "occupancy"]

METHODS = ("hardware", "llvm", "guide")


def occupancy(demand: OccupancyInput, method: str = "hardware", llvm: int | None = None) -> Occupancy:
    """Return the occupancy of a kernel; with the method ``hardware``, also the reductions that would increase it.

    Args:
        demand: the kernel's resources and its launch.
        method: one of :data:`METHODS`.
        llvm: LLVM's major version for the method ``llvm``; ``None`` selects the newest known version.

    Raises:
        KprofError: if the method is unknown, or the guide does not cover the architecture.
    """
    from kprof_analyzers.occupancy import guide, hardware, steps
    from kprof_analyzers.occupancy import llvm as by_llvm

    if method == "llvm":
        return by_llvm.occupancy(demand, by_llvm.ROUNDING_LLVM if llvm is None else llvm)
    if method == "guide":
        return guide.occupancy(demand)
    if method != "hardware":
        raise KprofError(f"no method {method!r}; there are {', '.join(METHODS)}")
    from msgspec import UNSET
    from msgspec.structs import replace

    return replace(hardware.occupancy(demand), next_step=steps.next_step(demand) or UNSET)


def from_kernel(
    registers: Any, *, lds_bytes: int, num_warps: int, arch: Architecture, mode: str | None = None
) -> Occupancy:
    """Return the occupancy of a compiled kernel by the hardware's allocation.

    The allocation follows ``.amdhsa_next_free_vgpr`` and not ``.vgpr_count``. The former includes the AGPRs of a
    unified register file and the padding from ``waves_per_eu``.

    Args:
        registers: an object with the fields of :class:`kprof.inputs.amdgcn.Registers`.
        lds_bytes: LDS of a workgroup in bytes, including LDS that the launch requests.
        num_warps: wavefronts of a workgroup.
        arch: the architecture that the kernel was compiled for.
        mode: ``wgp`` or ``cu``; ``None`` selects the mode that the kernel was compiled for.

    Raises:
        KprofError: if the number of vector registers is unknown, or a count is impossible on the architecture.
    """
    return occupancy(from_registers(registers, arch, lds_bytes=lds_bytes, num_warps=num_warps, mode=mode))


def allocated_vgprs(registers: Any, arch: Architecture, wavefront_size: int) -> int | None:
    """Return the vector registers that a wavefront of a compiled kernel occupies, per lane; ``None`` if unknown.

    Args:
        registers: an object with the fields of :class:`kprof.inputs.amdgcn.Registers`.
        arch: the architecture that the kernel was compiled for.
        wavefront_size: lanes of a wavefront.
    """
    if registers.vgpr is None and registers.next_free_vgpr is None and registers.total_vgpr is None:
        return None
    if wavefront_size not in arch.wavefront_sizes:
        return None
    return from_registers(registers, arch, lds_bytes=0, num_warps=1).vgpr_allocated
