"""Learn the error of a kernel's predictions on a GPU from a few measurements.

The logarithm of measured over predicted time is modelled as a Gaussian process over the configurations. Its covariance
is a sum of these parts:

* one part shared by all configurations;
* one part that follows the causes of the predicted time, because a wrongly modelled cause is wrong wherever it takes
  time;
* one part per knob, similar for values that lie near each other;
* one part of the configuration itself with its neighbours.

A timing far from what the other timings predict is attributed to its configuration alone. :func:`informative` selects
the configurations whose timings would reduce the uncertainty of all others most.

The standard deviations below were chosen on all benchmark families, including tritonBLAS's 12,288 sweep
(``validation/benchmarks/model/timings.py``). Values chosen without a kernel do about as well on that kernel (with ten
timings drawn by lot: 10.3 % instead of 9.8 % on this sweep, 20.5 % instead of 20.9 % on stream-K).

On the published 12,288 sweep of tritonBLAS, the median error of the untimed configurations falls from 17.0 to 6.3 %
with ten random timings, to 4.3 % with the ten most informative ones, and to 3.1 % with 30; its Spearman is 0.92 and
0.86. The ten most informative timings achieve this share of the error reduction that many timings achieve (in brackets
the number of those timings, and the share for ten random timings): tritonBLAS persistent GEMM 91 % (of 30; by lot 77
%); ROCm stream-K GEMM winners 57 % (of 100; by lot 47 %); AITER block-scaled FP8 GEMM before and after a retune 6 % (of
100; by lot 9 %); AITER bf16 GEMM times 51 % (of 30; by lot 62 %); AITER bf16 GEMM times on gfx1250 103 % (of 30; by lot
60 %).

The rest are configurations whose errors nothing else shares. If one to three timings are of configurations that the
model gets wrong, the error of the others may grow.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import exp, log, log2, sqrt
from statistics import fmean, median
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

Config = Mapping[str, Any]
Shares = Mapping[str, float]

ALL = 0.4
"""Standard deviation of the error that all configurations share, as a logarithm."""
CAUSES = 0.3
"""Standard deviation of a single cause's error, which is the same in every configuration where the cause takes time."""
ALIKE = 0.3
"""Standard deviation of the error shared by configurations whose time has the same causes."""
APART = 0.5
"""Sum of differences between cause shares at which the covariance of two errors falls by a factor of e."""
KNOBS = 0.2
"""Standard deviation of the error that depends on the knobs, over all knobs."""
ITSELF = 0.05
"""Standard deviation of the error that a configuration shares with its neighbours."""
NOISE = 0.05
"""Standard deviation of the error of one configuration alone, including repeated measurements."""
SPREAD = 0.1
"""Standard deviation of an untimed configuration's own error, used for ranges."""
_UNEXPECTED = 1.5
"""Factor on the usual deviation beyond which a timing is attributed to its configuration alone."""
_ROUNDS = 3
_FEW = 4
"""Minimum number of timings to recognise outliers."""
MOST = 150
"""Maximum number of timings to learn from; more timings are subsampled evenly."""
_Z90 = 1.645
"""Standard deviations on both sides that enclose 90 % of a normal distribution."""
_LEAST_EFFECT = 0.05
"""Minimum relative effect of a knob or a cause that is reported."""
_TOLD = 4
"""Maximum number of reported causes, and of reported knobs."""
_CONSTANTS = {
    "matrix": "matrix_sustained",
    "memory bandwidth": "vector_memory_share",
    "memory latency": "loaded_latency",
    "lds": "lds_latency, lds_access",
    "launch": "dispatch_ns",
}
"""Constant of the architecture's file that each cause depends on most."""


class TimedConfig(NamedTuple):
    """A configuration's measured time.

    Attributes:
        config: its knobs.
        measured, predicted: times in the same unit.
        shares: shares of the predicted time by cause; empty if unknown.
    """

    config: Config
    measured: float
    predicted: float
    shares: Shares = MappingProxyType({})


