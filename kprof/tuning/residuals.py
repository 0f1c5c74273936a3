"""What a few measurements of a kernel on a GPU say of its predictions there.

The logarithm of measured over predicted time is taken for a Gaussian process over the configurations: one share that is
the same for all (what is wrong with a prediction is mostly wrong with all of a kernel's configurations alike), one for
each knob, alike for values that lie near each other, and one of the configuration itself with its neighbours. The
widths below were chosen on the published 12,288 sweep of tritonBLAS, and judged on what was not drawn of it (20 draws):
the median error of what was not timed goes from 11.7 to 10.6 % with ten timings and to 9.1 % with 30; its Spearman is
0.82 and 0.84. Wider shares of the knobs make the order worse (Spearman 0.70 after ten with a width of 0.3). One to
three timings may be of configurations that the model gets wrong: the error of the others may grow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, log2, sqrt
from typing import Any

Config = Mapping[str, Any]

ALL = 1.0
"""Standard deviation of the error that all configurations share, in the logarithm."""
KNOBS = 0.1
"""Standard deviation of the error that follows the knobs, all of them together."""
ITSELF = 0.05
"""Standard deviation of the error that a configuration shares with its neighbours."""
NOISE = 0.2
"""Standard deviation of the error of one configuration alone, repeated measurements included."""
_Z90 = 1.645
"""Standard deviations to both sides that hold 90 % of a normal distribution."""
_LEAST_EFFECT = 0.05
"""Least effect of a knob that is reported."""


@dataclass(frozen=True)
class Corrected:
    """A corrected time: the factor on the prediction, and the ends of its 90 % range as factors of the prediction."""

    factor: float
    low: float
    high: float


@dataclass(frozen=True)
class Learned:
    """What measurements say of a kernel's predictions; made by :func:`learn`.

    Attributes:
        knobs: names of the knobs that all measured configurations have.
        measured: their configurations.
        weights: of each measured configuration, so that the process passes its residual.
        root: lower triangle of the covariances' root.
    """

    knobs: tuple[str, ...]
    measured: tuple[Config, ...]
    weights: tuple[float, ...]
    root: tuple[tuple[float, ...], ...]

    def of(self, config: Config) -> Corrected:
        """The correction for a configuration."""
        row = [_covariance(self.knobs, config, other) for other in self.measured]
        mean = sum(k * w for k, w in zip(row, self.weights, strict=True))
        solved = _forward(self.root, row)
        spread = sqrt(max(0.0, ALL**2 + KNOBS**2 + ITSELF**2 - sum(x * x for x in solved)) + NOISE**2)
        return Corrected(exp(mean), exp(mean - _Z90 * spread), exp(mean + _Z90 * spread))

    def words(self) -> list[str]:
        """What was learned: the factor that all have in common, then each knob whose values differ by 5 % and more."""
        common = exp(ALL**2 * sum(self.weights))
        count = len(self.measured)
        lines = [f"from {count} {'timing' if count == 1 else 'timings'}: {common:.2f} times the predicted time"]
        found = []
        for knob in self.knobs:
            effects = {_word(config[knob]): self._effect(knob, config[knob]) for config in self.measured}
            least, most = min(effects, key=lambda v: effects[v]), max(effects, key=lambda v: effects[v])
            factor = exp(effects[most] - effects[least])
            if factor >= 1 + _LEAST_EFFECT:
                found.append((factor, f"{knob}={most} takes {factor:.2f} times as long against {least} as predicted"))
        return lines + [text for _, text in sorted(found, reverse=True)]

    def _effect(self, knob: str, value: Any) -> float:
        share = KNOBS**2 / max(1, len(self.knobs))
        pairs = zip(self.measured, self.weights, strict=True)
        return sum(w * share * _near(value, config[knob]) for config, w in pairs)


def learn(timings: Sequence[tuple[Config, float, float]]) -> Learned:
    """What timings say.

    Args:
        timings: of each measured configuration its knobs, the measured and the predicted time in the same unit.

    Raises:
        ValueError: there are none, or a time is not positive.
    """
    if not timings or any(min(measured, predicted) <= 0 for _, measured, predicted in timings):
        raise ValueError("timings must be there, and longer than nothing")
    configs = tuple(config for config, _, _ in timings)
    names = dict.fromkeys(name for config in configs for name in config)
    knobs = tuple(name for name in names if all(name in config for config in configs))
    residuals = [log(measured / predicted) for _, measured, predicted in timings]
    rows = [
        [_covariance(knobs, one, other) + (NOISE**2 if i == j else 0.0) for j, other in enumerate(configs)]
        for i, one in enumerate(configs)
    ]
    root = _root(rows)
    weights = _backward(root, _forward(root, residuals))
    return Learned(knobs, configs, tuple(weights), tuple(tuple(row) for row in root))


def _covariance(knobs: Sequence[str], one: Config, other: Config) -> float:
    near = [_near(one.get(knob), other.get(knob)) for knob in knobs]
    shared = sum(near) / len(near) if near else 1.0
    return ALL**2 + KNOBS**2 * shared + ITSELF**2 * exp(-sum(1 - value for value in near))


def _near(one: Any, other: Any) -> float:
    """How alike two values of a knob are: 1 for the same, less by a factor of e for each doubling between numbers."""
    if one == other:
        return 1.0
    if all(isinstance(v, int | float) and not isinstance(v, bool) and v > 0 for v in (one, other)):
        return exp(-abs(log2(one / other)))
    return 0.0


def _word(value: Any) -> str:
    return str(value) if value != "" else "none"


def _root(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Cholesky's lower triangle."""
    root: list[list[float]] = []
    for i, row in enumerate(rows):
        made: list[float] = []
        for j in range(i + 1):
            rest = row[j] - sum(a * b for a, b in zip(made, (root[j] if j < i else made)[:j], strict=False))
            made.append(sqrt(max(rest, 1e-12)) if i == j else rest / root[j][j])
        root.append(made)
    return root


def _forward(root: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    found: list[float] = []
    for row, value in zip(root, right, strict=True):
        found.append((value - sum(a * b for a, b in zip(row, found, strict=False))) / row[-1])
    return found


def _backward(root: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    found = [0.0] * len(right)
    for i in reversed(range(len(right))):
        found[i] = (right[i] - sum(root[j][i] * found[j] for j in range(i + 1, len(right)))) / root[i][i]
    return found
