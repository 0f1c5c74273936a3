"""Occupancy over one resource of a kernel of which the document is at hand."""

from typing import Any

from msgspec import UNSET, UnsetType

from kprof.details import Curve, CurveStep
from kprof.document import Resources
from kprof.errors import KprofError
from kprof_analyzers.occupancy.curve import curve
from kprof_analyzers.occupancy.request import OccupancyInput


def occupancy_curves(resources: Resources | UnsetType, arch: str) -> list[Curve]:
    """Occupancy over VGPRs and over LDS; empty where a resource is not known or impossible.

    AGPRs stay as they are, and what ``waves_per_eu`` pads is left out: it is a choice and no need of the code.
    """
    from kprof.hardware.machine import load

    if not isinstance(resources, Resources):
        return []
    needed = (resources.vgpr, resources.lds_bytes, resources.num_warps)
    if not all(isinstance(amount, int) for amount in needed):
        return []
    vgpr, lds, warps = (int(amount) for amount in needed if isinstance(amount, int))
    try:
        demand = OccupancyInput(
            arch=load(arch),
            vgpr=vgpr,
            agpr=_known(resources.agpr),
            sgpr=_known(resources.sgpr),
            lds_bytes=lds,
            num_warps=warps,
            wavefront_size=resources.wavefront_size if isinstance(resources.wavefront_size, int) else None,
        )
        return [_curve(demand, "vgpr", vgpr), _curve(demand, "lds", lds)]
    except KprofError:
        # A document may come from anywhere: counts that no GPU has make no curve.
        return []


def _curve(demand: OccupancyInput, resource: str, amount: int) -> Curve:
    steps = [CurveStep(p.first, p.last, p.waves_per_simd, p.current) for p in curve(demand, resource)]
    return Curve(resource, amount, steps)


def _known(amount: Any) -> int:
    return 0 if amount is None or amount is UNSET else int(amount)
