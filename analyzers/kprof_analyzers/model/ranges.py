"""How far a prediction may be off.

Among the published times of docs/validation/model.md the error depends on four things: whether any time of the
architecture was there to fit on, whether how often its loops iterate is known, whether wavefronts wait for spilled
registers (the cost of scratch is the least certain), and how much of the time they wait for an answer from memory or
for each other: latencies are only roughly known, bandwidths and the matrix unit's rate well. How near a prediction is
to the speed of light, how long it is, occupancy and the number of loops add nothing to that.

The factors are in ``ranges.toml``, which ``python -m benchmarks.model --ranges COMMIT`` writes: as narrow as lets as
many families of kernels as can be have 85 % of their times in ranges that are fitted on the others, each family with
the same weight. Times that the predicted code cannot have, whatever the memory does, were another compiler's and are
no part of it.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

Sort = Literal["usual", "latency", "scratch", "foreign", "unknown"]


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
    "usual": "",
    "latency": "",
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
LATENCY = 0.2
"""Share of the time from which waiting for memory's answers and at barriers does."""


def sort_of(shares: Mapping[str, float], *, trips_known: bool, arch: str) -> Sort:
    """Return which uncertainty range applies to a prediction, as a key of :func:`ranges`.

    Args:
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
    waiting = shares.get("memory latency", 0.0) + shares.get("barrier", 0.0)
    return "latency" if waiting > LATENCY else "usual"


def bounds(time_us: float, light_us: float, low: float, high: float) -> tuple[float, float]:
    """Lower and upper end of the range in microseconds, from its factors; never below the speed of light."""
    return min(time_us, max(time_us * low, light_us)), time_us * high
