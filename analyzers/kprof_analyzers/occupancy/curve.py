"""Compute occupancy as a function of one resource, with the other resources constant."""

from dataclasses import dataclass, replace

from kprof.errors import KprofError
from kprof_analyzers.occupancy.hardware import occupancy
from kprof_analyzers.occupancy.request import OccupancyInput

RESOURCES = ("vgpr", "lds", "num-warps")


@dataclass(frozen=True)
class Plateau:
    """A range of the resource with the same occupancy.

    Attributes:
        first: smallest amount of the resource.
        last: largest amount of the resource.
        waves_per_simd: occupancy in the range; 0 if the kernel cannot be launched.
        limiter: resource that limits occupancy at the end of the range.
        current: whether the kernel is in this range.
    """

    first: int
    last: int
    waves_per_simd: float
    limiter: str
    current: bool


def curve(demand: OccupancyInput, resource: str) -> list[Plateau]:
    """Return the ranges of a resource's amount with equal occupancy, in increasing order.

    VGPRs range from 1 to the maximum of a wavefront, with constant AGPRs. LDS ranges from 0 bytes to one granule more
    than a workgroup may have, and the wavefronts of a workgroup from 1 to the largest workgroup. Padding by
    ``waves_per_eu`` is ignored in a VGPR curve, since it does not depend on the VGPRs.

    Raises:
        KprofError: if the resource is unknown.
    """
    points, current = _points(demand, resource)
    plateaus: list[Plateau] = []
    for amount, last, point in points:
        found = occupancy(point)
        here = amount <= current <= last
        previous = plateaus[-1] if plateaus else None
        if previous is not None and previous.waves_per_simd == found.waves_per_simd and resource != "num-warps":
            plateaus[-1] = replace(previous, last=last, limiter=found.limiter, current=previous.current or here)
        else:
            plateaus.append(Plateau(amount, last, found.waves_per_simd, found.limiter, here))
    return plateaus


def _points(demand: OccupancyInput, resource: str) -> tuple[list[tuple[int, int, OccupancyInput]], int]:
    """Return the granules of a resource as ``(first amount, last amount, demand)``, and the kernel's own amount.

    Amounts in one granule have the same occupancy, that of ``demand``.
    """
    rules = demand.arch.occupancy
    if resource == "vgpr":
        bare = replace(demand, padded_vgpr=None, padded_sgpr=None)
        most = rules.max_vgprs_total if rules.unified_vgprs and not demand.agpr else rules.max_vgprs
        return [(n, n, replace(bare, vgpr=n)) for n in range(1, most + 1)], max(1, demand.vgpr)
    if resource == "lds":
        granule, most = demand.arch.lds.granule, demand.arch.lds.bytes_per_workgroup
        steps = [(0, 0, replace(demand, lds_bytes=0))]
        steps += [
            (n - granule + 1, n, replace(demand, lds_bytes=n)) for n in range(granule, most + granule + 1, granule)
        ]
        return steps, min(demand.lds_bytes, most + granule)
    if resource == "num-warps":
        most = rules.max_waves_per_workgroup(demand.size)
        counts = [1 << i for i in range(most.bit_length())]
        if demand.num_warps not in counts:
            counts = sorted({*counts, demand.num_warps})
        return [(n, n, replace(demand, num_warps=n)) for n in counts], demand.num_warps
    raise KprofError(f"no curve over {resource!r}; there are {', '.join(RESOURCES)}")
