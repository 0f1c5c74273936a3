"""How sure it is that the launch predicted to be the faster one of two really is.

What is wrong with a prediction is mostly wrong with all of a kernel's configurations alike, so that their order is
surer than the times themselves and does not follow from the ranges of :mod:`kprof_analyzers.model.ranges`. It is what
pairs of published times say: of those predicted as far apart, the share that was ordered as measured. The shares are in
``certainty.toml``, which ``python -m benchmarks.model --ranges COMMIT`` writes.
"""

from dataclasses import dataclass
from functools import cache

ENOUGH = 0.75
"""Two launches are called different from this certainty on; below it, the GPU has to be asked."""


@dataclass(frozen=True)
class PairsApart:
    """Pairs of configurations whose predicted times differ by as much.

    Attributes:
        least: share of the shorter time by which they differ at least.
        right: share of them that was measured in the predicted order.
        pairs: how many there were.
    """

    least: float
    right: float
    pairs: int


def sure_words(certainty: float, than: str = "faster") -> str:
    """``95 % sure that it is faster``: how certain the order of two predicted times is."""
    return f"{100 * certainty:.0f} % sure that it is {than}"


@dataclass(frozen=True)
class PredictedGain:
    """Two predicted times of a kernel: of a proposal and of the present configuration.

    Attributes:
        speedup: time of the present configuration over the proposal's; above 1 the proposal is predicted to be faster.
        certainty: that the proposal is faster, 0 to 1: the share of published pairs predicted as far apart in which
            the one said to be faster was. ``None`` where no times of the architecture are published.
        unknown: why there is no certainty.
    """

    speedup: float
    certainty: float | None
    unknown: str = "no published times of this architecture"

    @property
    def told_apart(self) -> bool:
        """Whether the model can say which one is faster: sure to :data:`ENOUGH`, one way or the other.

        Without published times of the architecture the same difference has to do.
        """
        return max(self.speedup, 1 / self.speedup) - 1 >= least_difference()

    def words(self) -> str:
        """``1.21 times as fast, 88 % sure that it is faster``; where it cannot tell, that both have to be measured."""
        faster = f"{self.speedup:.2f} times as fast"
        sure = f"certainty not known: {self.unknown}" if self.certainty is None else sure_words(self.certainty)
        return f"{faster}, {sure}" if self.told_apart else f"{faster}, {sure}: not told apart, measure both on the GPU"


@cache
def steps() -> tuple[PairsApart, ...]:
    """The shares of ``certainty.toml``, by growing difference."""
    from kprof_analyzers.model.ranges import own_table

    return tuple(PairsApart(one["least"], one["right"], one["pairs"]) for one in own_table("certainty.toml")["steps"])


@cache
def least_difference() -> float:
    """Share by which predicted times have to differ to be sure to :data:`ENOUGH`."""
    return next(step.least for step in steps() if step.right >= ENOUGH)


def certainty(speedup: float, arch: str) -> float | None:
    """That a launch is faster which is predicted to be.

    Args:
        speedup: time of the other one over its own, above 0.
        arch: the architecture's name.

    Returns:
        0 to 1, below a half where it is predicted to be slower; ``None`` for an architecture without published times.
    """
    from kprof_analyzers.model.ranges import calibration

    if arch not in calibration()["architectures"]:
        return None
    if speedup == 1:
        return 0.5
    apart = max(speedup, 1 / speedup) - 1
    # Who draws lots is right in a half: of near pairs fewer is chance.
    right = max(0.5, next(step.right for step in reversed(steps()) if apart >= step.least))
    return right if speedup > 1 else 1 - right


def predicted_gain(time_us: float | None, other_us: float | None, arch: str) -> PredictedGain | None:
    """A proposal compared with the present configuration.

    Args:
        time_us: the proposal's predicted time, microseconds.
        other_us: that of the present configuration.
        arch: the architecture's name.

    Returns:
        ``None`` where one of the times is not known.
    """
    if not time_us or not other_us:
        return None
    return PredictedGain(other_us / time_us, certainty(other_us / time_us, arch))


def cycles_gain(cycles: float | None, others: float | None) -> PredictedGain | None:
    """The same of two costs that are cycles an element: published pairs, which are of times, say nothing of them."""
    if not cycles or not others:
        return None
    return PredictedGain(others / cycles, None, "no times, cycles are compared")
