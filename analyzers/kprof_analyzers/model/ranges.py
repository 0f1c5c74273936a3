"""Error ranges of predicted times.

Among the published times of docs/validation/model.md the error depends on four properties:

- whether the model was fitted on times of the architecture;
- whether the iterations of the kernel's loops are known;
- whether wavefronts wait for spilled registers, because the cost of scratch is the least certain;
- how much of the time wavefronts wait for an answer from memory or for each other, because latencies are only roughly
  known, while bandwidths and the matrix unit's rate are known well.

Distance from the speed of light, duration, occupancy and the number of loops do not improve the estimate.

The factors are in ``ranges.toml``, which ``python -m validation.benchmarks.model --ranges COMMIT`` writes. They are the
narrowest ranges for which the largest number of kernel families have 85 % of their times in ranges fitted on the other
families. Each family has the same weight. Times that the predicted code cannot reach with any memory system come from
another compiler and are excluded.
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
    """Range that contains the ratio of measured to predicted time for most launches.

    Attributes:
        low, high: ends of the range; a predicted time is multiplied by them.
        why: reason for a wide range, as text for users; "" for a range of the usual width.
    """

    low: float
    high: float
    why: str


_WHY: Mapping[Sort, str] = {
    "usual": "",
    "latency": "",
    "scratch": "much of the time is waiting for spilled registers, whose cost is the most uncertain",
    "foreign": "the model was not fitted on times of this architecture",
    "unknown": "the number of iterations of a loop is not known",
}


@cache
def ranges() -> Mapping[Sort, PredictionRange]:
    """Return the ranges of ``ranges.toml``."""
    return {sort: PredictionRange(one["low"], one["high"], _WHY[sort]) for sort, one in calibration()["sorts"].items()}


@cache
def calibration() -> Mapping[str, Any]:
    """Return the content of ``ranges.toml``.

    It has ``architectures`` with published times, ``sorts`` (kinds of ranges), and for each kernel family the share of
    its times that are in ranges fitted on the other families (``left_out``).
    """
    return own_table("ranges.toml")


def own_table(name: str) -> Mapping[str, Any]:
    """Read a TOML file of this package."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


SCRATCH = 0.1
"""A larger share of time spent on spilled registers makes the prediction uncertain."""
LATENCY = 0.2
"""A larger share of time spent on memory latency and barriers makes the prediction uncertain."""


def sort_of(shares: Mapping[str, float], *, trips_known: bool, arch: str) -> Sort:
    """Return the kind of uncertainty range that applies to a prediction, as a key of :func:`ranges`.

    Args:
        shares: share of the time by cause.
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
    """Return the ends of a time's range in microseconds; the lower end is at least the speed of light."""
    return min(time_us, max(time_us * low, light_us)), time_us * high
