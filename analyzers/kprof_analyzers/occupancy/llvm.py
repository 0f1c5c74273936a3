"""Compute occupancy as LLVM prints it in the assembly comment ``; Occupancy:``.

LLVM takes the minimum of three separate limits: vector registers, scalar registers, and the maximum wavefronts that
*any* allowed workgroup size reaches. It knows only LDS allocated at compile time, so it ignores the LDS of a Triton
kernel.

Source: LLVM 22, AMDGPUSubtarget::getOccupancyWithWorkGroupSizes, GCNSubtarget::computeOccupancy, AMDGPUBaseInfo.cpp;
for LLVM 24 the measured differences: LDS rounded to its granule, and scalar registers divided instead of looked up.
"""

from dataclasses import dataclass, replace

from kprof.document import Limiter, Occupancy
from kprof.hardware.machine import Architecture
from kprof_analyzers.occupancy.request import OccupancyInput, align

# First LLVM version that rounds LDS to its granule and divides scalar registers; Triton 3.9 contains it.
ROUNDING_LLVM = 24
# For LLVM up to 23 on gfx8 and gfx9 (getOccupancyWithNumSGPRs): maximum number of scalar registers, and wavefronts with
# up to this number; 7 wavefronts with more than 100 registers.
_SGPR_STEPS = ((80, 10), (88, 9), (100, 8))
_SGPR_LAST = 7


@dataclass(frozen=True)
class LlvmDemand:
    """Inputs of LLVM's printed occupancy.

    Attributes:
        vgprs: ``NumVGPRsForWavesPerEU``: vector registers including AGPRs and padding.
        sgprs: ``NumSGPRsForWavesPerEU``: scalar registers including extra registers and padding.
        lds_bytes: LDS allocated at compile time in bytes.
        workgroup_sizes: minimum and maximum work-items, from ``amdgpu-flat-work-group-size``.
        wavefront_size: lanes of a wavefront.
        cu_mode: whether the kernel was compiled for CU mode, which only matters on gfx10 and later.
    """

    vgprs: int
    sgprs: int
    lds_bytes: int
    workgroup_sizes: tuple[int, int]
    wavefront_size: int
    cu_mode: bool = False


def occupancy(demand: OccupancyInput, llvm: int = ROUNDING_LLVM) -> Occupancy:
    """Return the occupancy that LLVM would print for a launch if its LDS were allocated at compile time.

    Args:
        demand: the kernel; a workgroup may have 1 to ``num_warps`` wavefronts, which is what Triton tells LLVM.
        llvm: LLVM's major version.
    """
    printed = LlvmDemand(
        vgprs=max(demand.vgpr_total, demand.padded_vgpr or 0),
        sgprs=max(demand.sgpr, demand.padded_sgpr or 0),
        lds_bytes=demand.lds_bytes,
        workgroup_sizes=(1, demand.num_warps * demand.size),
        wavefront_size=demand.size,
        cu_mode=demand.block == "cu",
    )
    found = limits(demand.arch, printed, llvm)
    fewest = min(found.values())
    most = demand.arch.occupancy.max_waves_per_simd
    order: tuple[Limiter, ...] = ("vgpr", "sgpr", "lds", "workgroup_slots")
    limiter: Limiter = "wave_slots" if fewest == most else next(n for n in order if found.get(n) == fewest)
    return Occupancy(
        waves_per_simd=fewest,
        max_waves_per_simd=most,
        workgroups_per_cu=fewest * demand.arch.occupancy.simds(demand.block) // demand.num_warps,
        limiter=limiter,
        limits={name: float(count) for name, count in found.items()},
        method="llvm",
    )


def limits(arch: Architecture, demand: LlvmDemand, llvm: int = ROUNDING_LLVM) -> dict[Limiter, int]:
    """Return the wavefronts per SIMD that each resource allows; LLVM prints the minimum."""
    workgroups = by_workgroups(arch, demand, llvm)
    without_lds = by_workgroups(arch, replace(demand, lds_bytes=0), llvm)
    found: dict[Limiter, int] = {
        "vgpr": by_vgprs(arch, demand.vgprs, demand.wavefront_size),
        "sgpr": by_sgprs(arch, demand.sgprs, llvm),
        "workgroup_slots": without_lds,
    }
    if demand.lds_bytes:
        found["lds"] = workgroups
    return found


def by_vgprs(arch: Architecture, count: int, wavefront_size: int) -> int:
    """Return the wavefronts that vector registers allow, at least 1 (getNumWavesPerEUWithNumVGPRs)."""
    registers, most = arch.occupancy.vgprs[wavefront_size], arch.occupancy.max_waves_per_simd
    if count < registers.granule:
        return most
    return min(max(registers.total // align(count, registers.granule), 1), most)


def by_sgprs(arch: Architecture, count: int, llvm: int) -> int:
    """Return the wavefronts that scalar registers allow; they never limit on gfx10 and later."""
    rules = arch.occupancy
    if rules.sgprs_total is None:
        return rules.max_waves_per_simd
    if llvm >= ROUNDING_LLVM:
        waves = rules.sgprs_total // align(count + rules.sgpr_trap_handler, rules.sgpr_granule)
    else:
        waves = next((waves for most, waves in _SGPR_STEPS if count <= most), _SGPR_LAST)
    return min(waves, rules.max_waves_per_simd)


def by_workgroups(arch: Architecture, demand: LlvmDemand, llvm: int = ROUNDING_LLVM) -> int:
    """Return the maximum wavefronts per SIMD over all allowed workgroup sizes, within LDS and workgroup slots."""
    rules = arch.occupancy
    mode = "cu" if demand.cu_mode or rules.simds_per_wgp is None else "wgp"
    simds, slots = rules.simds(mode), rules.max_waves_per_simd * rules.simds(mode)
    taken = align(demand.lds_bytes, arch.lds.granule_llvm) if llvm >= ROUNDING_LLVM else demand.lds_bytes
    by_lds = arch.lds.bytes_available(mode) // max(taken, 1)
    if not by_lds:
        return 1
    small, large = (-(-size // demand.wavefront_size) for size in demand.workgroup_sizes)

    def workgroups(waves: int) -> int:
        slots_left = slots if waves == 1 else min(slots // waves, rules.max_workgroups(mode))
        return min(slots_left, by_lds)

    in_small, in_large = workgroups(small), workgroups(large)
    most, other = in_small * small, in_large * large
    if other >= most:
        most = other
    else:
        # The same number of workgroups may still fit if each is somewhat larger than the smallest size.
        spare = (slots - in_small * small) // in_small
        most += in_small * min(spare, large - small)
    return max(1, min(-(-most // simds), rules.max_waves_per_simd))
