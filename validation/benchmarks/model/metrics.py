"""Measure how well predicted times order configurations, in plain Python: problems have at most a few hundred.

Times have any common unit; smaller is better. If predictions tie, the model has no first choice. Efficiencies are
then averaged over every order that the ties allow, so that the order of the list has no effect.
"""

import math
from collections.abc import Sequence
from itertools import combinations

NEAR = 0.03
"""Measured differences up to this share count as noise when pairs are counted."""
TIE = 0.001
"""Predictions that differ by at most this share are a tie: the model does not claim to distinguish them."""


def ranks(values: Sequence[float]) -> list[float]:
    """Return ranks from 1, the smallest value first; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for place in order[start : end + 1]:
            found[place] = (start + end) / 2 + 1
        start = end + 1
    return found


def tied(values: Sequence[float], share: float = TIE) -> list[float]:
    """Return values in which those within ``share`` of the smallest of their group equal it."""
    found = list(values)
    head = 0.0
    for place in sorted(range(len(found)), key=found.__getitem__):
        if not head or found[place] > head * (1 + share):
            head = found[place]
        found[place] = head
    return found


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return the rank correlation with ties; ``None`` if all values of one side are equal."""
    a, b = ranks(first), ranks(second)
    mean = (len(a) + 1) / 2
    top = sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    below = math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))
    return top / below if below else None


def top_efficiency(predicted: Sequence[float], measured: Sequence[float], k: int = 1) -> float:
    """Return the best measured time divided by the best measured time among the model's first ``k`` choices.

    If a tie spans the ``k``-th place, it is the expected value over random orders of the tied predictions.
    """
    best = min(measured)
    order = sorted(range(len(predicted)), key=predicted.__getitem__)
    k = min(k, len(order))
    edge = predicted[order[k - 1]]
    sure = [measured[i] for i in order if predicted[i] < edge]
    tied = sorted(measured[i] for i in order if predicted[i] == edge)
    draw = k - len(sure)
    bound = min(sure, default=math.inf)
    # Probability that the minimum of a draw without replacement is the j-th smallest of all.
    total = 0.0
    for place, time in enumerate(tied):
        rest = len(tied) - place - 1
        if rest < draw - 1:
            break
        chance = math.comb(rest, draw - 1) / math.comb(len(tied), draw)
        total += chance * best / min(bound, time)
    return total


def random_efficiency(measured: Sequence[float], k: int = 1) -> float:
    """Return :func:`top_efficiency` of a random choice."""
    return top_efficiency([0.0] * len(measured), measured, k)


def pair_accuracy(predicted: Sequence[float], measured: Sequence[float], near: float = NEAR) -> float | None:
    """Return the share of pairs ordered as measured, among pairs whose measured times differ by more than ``near``.

    A tie in the prediction counts half. ``None`` without such pairs.
    """
    right = 0.0
    pairs = 0
    for i, j in combinations(range(len(measured)), 2):
        low, high = (i, j) if measured[i] <= measured[j] else (j, i)
        if measured[high] <= measured[low] * (1 + near):
            continue
        pairs += 1
        if predicted[low] == predicted[high]:
            right += 0.5
        elif predicted[low] < predicted[high]:
            right += 1
    return right / pairs if pairs else None


def quantile(values: Sequence[float], share: float) -> float:
    """Return a quantile by linear interpolation between the two nearest values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def ratio_spread(predicted: Sequence[float], measured: Sequence[float]) -> tuple[float, float, float]:
    """Return predicted over measured time: 10th percentile, median, 90th percentile."""
    ratios = [p / m for p, m in zip(predicted, measured, strict=True)]
    return quantile(ratios, 0.1), quantile(ratios, 0.5), quantile(ratios, 0.9)


def chance(winner: float, others: Sequence[float], first: int) -> float:
    """Return the probability that a configuration is among the first ``first`` of all; ties have random order."""
    before = sum(other < winner for other in others)
    tied = 1 + sum(other == winner for other in others)
    return min(1.0, max(0, first - before) / tied)


def percentile(winner: float, others: Sequence[float]) -> float:
    """Return the share of a search space that the model ranks before the winner; ties count half. 0: first choice."""
    before = sum(1.0 for other in others if other < winner) + 0.5 * sum(1.0 for other in others if other == winner)
    return before / len(others) if others else 0.0
