"""Compute occupancy by the formula of AMD's tuning guide, and explain its differences from the hardware.

Source: ROCm documentation, "AMD Instinct MI300X workload optimization", "Compute the occupancy of a kernel":
``min(floor(waves_by_vgpr * 4 / num_warps), floor(65536 / LDS)) * num_warps / 4`` with 512 VGPRs allocated in blocks
of 16. The formula ignores other registers, slots, barriers and the granule of LDS.
"""

from kprof.document import Limiter, Occupancy
from kprof.errors import KprofError
from kprof.hardware.machine import Architecture, architectures, load
from kprof_analyzers.occupancy import hardware
from kprof_analyzers.occupancy.request import OccupancyInput, align

_BLOCK = 16
_MOST_WAVES = 8
_SIMDS = 4


def occupancy(demand: OccupancyInput) -> Occupancy:
    """Return the occupancy by the guide's formula, but with the architecture's LDS size instead of 65536 bytes.

    Raises:
        KprofError: if the architecture is not CDNA 2 to 4, which the guide covers.
    """
    arch = demand.arch
    _covered(arch)
    by_vgpr = waves_by_vgprs(arch, max(demand.vgpr_total, demand.padded_vgpr or 0)) * _SIMDS // demand.num_warps
    groups: dict[Limiter, int] = {"vgpr": by_vgpr}
    if demand.lds_bytes:
        groups["lds"] = arch.lds.bytes_per_cu // demand.lds_bytes
    fewest = min(groups.values())
    full = fewest * demand.num_warps >= _MOST_WAVES * _SIMDS
    return Occupancy(
        waves_per_simd=fewest * demand.num_warps / _SIMDS,
        max_waves_per_simd=_MOST_WAVES,
        workgroups_per_cu=fewest,
        limiter="wave_slots" if full else next(n for n, count in groups.items() if count == fewest),
        limits={name: min(count * demand.num_warps / _SIMDS, _MOST_WAVES) for name, count in groups.items()},
        method="guide",
    )


def waves_by_vgprs(arch: Architecture, count: int) -> int:
    """Return the wavefronts per SIMD if registers are allocated in blocks of 16, as the guide assumes."""
    total = arch.occupancy.vgprs[arch.wavefront_size].total
    return min(_MOST_WAVES, total // max(_BLOCK, align(count, _BLOCK)))


def vgpr_differences(arch: Architecture) -> list[tuple[int, int, int, int]]:
    """Return the ranges of VGPR counts for which the guide's rounding gives another result than the hardware.

    Returns:
        ``(first, last, waves by the hardware, waves by the guide)`` for each range.

    Raises:
        KprofError: if the guide does not cover the architecture.
    """
    _covered(arch)
    ranges: list[tuple[int, int, int, int]] = []
    for count in range(1, arch.occupancy.max_vgprs_total + 1):
        one = OccupancyInput(arch=arch, vgpr=count, num_warps=1)
        real, guide = int(hardware.occupancy(one).waves_per_simd), waves_by_vgprs(arch, count)
        if real == guide:
            continue
        if ranges and ranges[-1][1:] == (count - 1, real, guide):
            ranges[-1] = (ranges[-1][0], count, real, guide)
        else:
            ranges.append((count, count, real, guide))
    return ranges


def differences(demand: OccupancyInput) -> list[str]:
    """Return the reasons why the guide's result differs from the hardware's, as sentences; empty if both are equal.

    Raises:
        KprofError: if the guide does not cover the architecture.
    """
    real, guide = hardware.occupancy(demand), occupancy(demand)
    if real.waves_per_simd == guide.waves_per_simd:
        return []
    reasons = []
    used = max(demand.vgpr_total, demand.padded_vgpr or 0)
    granule = demand.arch.occupancy.vgprs[demand.size].granule
    if align(used, granule) != align(used, _BLOCK):
        reasons.append(f"{used} VGPRs are {align(used, granule)} in blocks of {granule}, not {align(used, _BLOCK)}")
    lds = demand.arch.lds.granule
    if demand.lds_bytes % lds:
        reasons.append(f"{demand.lds_bytes:,} B of LDS take {align(demand.lds_bytes, lds):,}: blocks of {lds:,} B")
    if real.limiter not in {"vgpr", "lds"}:
        reasons.append(f"the limit is {real.limiter}, which the guide ignores")
    return reasons


def _covered(arch: Architecture) -> None:
    if not arch.occupancy.unified_vgprs:
        covered = ", ".join(name for name in architectures() if load(name).occupancy.unified_vgprs)
        raise KprofError(
            f"the tuning guide's formula does not cover {arch.name}",
            hint=f"It covers {covered}; --method hardware works for all.",
        )
