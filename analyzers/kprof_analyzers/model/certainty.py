"""Estimate how certain it is that the launch predicted to be faster is really faster.

Most of a prediction's error is common to all configurations of a kernel. Their order is therefore more certain than
their times, and does not follow from the ranges of :mod:`kprof_analyzers.model.ranges`. The certainty comes from pairs
of published times. It is the share of pairs measured in the predicted order, among pairs with a similar predicted
difference. The shares are in ``certainty.toml``, which ``python -m validation.benchmarks.model --ranges COMMIT``
writes.
"""

from dataclasses import dataclass
from functools import cache

ENOUGH = 0.75
"""Minimum certainty for calling two launches different; below it, only a measurement on the GPU can decide."""


@dataclass(frozen=True)
class PairsApart:
    """Pairs of configurations, grouped by the difference of their predicted times.

    Attributes:
        least: minimum difference, as a share of the shorter time.
        right: share of the pairs that was measured in the predicted order.
        pairs: number of pairs.
    """

    least: float
    right: float
    pairs: int


def sure_words(certainty: float, than: str = "faster") -> str:
    """Return the certainty that a time is shorter, in words: ``95 % sure that it is faster``."""
    return f"{100 * certainty:.0f} % sure that it is {than}"


@dataclass(frozen=True)
class PredictedGain:
    """Comparison of the predicted times of a proposed and the current configuration.

    Attributes:
        speedup: time of the current configuration divided by the proposal's; above 1 the proposal is predicted to be
            faster.
        certainty: certainty that the proposal is faster, 0 to 1, or ``None`` if the architecture has no published
            times. It is the share of published pairs with a similar predicted difference whose order was predicted
            correctly.
        unknown: reason why the certainty is unknown.
    """

    speedup: float
    certainty: float | None
    unknown: str = "no published times of this architecture"

    @property
    def told_apart(self) -> bool:
        """Whether the model can tell which configuration is faster with at least the certainty :data:`ENOUGH`.

        The same minimum difference applies to architectures without published times.
        """
        return max(self.speedup, 1 / self.speedup) - 1 >= least_difference()

    def words(self) -> str:
        """Return the speedup and its certainty in words, with advice to measure if the model cannot decide."""
        faster = f"{self.speedup:.2f} times as fast"
        sure = f"certainty not known: {self.unknown}" if self.certainty is None else sure_words(self.certainty)
        return (
            f"{faster}, {sure}"
            if self.told_apart
            else f"{faster}, {sure}: too close to distinguish, measure both on the GPU"
        )


@cache
def steps() -> tuple[PairsApart, ...]:
    """Return the groups of measured pairs in ``certainty.toml``, by increasing difference of the predicted times."""
    from kprof_analyzers.model.ranges import own_table

    return tuple(PairsApart(one["least"], one["right"], one["pairs"]) for one in own_table("certainty.toml")["steps"])


@cache
def least_difference() -> float:
    """Return the minimum relative difference of predicted times for a certainty of :data:`ENOUGH`."""
    return next(step.least for step in steps() if step.right >= ENOUGH)


def certainty(speedup: float, arch: str) -> float | None:
    """Return the certainty that a launch is faster than another one.

    Args:
        speedup: time of the other launch divided by this launch's, above 0.
        arch: the architecture's name.

    Returns:
        Certainty from 0 to 1, below 0.5 if the launch is predicted to be slower; ``None`` if the architecture has no
        published times.
    """
    from kprof_analyzers.model.ranges import calibration

    if arch not in calibration()["architectures"]:
        return None
    if speedup == 1:
        return 0.5
    apart = max(speedup, 1 / speedup) - 1
    # Guessing is right in half of the cases, so a lower share among close pairs is chance.
    right = max(0.5, next(step.right for step in reversed(steps()) if apart >= step.least))
    return right if speedup > 1 else 1 - right


def predicted_gain(time_us: float | None, other_us: float | None, arch: str) -> PredictedGain | None:
    """Compare a proposal with the current configuration.

    Args:
        time_us: the proposal's predicted time in microseconds.
        other_us: predicted time of the current configuration in microseconds.
        arch: the architecture's name.

    Returns:
        The comparison, or ``None`` if one of the times is unknown.
    """
    if not time_us or not other_us:
        return None
    return PredictedGain(other_us / time_us, certainty(other_us / time_us, arch))


def cycles_gain(cycles: float | None, others: float | None) -> PredictedGain | None:
    """Compare costs in cycles per element; they have no certainty, because the published pairs are of times."""
    if not cycles or not others:
        return None
    return PredictedGain(others / cycles, None, "no times, cycles are compared")
