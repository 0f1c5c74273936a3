"""Pairs of configurations by family: how often the one that is predicted to be faster is faster.

Families differ in how well they are ordered, so a share over all pairs would mostly describe the family with most
pairs. Therefore every family has the same weight, as in :mod:`validation.benchmarks.model.ranges`, and each family is
evaluated with the steps of the others.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from validation.benchmarks.model.evaluate import Judged, distinct
from validation.benchmarks.model.problem import Family
from validation.benchmarks.model.ranges import EDGES, FEW

Bins = Sequence[Mapping[str, Any]]


def by_family(chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]]) -> list[dict[str, Any]]:
    """Return pairs of different code of one problem by the predicted difference, for each family with an order."""
    found = []
    for family in chosen:
        if family.question not in {"order", "pair"}:
            continue
        bins: dict[float, list[bool]] = {}
        for judged in results.get(family.name, ()):
            for share, ordered in _pairs(judged):
                bins.setdefault(max(edge for edge in EDGES if edge <= share), []).append(ordered)
        found += [
            {"family": family.title, "least": least, "pairs": len(each), "right": sum(each) / len(each)}
            for least, each in sorted(bins.items())
        ]
    return found


def _pairs(judged: Judged) -> Iterator[tuple[float, bool]]:
    rows = distinct([one for one in judged.scored if one.candidate.time_us and not one.candidate.suspect])
    for first, second in combinations(sorted(rows, key=lambda one: one.us), 2):
        yield second.us / first.us - 1, (second.candidate.time_us or 0.0) > (first.candidate.time_us or 0.0)


def steps(bins: Bins) -> list[tuple[float, float, int]]:
    """Return minimum difference, correctly ordered share and number of pairs, by growing difference.

    Families have equal weight, and shares never fall with the difference.

    Args:
        bins: result of :func:`by_family`.
    """
    found: list[tuple[float, float, float, int]] = []
    for least in sorted({one["least"] for one in bins}):
        there = [one for one in bins if one["least"] == least]
        weights = [min(1.0, one["pairs"] / FEW) for one in there]
        weight, count = sum(weights), sum(one["pairs"] for one in there)
        share = sum(one["right"] * each for one, each in zip(there, weights, strict=True)) / weight
        start = least
        while found and found[-1][1] >= share:
            start, before, more, pairs = found.pop()
            share, weight, count = (share * weight + before * more) / (weight + more), weight + more, count + pairs
        found.append((start, share, weight, count))
    return [(least, round(share, 3), count) for least, share, _, count in found]


def left_out(bins: Bins, enough: float) -> list[dict[str, Any]]:
    """Evaluate each family with the steps of the others: the pairs called different, and the share ordered correctly.

    Args:
        bins: result of :func:`by_family`.
        enough: minimum certainty for calling two configurations different.
    """
    found = []
    for family in dict.fromkeys(one["family"] for one in bins):
        others = steps([one for one in bins if one["family"] != family])
        own = [one for one in bins if one["family"] == family]
        from_on = next((least for least, share, _ in others if share >= enough), None)
        told = [one for one in own if from_on is not None and one["least"] >= from_on]
        pairs = sum(one["pairs"] for one in told)
        found.append(
            {
                "family": family,
                "pairs": sum(one["pairs"] for one in own),
                "from": from_on,
                "told": pairs,
                "right": sum(one["right"] * one["pairs"] for one in told) / pairs if pairs else None,
            }
        )
    return found
