"""What share of a GPU's published peaks torch's own operators reach, fitted to public traces."""

import sys
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from kprof_analyzers.profiles.timeline.operators.rooflines import RooflineLimits, bound_of
from kprof_analyzers.profiles.timeline.operators.work import Work


class Efficiency(msgspec.Struct, frozen=True):
    """How far a kind of operator is from the roofline.

    Attributes:
        share: of the limit that holds.
        floor_us: what a call takes at least, however little it does.
        low, high: the measured time lies between these multiples of the predicted one, nine times in ten.
        rows: operators with equal shapes that this was fitted to.
    """

    share: float
    floor_us: float
    low: float
    high: float
    rows: int


class CallTime(msgspec.Struct, frozen=True):
    """Predicted time of a call, microseconds.

    Attributes:
        us: the time.
        low_us, high_us: where it is likely to lie.
        bound: ``HBM``, a matrix peak, or ``launch`` where the call is too small for either.
    """

    us: float
    low_us: float
    high_us: float
    bound: str


@cache
def efficiencies() -> dict[str, Efficiency]:
    """Kind of operator to its efficiency, as ``efficiency.toml`` has them."""
    return msgspec.convert(_told()["kinds"], dict[str, Efficiency])


def _told() -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(resources.files(__package__).joinpath("efficiency.toml").read_text(encoding="utf-8"))


def operator_time(kind: str, work: Work, limits: RooflineLimits) -> CallTime | None:
    """Time of one call; ``None`` where the GPU's limit for it is not known.

    Kinds that no trace has, fills and gathers, count as element-wise.
    """
    known = efficiencies()
    fitted = known.get(kind, known["elementwise"])
    bound, least_ns = bound_of(work, limits)
    if least_ns is None:
        return None
    at_peak = least_ns / 1e3 / fitted.share
    us = fitted.floor_us + at_peak
    return CallTime(us, us * fitted.low, us * fitted.high, bound if at_peak > fitted.floor_us else "launch")


@cache
def fitted_gpus() -> tuple[str, ...]:
    """Products that the shares were fitted on."""
    return tuple(_told()["gpus"])
