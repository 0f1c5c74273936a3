"""Find the reasons why a kernel cannot be launched."""

from kprof_analyzers.occupancy.hardware import workgroup_limits
from kprof_analyzers.occupancy.request import OccupancyInput


def launch_problems(demand: OccupancyInput) -> list[str]:
    """Return the reasons why not even one workgroup fits, as text; empty if the kernel can be launched."""
    arch, rules = demand.arch, demand.arch.occupancy
    found = []
    most = rules.max_waves_per_workgroup(demand.size)
    if demand.num_warps > most:
        items = demand.num_warps * demand.size
        found.append(
            f"{demand.num_warps:,} wavefronts of {demand.size} lanes are {items:,} work-items; "
            f"a workgroup on {arch.name} has at most {rules.max_workgroup_size:,} ({most} wavefronts)"
        )
    if demand.lds_bytes > arch.lds.bytes_per_workgroup:
        found.append(
            f"{demand.lds_bytes:,} B of LDS; a workgroup on {arch.name} can have {arch.lds.bytes_per_workgroup:,}"
        )
    # Scalar registers are never the reason: even the largest workgroup fits if each wavefront uses the maximum.
    if not found and not min(workgroup_limits(demand).values()):
        place = "WGP" if demand.block == "wgp" else "CU"
        found.append(
            f"{demand.num_warps} wavefronts with {demand.vgpr_allocated} VGPRs each are more than a {place} of "
            f"{arch.name} holds"
        )
    return found
