"""How far a prediction may be off.

Among the published times of docs/validation/model.md the error depends on three things: whether wavefronts wait for
spilled registers (the cost of scratch is the least certain), whether the launch itself is much of the time (it is the
same for all kernels), and how far the prediction is from the speed of light: a kernel predicted at half of it can
hardly be much faster, one predicted at a twentieth waits for latencies that are only roughly known. Occupancy and the
number of loops add nothing to that. ``python -m benchmarks.model`` checks the figures below, and each
family of kernels against those that the others ask for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Sort = Literal["short", "near", "far", "scratch", "unknown"]


@dataclass(frozen=True)
class PredictionRange:
    """Measured over predicted time: 93 % of the published times lie between ``low`` and ``high``.

    Attributes:
        low, high: factors of the predicted time.
        why: what makes it wide, for people; empty where it is as narrow as it gets.
    """

    low: float
    high: float
    why: str


RANGES: Mapping[Sort, PredictionRange] = {
    "short": PredictionRange(0.7, 1.3, ""),
    "near": PredictionRange(0.65, 1.4, ""),
    "far": PredictionRange(0.5, 1.7, ""),
    "scratch": PredictionRange(
        0.18, 2.4, "much of the time is waiting for spilled registers, whose cost is the least sure of all"
    ),
    "unknown": PredictionRange(0.17, 5.0, "how often a loop iterates is not known"),
}
"""Fitted on the published times of docs/validation/model.md, each family of kernels with the same weight;
``unknown`` (trip counts) is set to three times the width of ``far``."""

SCRATCH = 0.1
"""Share of the time from which spilled registers make it unsure."""
SHORT = 0.25
"""Share of the launch from which little else matters."""
NEAR = 0.3
"""Share of the speed of light."""


def sort_of(time_us: float, light_us: float, shares: Mapping[str, float], *, trips_known: bool) -> Sort:
    """Which of :data:`RANGES` a prediction has.

    Args:
        time_us: predicted.
        light_us: the least time for the same work, 0 where it is not known.
        shares: cause to its share of the time.
        trips_known: whether the iterations of every loop are known.
    """
    if not trips_known:
        return "unknown"
    if shares.get("scratch", 0.0) > SCRATCH:
        return "scratch"
    if shares.get("launch", 0.0) > SHORT:
        return "short"
    return "near" if light_us >= NEAR * time_us else "far"


def bounds(time_us: float, light_us: float, low: float, high: float) -> tuple[float, float]:
    """Lower and upper end of the range in microseconds, from its factors; never below the speed of light."""
    return min(time_us, max(time_us * low, light_us)), time_us * high