class Corrected(NamedTuple):
    """A correction: the factor on the prediction, and both ends of its 90 % range as factors of the prediction."""

    factor: float
    low: float
    high: float


class Learned(NamedTuple):
    """The errors of a kernel's predictions that :func:`learn` derived from measurements.

    Attributes:
        knobs: names of the knobs that all measured configurations have.
        timings: the timings that were learned from.
        weights: weight of each timing, chosen so that the Gaussian process reproduces the timing's residual.
        precision: inverse of the timings' covariance matrix.
        usual: usual deviation of a timing from what the other timings predict, as a logarithm.
    """

    knobs: tuple[str, ...]
    timings: tuple[TimedConfig, ...]
    weights: tuple[float, ...]
    precision: "np.ndarray[Any, Any]"
    usual: float

    def of(self, config: Config, shares: Shares | None = None) -> Corrected:
        """Return the correction for a configuration, given the shares of its predicted time by cause."""
        here = shares or {}
        row = [_covariance(self.knobs, config, here, other.config, other.shares) for other in self.timings]
        mean = sum(k * w for k, w in zip(row, self.weights, strict=True))
        whole = _covariance(self.knobs, config, here, config, here)
        told = float(self.precision.dot(row).dot(row))
        spread = sqrt(max(0.0, whole - told) + max(SPREAD, self.usual) ** 2)
        return Corrected(exp(mean), exp(mean - _Z90 * spread), exp(mean + _Z90 * spread))

    def words(self) -> list[str]:
        """Describe what was learned: the common factor, then causes, then knobs with an effect of 5 % or more."""
        common = exp(fmean(log(self.of(one.config, one.shares).factor) for one in self.timings))
        count = len(self.timings)
        lines = [f"from {count} {'timing' if count == 1 else 'timings'}: {common:.2f} times the predicted time"]
        return [*lines, *_strongest(self._causes()), *_strongest(self._knobs())]

    def _causes(self) -> Iterator[tuple[float, str]]:
        """Yield effect and description of each cause whose share differs between the timings."""
        import numpy as np

        names = dict.fromkeys(cause for one in self.timings for cause in one.shares)
        means = {cause: fmean(one.shares.get(cause, 0.0) for one in self.timings) for cause in names}
        residuals = [log(one.measured / one.predicted) for one in self.timings]
        shares = [[one.shares.get(cause, 0.0) - means[cause] for cause in names] for one in self.timings]
        rows = np.array(shares).reshape(len(shares), len(names))
        middle = median(residuals)
        # Deviations that causes do not explain count as noise of the timing, so outliers have less weight.
        noise = [NOISE**2 + max(0.0, abs(r - middle) - self.usual) ** 2 for r in residuals]
        covariances = CAUSES**2 * rows @ rows.T + np.diag(noise)
        weights = np.linalg.solve(covariances, np.array(residuals) - middle)
        slopes = dict(zip(names, map(float, CAUSES**2 * weights @ rows), strict=True))
        base = middle - sum(slopes[cause] * means[cause] for cause in names)
        for cause, slope in slopes.items():
            held = [one.shares.get(cause, 0.0) for one in self.timings]
            constant = f" ({_CONSTANTS[cause]})" if cause in _CONSTANTS else ""
            factor = f"{exp(base + slope):.2f} times as long as predicted"
            said = f"{cause} takes {factor}, {_span(min(held), max(held))} of the time{constant}"
            yield abs(slope) * (max(held) - min(held)), said

    def _knobs(self) -> Iterator[tuple[float, str]]:
        for knob in self.knobs:
            effects = {_value_text(one.config[knob]): self._effect(knob, one.config[knob]) for one in self.timings}
            least, most = min(effects, key=lambda v: effects[v]), max(effects, key=lambda v: effects[v])
            size = effects[most] - effects[least]
            yield size, f"{knob}={most} takes {exp(size):.2f} times as long as predicted, relative to {least}"

    def _effect(self, knob: str, value: Any) -> float:
        share = KNOBS**2 / max(1, len(self.knobs))
        pairs = zip(self.timings, self.weights, strict=True)
        return sum(w * share * _similarity(value, one.config[knob]) for one, w in pairs)


