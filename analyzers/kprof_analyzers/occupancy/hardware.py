"""Compute occupancy by the hardware's allocation rules: all limits together, for the actual launch.

Source of the rules: LLVM's AMDGPUBaseInfo.cpp and GCNSubtarget.cpp for the register files, slots and granules, and
the sources named in the architecture files for the LDS granule. LLVM takes the minimum of separate limits for any
workgroup size, while this module counts whole workgroups of the launched size.
"""

from kprof.document import Limiter, Occupancy
from kprof_analyzers.occupancy.request import OccupancyInput, align

# Order in which equal limits are reported. Wave slots come first, because the SIMD is then as full as it can be.
_ORDER: tuple[Limiter, ...] = ("wave_slots", "launch_bounds", "vgpr", "sgpr", "lds", "workgroup_slots")


def occupancy(demand: OccupancyInput) -> Occupancy:
    """Return the wavefronts that a SIMD holds, but not the reductions that would allow more (``next_step``).

    ``w = min(max_waves, registers // align(used, granule))`` for vector and scalar registers;
    ``workgroups = min(w * SIMDs // num_warps, LDS // align(lds, granule), barriers)``, where barriers count only for
    workgroups of several wavefronts; ``waves = workgroups * num_warps / SIMDs``. The result is exact if wavefronts are
    spread evenly over SIMDs.
    """
    groups = workgroup_limits(demand)
    simds = demand.arch.occupancy.simds(demand.block)
    fewest = min(groups.values())
    return Occupancy(
        waves_per_simd=waves(demand, fewest),
        max_waves_per_simd=demand.arch.occupancy.max_waves_per_simd,
        workgroups_per_cu=fewest,
        limiter="launch_bounds" if groups.get("launch_bounds") == 0 else _lowest(groups, fewest),
        limits={name: count * demand.num_warps / simds for name, count in groups.items()},
    )


def _lowest(groups: dict[Limiter, int], fewest: int) -> Limiter:
    return next(name for name in _ORDER if groups.get(name) == fewest)


def waves(demand: OccupancyInput, workgroups: int) -> float:
    """Return the wavefronts per SIMD if a CU (or WGP) holds ``workgroups`` workgroups."""
    return workgroups * demand.num_warps / demand.arch.occupancy.simds(demand.block)


def workgroup_limits(demand: OccupancyInput) -> dict[Limiter, int]:
    """Return the number of workgroups that each resource allows in a CU, or in a WGP in WGP mode.

    No number is larger than that of the wave slots. Resources that cannot limit are not in the result: ``lds`` if the
    kernel uses no LDS, ``workgroup_slots`` for workgroups of one wavefront, ``sgpr`` on architectures where scalar
    registers never limit, ``launch_bounds`` if neither padding nor the workgroup's size limits.
    """
    rules, lds = demand.arch.occupancy, demand.arch.lds
    slots = rules.max_waves_per_simd * rules.simds(demand.block) // demand.num_warps
    groups: dict[Limiter, int] = {"vgpr": _by_vgprs(demand, demand.vgpr_total)}
    if rules.sgprs_total is not None:
        groups["sgpr"] = _by_sgprs(demand, demand.sgpr)
    if demand.lds_bytes > lds.bytes_per_workgroup:
        groups["lds"] = 0
    elif demand.lds_bytes:
        groups["lds"] = lds.bytes_available(demand.block) // align(demand.lds_bytes, lds.granule)
    groups["wave_slots"] = slots
    if demand.num_warps > 1:
        groups["workgroup_slots"] = rules.max_workgroups(demand.block)
    bounds = _launch_bounds(demand, groups)
    if bounds is not None:
        groups["launch_bounds"] = bounds
    return {name: min(count, slots) for name, count in groups.items()}


def _launch_bounds(demand: OccupancyInput, groups: dict[Limiter, int]) -> int | None:
    """Return the workgroups that the workgroup's size or padded registers allow; ``None`` if they do not limit."""
    if demand.num_warps > demand.arch.occupancy.max_waves_per_workgroup(demand.size):
        return 0
    padded: dict[Limiter, int] = {"vgpr": _by_vgprs(demand, max(demand.vgpr_total, demand.padded_vgpr or 0))}
    if "sgpr" in groups:
        padded["sgpr"] = _by_sgprs(demand, max(demand.sgpr, demand.padded_sgpr or 0))
    # A padded count is a limit of its own only if it allows less than the registers that the code uses.
    return min((count for name, count in padded.items() if count < groups[name]), default=None)


def _by_vgprs(demand: OccupancyInput, count: int) -> int:
    registers = demand.arch.occupancy.vgprs[demand.size]
    allocated = max(registers.granule, align(count, registers.granule))
    return _whole_workgroups(demand, registers.total // allocated)


def _by_sgprs(demand: OccupancyInput, count: int) -> int:
    rules = demand.arch.occupancy
    assert rules.sgprs_total is not None
    allocated = max(rules.sgpr_granule, align(count + rules.sgpr_trap_handler, rules.sgpr_granule))
    return _whole_workgroups(demand, rules.sgprs_total // allocated)


def _whole_workgroups(demand: OccupancyInput, waves_per_simd: int) -> int:
    rules = demand.arch.occupancy
    return min(waves_per_simd, rules.max_waves_per_simd) * rules.simds(demand.block) // demand.num_warps
