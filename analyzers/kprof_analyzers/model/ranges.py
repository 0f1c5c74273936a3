"""How far a prediction may be off.

Among the published times of docs/validation/model.md the error depends on four things: whether any time of the
architecture was there to fit on, whether wavefronts wait for spilled registers (the cost of scratch is the least
certain), whether the launch itself is much of the time (it is the same for all kernels), and how far the prediction is
from the speed of light: a kernel predicted at half of it can hardly be much faster, one predicted at a twentieth waits
for latencies that are only roughly known. Occupancy and the number of loops add nothing to that.

The factors are in ``ranges.toml``, which ``python -m benchmarks.model --ranges COMMIT`` writes: as narrow as lets 90 %
of the times lie in ranges that are fitted on the other families of kernels, each family with the same weight.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

Sort = Literal["short", "near", "far", "scratch", "foreign", "unknown"]


@dataclass(frozen=True)
class PredictionRange:
    """Measured over predicted time lies between ``low`` and ``high`` for most launches.

    Attributes:
        low, high: factors of the predicted time.
        why: what makes it wide, for people; empty where it is as narrow as it gets.
    """

    low: float
    high: float
    why: str


_WHY: Mapping[Sort, str] = {
    "short": "",
    "near": "",
    "far": "",
    "scratch": "much of the time is waiting for spilled registers, whose cost is the least sure of all",
    "foreign": "no time of this architecture was there to fit the model on",
    "unknown": "how often a loop iterates is not known",
}


@cache
def ranges() -> Mapping[Sort, PredictionRange]:
    """The ranges of ``ranges.toml``."""
    return {sort: PredictionRange(one["low"], one["high"], _WHY[sort]) for sort, one in calibration()["sorts"].items()}


@cache
def calibration() -> Mapping[str, Any]:
    """All of ``ranges.toml``: ``architectures`` with times, ``sorts``, and of each family the share ``left_out``."""
    return own_table("ranges.toml")


def own_table(name: str) -> Mapping[str, Any]:
    """A TOML file of this package."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


SCRATCH = 0.1
"""Share of the time from which spilled registers make it unsure."""
SHORT = 0.25
"""Share of the launch from which little else matters."""
NEAR = 0.3
"""Share of the speed of light."""


def sort_of(time_us: float, light_us: float, shares: Mapping[str, float], *, trips_known: bool, arch: str) -> Sort:
    """Which of :func:`ranges` a prediction has.

    Args:
        time_us: predicted.
        light_us: the least time for the same work, 0 where it is not known.
        shares: cause to its share of the time.
        trips_known: whether the iterations of every loop are known.
        arch: the architecture's name.
    """
    if not trips_known:
        return "unknown"
    if arch not in calibration()["architectures"]:
        return "foreign"
    if shares.get("scratch", 0.0) > SCRATCH:
        return "scratch"
    if shares.get("launch", 0.0) > SHORT:
        return "short"
    return "near" if light_us >= NEAR * time_us else "far"


def bounds(time_us: float, light_us: float, low: float, high: float) -> tuple[float, float]:
    """Lower and upper end of the range in microseconds, from its factors; never below the speed of light."""
    return min(time_us, max(time_us * low, light_us)), time_us * high