def learn(timings: Sequence[TimedConfig]) -> Learned:
    """Derive the errors of a kernel's predictions from timings.

    Raises:
        ValueError: if there are no timings, or a time is not positive.
    """
    import numpy as np

    if not timings or any(min(one.measured, one.predicted) <= 0 for one in timings):
        raise ValueError("there must be timings, and all must be positive")
    if len(timings) > MOST:
        timings = [timings[place * len(timings) // MOST] for place in range(MOST)]
    knobs = _knobs_of([one.config for one in timings])
    residuals = [log(one.measured / one.predicted) for one in timings]
    rows = np.array([[_covariance(knobs, a.config, a.shares, b.config, b.shares) for b in timings] for a in timings])
    noise = [NOISE**2] * len(timings)
    usual = NOISE
    for turn in range(_ROUNDS + 1):
        precision = np.linalg.inv(rows + np.diag(noise))
        weights = [float(weight) for weight in precision @ residuals]
        if len(timings) < _FEW:
            break
        # Deviation of each timing from what all other timings predict for it.
        apart = [abs(w / d) for w, d in zip(weights, map(float, np.diag(precision)), strict=True)]
        usual = max(1.48 * median(apart), NOISE)
        if turn < _ROUNDS:
            noise = [NOISE**2 + max(0.0, one - _UNEXPECTED * usual) ** 2 for one in apart]
    return Learned(knobs, tuple(timings), tuple(weights), precision, usual)


def informative(candidates: Sequence[tuple[Config, Shares]], count: int) -> list[int]:
    """Return the positions of the most informative configurations, most informative first.

    Their timings would leave the least uncertainty about all other configurations.

    Args:
        candidates: knobs, and shares of the predicted time by cause.
        count: maximum number of positions.
    """
    import numpy as np

    knobs = _knobs_of([config for config, _ in candidates])
    rows = np.array([[_covariance(knobs, *one, *other) for other in candidates] for one in candidates])
    chosen: list[int] = []
    while len(chosen) < min(count, len(candidates)):
        scales = rows.diagonal() + SPREAD**2
        told = (rows * rows).sum(axis=1) / scales
        told[chosen] = -1.0
        best = int(told.argmax())
        chosen.append(best)
        rows = rows - np.outer(rows[:, best], rows[best]) / scales[best]
    return chosen


def _knobs_of(configs: Sequence[Config]) -> tuple[str, ...]:
    names = dict.fromkeys(name for config in configs for name in config)
    return tuple(name for name in names if all(name in config for config in configs))


def _strongest(found: Iterator[tuple[float, str]]) -> list[str]:
    kept = [pair for pair in found if exp(pair[0]) >= 1 + _LEAST_EFFECT]
    return [text for _, text in sorted(kept, reverse=True)[:_TOLD]]


def _covariance(knobs: Sequence[str], one: Config, shares: Shares, other: Config, others: Shares) -> float:
    near = [_similarity(one.get(knob), other.get(knob)) for knob in knobs]
    shared = sum(near) / len(near) if near else 1.0
    found = ALL**2 + KNOBS**2 * shared + ITSELF**2 * exp(-sum(1 - value for value in near))
    if shares and others:
        found += CAUSES**2 * sum(share * others.get(cause, 0.0) for cause, share in shares.items())
        apart = sum(abs(shares.get(cause, 0.0) - others.get(cause, 0.0)) for cause in {**shares, **others})
        found += ALIKE**2 * exp(-apart / APART)
    return found


def _similarity(one: Any, other: Any) -> float:
    """Return the similarity of two values of a knob: 1 if equal, less by a factor of e for each doubling."""
    if one == other:
        return 1.0
    if all(isinstance(v, int | float) and not isinstance(v, bool) and v > 0 for v in (one, other)):
        return exp(-abs(log2(one / other)))
    return 0.0


def _value_text(value: Any) -> str:
    return str(value) if value != "" else "none"


def _span(low: float, high: float) -> str:
    return f"{100 * low:.0f} to {100 * high:.0f} %"
