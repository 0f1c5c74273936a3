"""How well predicted times order configurations. Plain Python: problems have at most a few hundred of them.

Times are in any one unit, smaller is better. Where predictions tie, the model has no first choice: efficiencies are
then averaged over every order that the ties allow, so that no luck of the listing enters.
"""

import math
from collections.abc import Sequence
from itertools import combinations

NEAR = 0.03
"""Measured differences up to this share are taken for noise when pairs are counted."""
TIE = 0.001
"""Predictions that differ by no more than this share are a tie: the model does not claim to tell them apart."""


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1, the smallest first; equal values share the average of their places."""
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
    """The same with values that lie within ``share`` of the smallest of their group made equal to it."""
    found = list(values)
    head = 0.0
    for place in sorted(range(len(found)), key=found.__getitem__):
        if not head or found[place] > head * (1 + share):
            head = found[place]
        found[place] = head
    return found


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Rank correlation, with ties; ``None`` when one side has no order at all."""
    a, b = ranks(first), ranks(second)
    mean = (len(a) + 1) / 2
    top = sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    below = math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))
    return top / below if below else None


def top_efficiency(predicted: Sequence[float], measured: Sequence[float], k: int = 1) -> float:
    """Best measured time of all over the best measured time among the model's first ``k`` choices.

    With a tie across the ``k``-th place it is the expected value over a random order of the tied ones.
    """
    best = min(measured)
    order = sorted(range(len(predicted)), key=predicted.__getitem__)
    k = min(k, len(order))
    edge = predicted[order[k - 1]]
    sure = [measured[i] for i in order if predicted[i] < edge]
    tied = sorted(measured[i] for i in order if predicted[i] == edge)
    draw = k - len(sure)
    bound = min(sure, default=math.inf)
    # The smallest of a draw without replacement is the j-th smallest of all with this probability.
    total = 0.0
    for place, time in enumerate(tied):
        rest = len(tied) - place - 1
        if rest < draw - 1:
            break
        chance = math.comb(rest, draw - 1) / math.comb(len(tied), draw)
        total += chance * best / min(bound, time)
    return total


def random_efficiency(measured: Sequence[float], k: int = 1) -> float:
    """:func:`top_efficiency` of a choice without knowledge."""
    return top_efficiency([0.0] * len(measured), measured, k)


def pair_accuracy(predicted: Sequence[float], measured: Sequence[float], near: float = NEAR) -> float | None:
    """Share of pairs ordered as measured, among pairs whose measured times differ by more than ``near``.

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
    """Linear interpolation between the two nearest values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def ratio_spread(predicted: Sequence[float], measured: Sequence[float]) -> tuple[float, float, float]:
    """Predicted over measured: 10th percentile, median, 90th percentile."""
    ratios = [p / m for p, m in zip(predicted, measured, strict=True)]
    return quantile(ratios, 0.1), quantile(ratios, 0.5), quantile(ratios, 0.9)


def chance(winner: float, others: Sequence[float], first: int) -> float:
    """How likely a configuration is among the first ``first`` of all; ties stand in any order."""
    before = sum(other < winner for other in others)
    tied = 1 + sum(other == winner for other in others)
    return min(1.0, max(0, first - before) / tied)


def percentile(winner: float, others: Sequence[float]) -> float:
    """Share of a search space that the model puts before the winner; ties count half. 0 is the model's first choice."""
    before = sum(1.0 for other in others if other < winner) + 0.5 * sum(1.0 for other in others if other == winner)
    return before / len(others) if others else 0.0
