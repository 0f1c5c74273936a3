"""Find the smallest reductions of resources that allow more wavefronts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kprof.document import NextStep
from kprof_analyzers.occupancy.hardware import occupancy, waves, workgroup_limits
from kprof_analyzers.occupancy.request import OccupancyInput, pooled_vgprs

# Order in which resources are reported if several must shrink.
_ORDER = ("vgpr_padding", "sgpr_padding", "vgpr", "agpr", "sgpr", "lds")


@dataclass(frozen=True)
class _Allowed:
    """Largest amount of each resource that a kernel may use so that a given number of workgroups fits."""

    vgpr: int
    sgpr: int | None
    lds: int


def next_step(demand: OccupancyInput) -> NextStep | None:
    """Return the smallest reductions that allow one more workgroup; ``None`` if no reduction helps.

    For a given workgroup size there is exactly one solution: each resource shrinks by the minimum that allows one more
    workgroup. Smaller workgroups are only tried if wave or workgroup slots are the limit.
    """
    limits = workgroup_limits(demand)
    now = min(limits.values())
    if demand.num_warps > demand.arch.occupancy.max_waves_per_workgroup(demand.size):
        return _launchable(demand)
    if now + 1 > min(limits["wave_slots"], limits.get("workgroup_slots", limits["wave_slots"])):
        return _smaller_workgroup(demand, waves(demand, now))
    reductions = _reductions(demand, _allowed(demand, now + 1))
    if reductions is None:
        return None
    return _next_step(reductions, occupancy(apply(demand, reductions)).waves_per_simd)


def apply(demand: OccupancyInput, reductions: Mapping[str, int]) -> OccupancyInput:
    """Return the resources after a step's reductions.

    Args:
        demand: resources before the step.
        reductions: reduction by resource, as in :class:`kprof.document.NextStep`.
    """
    less = reductions.get
    after = replace(
        demand,
        vgpr=demand.vgpr - less("vgpr", 0),
        agpr=demand.agpr - less("agpr", 0),
        sgpr=demand.sgpr - less("sgpr", 0),
        lds_bytes=demand.lds_bytes - less("lds", 0),
        num_warps=demand.num_warps - less("num_warps", 0),
        padded_vgpr=None,
        padded_sgpr=None,
    )
    vgprs = _padding_left(demand.padded_vgpr, demand.vgpr_total, less("vgpr_padding", 0))
    sgprs = _padding_left(demand.padded_sgpr, demand.sgpr, less("sgpr_padding", 0))
    return replace(after, padded_vgpr=vgprs, padded_sgpr=sgprs)


def _padding_left(padded: int | None, used: int, reduction: int) -> int | None:
    """Return the padded count after a reduction; ``None`` if the padding adds nothing to the registers in use."""
    return None if padded is None or padded <= used else padded - reduction


def _allowed(demand: OccupancyInput, workgroups: int) -> _Allowed:
    rules, lds = demand.arch.occupancy, demand.arch.lds
    simds = rules.simds(demand.block)
    per_simd = -(-workgroups * demand.num_warps // simds)
    registers = rules.vgprs[demand.size]
    vgpr = registers.total // per_simd // registers.granule * registers.granule
    sgpr = None
    if rules.sgprs_total is not None:
        sgpr = rules.sgprs_total // per_simd // rules.sgpr_granule * rules.sgpr_granule - rules.sgpr_trap_handler
    share = lds.bytes_available(demand.block) // workgroups // lds.granule * lds.granule
    return _Allowed(vgpr, sgpr, min(share, lds.bytes_per_workgroup))


def _reductions(demand: OccupancyInput, allowed: _Allowed) -> dict[str, int] | None:
    """Return the minimum reduction of each resource; ``None`` if a wavefront cannot become small enough."""
    if allowed.vgpr < demand.arch.occupancy.vgprs[demand.size].granule or (allowed.sgpr or 0) < 0:
        return None
    found = _fewer_vgprs(demand, allowed.vgpr)
    if allowed.sgpr is not None:
        found["sgpr"] = demand.sgpr - allowed.sgpr
    found["lds"] = demand.lds_bytes - allowed.lds
    if (demand.padded_vgpr or 0) > demand.vgpr_total:
        found["vgpr_padding"] = (demand.padded_vgpr or 0) - allowed.vgpr
    if allowed.sgpr is not None and (demand.padded_sgpr or 0) > demand.sgpr:
        found["sgpr_padding"] = (demand.padded_sgpr or 0) - allowed.sgpr
    return {name: found[name] for name in _ORDER if found.get(name, 0) > 0}


def _fewer_vgprs(demand: OccupancyInput, allowed: int) -> dict[str, int]:
    """Return how many VGPRs, or AGPRs, or both a lane must save to use at most ``allowed`` registers."""
    if pooled_vgprs(demand.arch, demand.vgpr, demand.agpr) <= allowed:
        return {}
    rules = demand.arch.occupancy
    if not rules.unified_vgprs:
        return {"vgpr": demand.vgpr - allowed, "agpr": demand.agpr - allowed}
    if not demand.agpr:
        return {"vgpr": demand.vgpr - allowed}
    granule = rules.accum_granule
    room = (allowed - demand.agpr) // granule * granule
    if room > 0:
        return {"vgpr": demand.vgpr - room}
    room = allowed - -(-demand.vgpr // granule) * granule
    if room > 0:
        return {"agpr": demand.agpr - room}
    return {"vgpr": max(0, demand.vgpr - allowed), "agpr": demand.agpr}


def _smaller_workgroup(demand: OccupancyInput, now: float) -> NextStep | None:
    """Return the step to a smaller workgroup that fills the slots better, or ``None`` if there is none.

    If the current size is a power of two, only powers of two are tried.
    """
    power = demand.num_warps & (demand.num_warps - 1) == 0
    for count in range(demand.num_warps - 1, 0, -1):
        if power and count & (count - 1):
            continue
        then = occupancy(replace(demand, num_warps=count)).waves_per_simd
        if then > now:
            return NextStep(resource="num_warps", reduce_by=demand.num_warps - count, waves_per_simd=then)
    return None


def _launchable(demand: OccupancyInput) -> NextStep | None:
    """Return the step from a workgroup that is too large to one that can be launched."""
    most = demand.arch.occupancy.max_waves_per_workgroup(demand.size)
    smaller = replace(demand, num_warps=most)
    then = occupancy(smaller).waves_per_simd
    also: dict[str, int] = {}
    if not then:
        reductions = _reductions(smaller, _allowed(smaller, 1))
        if reductions is None:
            return None
        also, then = reductions, occupancy(apply(smaller, reductions)).waves_per_simd
    return NextStep(resource="num_warps", reduce_by=demand.num_warps - most, waves_per_simd=then, also=also)


def _next_step(reductions: dict[str, int], waves_per_simd: float) -> NextStep:
    (resource, amount), *also = reductions.items()
    return NextStep(resource=resource, reduce_by=amount, waves_per_simd=waves_per_simd, also=dict(also))
