"""Evaluate the model's certainty: whether ranges contain the published times, and which differences it can order.

The ranges are in ``ranges.toml`` next to :mod:`kprof_analyzers.model.ranges`. This module counts each family's times
in them and in ranges fitted only on the other families, and writes the file.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

from validation.benchmarks.model import metrics
from validation.benchmarks.model.evaluate import Judged, Scored, distinct
from validation.benchmarks.model.problem import Family

HELD = 0.85
"""Minimum share of every family's times in such ranges; an average over families would hide families with less."""
STEPS = tuple(step / 200 for step in range(1, 21))
"""Tried shares of the times that a fitted range leaves out on each side."""
OUTSIDE = 0.02
"""The usual one of these shares."""
ALONE = 0.05
"""The share if there is only one family, because no other family shows how much to leave out."""
GUESS = 3
"""Factor by which the range is wider on each side if the iterations of a loop are unknown; assumed."""
FEW = 10
"""A family with fewer times of a kind has less weight in the fit."""
LEAST = 0.5
"""Minimum total weight of families for a kind to have a range."""
EDGES = (0.0, 0.01, 0.03, 0.05, 0.08, 0.12, 0.2, 0.5, float("inf"))
"""Bins of the relative difference of two predictions."""
LITTLE = 0.2
"""Maximum overhead of the timing method in a fitted time, as a share; nearly any range contains other times."""
CREDIBLE_US = 5.0
"""Published times of winners below this are left out, because some are shorter than the data sheet allows."""

FILE = Path(__file__).parents[3] / "analyzers/kprof_analyzers/model/ranges.toml"
_HEAD = """\
# Factors of the predicted time between which measured times lie, by what a prediction rests on. Written by
# python -m validation.benchmarks.model --ranges COMMIT; outside: share of a family's times left out on each side, the
# largest with which as many families as can be, left out of the fit, still have 85 % of their times in the ranges."""

Fitted = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Point:
    """A published time next to its prediction.

    Attributes:
        one: the prediction.
        measured: published microseconds, without the timing method's minimum overhead.
        least: published microseconds without its maximum overhead.
    """

    one: Scored
    measured: float
    least: float

    @property
    def factor(self) -> float:
        """Factor between prediction and measurement; 1 if the timing method's overhead can explain the difference."""
        us = self.one.us
        return 1.0 if self.least <= us <= self.measured else (self.least if self.least > us else self.measured) / us


def points(family: Family, results: Sequence[Judged]) -> list[Point]:
    """Return every launch with a credible time that belongs to its code, each machine code once in ordered tables."""
    found: list[Point] = []
    for one in _credible(family, results):
        measured = one.candidate.time_us or 0.0
        if not one.another_code:
            most = max(measured - family.timing.least, min(measured, one.light))
            found.append(Point(one, most, max(measured - family.timing.most, min(most, one.light))))
    return found


def _credible(family: Family, results: Sequence[Judged]) -> list[Scored]:
    """Return launches with a credible time, each machine code once in ordered tables."""
    found: list[Scored] = []
    for judged in results:
        timed = [one for one in judged.scored if one.candidate.time_us and not one.candidate.suspect]
        if family.question == "order":
            timed = distinct(timed)
        found += [one for one in timed if not family.private or (one.candidate.time_us or 0.0) >= CREDIBLE_US]
    return found


def telling(every: Mapping[str, Sequence[Point]], chosen: Sequence[Family]) -> dict[str, list[Point]]:
    """Return the times to fit on: times of the predicted kernels, with little overhead."""
    found = {}
    for family in chosen:
        listed = [one for one in every.get(family.name, ()) if one.measured - one.least <= LITTLE * one.measured]
        if listed and not family.stand_in:
            found[family.name] = listed
    return found


def fitted(by_family: Mapping[str, Sequence[Point]], outside: float = OUTSIDE) -> Fitted:
    """Return the range of each kind, with equal weight of families.

    Args:
        by_family: times by family.
        outside: share of times that a range leaves out on each side; at least :data:`ALONE` for a single family.
    """
    sorts: dict[str, list[tuple[float, float]]] = {}
    families: Counter[str] = Counter()
    for listed in by_family.values():
        families.update({point.one.sort for point in listed})
        counts: dict[str, int] = {}
        for point in listed:
            counts[point.one.sort] = counts.get(point.one.sort, 0) + 1
        for point in listed:
            count = counts[point.one.sort]
            sorts.setdefault(point.one.sort, []).append((point.factor, min(1.0, count / FEW) / count))
    found = {}
    for sort, factors in sorts.items():
        # One or two times are not enough for a range.
        if sum(weight for _, weight in factors) >= LEAST:
            left = _outside(outside, families[sort])
            found[sort] = min(1.0, _weighted(factors, left)), max(1.0, _weighted(factors, 1 - left))
    return found


def _outside(outside: float, families: int) -> float:
    """Return the share of a kind's times that is left out on each side, given the number of its families."""
    return max(outside, ALONE) if families == 1 else outside


def _weighted(factors: Sequence[tuple[float, float]], share: float) -> float:
    total = sum(weight for _, weight in factors)
    seen = 0.0
    for factor, weight in sorted(factors):
        seen += weight
        if seen >= share * total:
            return factor
    return max(factor for factor, _ in factors)


def covered(listed: Sequence[Point], ranges: Fitted) -> float:
    """Return the share of the times in the ranges; for a kind without a range, that of ``usual`` is used."""
    from kprof_analyzers.model.ranges import bounds

    usual = ranges.get("usual", (1.0, 1.0))
    right = 0
    for point in listed:
        low, high = bounds(point.one.us, point.one.light, *ranges.get(point.one.sort, usual))
        right += point.measured >= 0.999 * low and point.least <= 1.001 * high
    return right / len(listed)


def apart(
    by_family: Mapping[str, Sequence[Point]], outside: float, judged: Mapping[str, Sequence[Point]] | None = None
) -> dict[str, float]:
    """Return for each family the share of its times in ranges fitted on the others, if these have such a kind.

    Args:
        by_family: times to fit on.
        outside: share of times that a range leaves out on each side.
        judged: times to evaluate, if there are more.
    """
    found = {}
    for name, listed in (judged or by_family).items():
        others = fitted({other: there for other, there in by_family.items() if other != name}, outside)
        # The other families have no times of a kind that only this family has.
        if any(point.one.sort in others for point in listed):
            found[name] = covered(listed, others)
    return found


def calibrated(by_family: Mapping[str, Sequence[Point]]) -> float:
    """Return the largest share outside for which most families, when held out, have :data:`HELD` in the ranges."""

    def held(step: float) -> int:
        return sum(share >= HELD for share in apart(by_family, step).values())

    return max(STEPS, key=lambda step: (held(step), step))


def write(chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]], commit: str) -> None:
    """Update ``ranges.toml`` with the kinds that this run has times of; the others stay.

    A kind with a single family (an architecture without times to fit on) leaves :data:`ALONE` out on each side. If
    iterations are unknown, the range is that of ``usual``, wider by :data:`GUESS`, and contains every other range.
    """
    from kprof_analyzers.model.ranges import calibration

    titles = {family.name: family.title for family in chosen}
    whole = {f.name: listed for f in chosen if f.name in results and (listed := points(f, results[f.name]))}
    every = telling(whole, chosen)
    outside = calibrated(every) if len(every) > 1 else ALONE
    sorts, left = dict(calibration()["sorts"]), dict(calibration()["left_out"])
    for sort, (low, high) in fitted(every, outside).items():
        there = [sum(point.one.sort == sort for point in listed) for listed in every.values()]
        sorts[sort] = {
            "low": round(low, 2), "high": round(high, 2), "times": sum(there), "families": sum(map(bool, there)),
            "outside": _outside(outside, sum(map(bool, there))), "commit": commit,
        }  # fmt: skip
    low, high = sorts["usual"]["low"] / GUESS, sorts["usual"]["high"] * GUESS
    others = [one for sort, one in sorts.items() if sort != "unknown"]
    sorts["unknown"] = {
        "low": min(round(low, 2), *(one["low"] for one in others)),
        "high": max(round(high, 2), *(one["high"] for one in others)), "times": 0, "families": 0, "outside": None,
        "commit": commit,
    }  # fmt: skip
    if len(every) > 1:
        left = {titles[name]: round(share, 3) for name, share in apart(every, outside, whole).items()}
    lines = [_HEAD, f"architectures = {json.dumps(list(calibration()['architectures']))}", "", "[sorts]"]
    for sort, fields in sorts.items():
        inner = ", ".join(f"{key} = {json.dumps(value)}" for key, value in fields.items() if value is not None)
        lines.append(f"{sort} = {{ {inner} }}")
    lines += ["", "# Of each family's times the share in ranges that were fitted on the others.", "[left_out]"]
    lines += [f"{json.dumps(name)} = {share}" for name, share in left.items()]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def coverage(chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]]) -> list[dict[str, Any]]:
    """Return for each family with times the share in the published ranges, and in ranges fitted without the family."""
    from kprof_analyzers.model.ranges import calibration, ranges

    shipped: Fitted = {sort: (found.low, found.high) for sort, found in ranges().items()}
    outside = calibration()["sorts"]["usual"]["outside"]
    every = {f.name: listed for f in chosen if f.name in results and (listed := points(f, results[f.name]))}
    families = {family.name: family for family in chosen}
    used = telling(every, chosen)
    alone = apart(used, outside, every)
    lines = []
    for name, listed in every.items():
        plain = [replace(point, measured=time, least=time) for point in listed if (time := point.one.candidate.time_us)]
        lines.append(
            {
                "family": families[name].title,
                "times": len(listed),
                "another_code": sum(one.another_code for one in _credible(families[name], results[name])),
                "fitted": len(used.get(name, ())),
                "covered": covered(listed, shipped),
                "as_published": covered(plain, shipped),
                "left_out": alone.get(name),
                "width": median([point.one.high / point.one.low for point in listed]),
            }
        )
    return lines


def width(chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]]) -> float | None:
    """Return the median ratio of the ranges' ends, over the times of kernels that are predicted themselves."""
    own = [f for f in chosen if f.name in results and not f.stand_in]
    listed = [point.one.high / point.one.low for f in own for point in points(f, results[f.name])]
    return median(listed) if listed else None


def sorts(chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]]) -> list[dict[str, Any]]:
    """Return each kind's range: as set, and as fitted on all families together."""
    from kprof_analyzers.model.ranges import calibration, ranges

    every = {f.name: listed for f in chosen if f.name in results and (listed := points(f, results[f.name]))}
    asked = fitted(telling(every, chosen), calibration()["sorts"]["usual"]["outside"])
    counts = [point.one.sort for listed in every.values() for point in listed]
    return [
        {"sort": sort, "times": counts.count(sort), "low": found.low, "high": found.high,
         "asked": list(asked[sort]) if sort in asked else None}
        for sort, found in ranges().items()
    ]  # fmt: skip


def pairs(chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]]) -> list[dict[str, Any]]:
    """Return how often the launch predicted to be faster is, by the predicted difference, for different codes."""
    bins: list[list[tuple[bool, float]]] = [[] for _ in EDGES[1:]]
    for family in chosen:
        if family.question != "order":
            continue
        for judged in results.get(family.name, ()):
            rows = distinct([one for one in judged.scored if one.candidate.time_us and not one.candidate.suspect])
            for first, second in combinations(sorted(rows, key=lambda one: one.us), 2):
                share = second.us / first.us - 1
                gain = (second.candidate.time_us or 0.0) / (first.candidate.time_us or 1.0) - 1
                place = next(i for i, edge in enumerate(EDGES[1:]) if share < edge)
                bins[place].append((gain > 0, gain))
    return [
        {
            "least": EDGES[place],
            "most": EDGES[place + 1] if place + 2 < len(EDGES) else None,
            "pairs": len(found),
            "right": sum(right for right, _ in found) / len(found),
            "gain": median([gain for _, gain in found]),
            "clear": _clear(found),
        }
        for place, found in enumerate(bins)
        if found
    ]


def _clear(found: Sequence[tuple[bool, float]]) -> float | None:
    """Return pairs whose times differ by more than repeated measurements do."""
    signed = [right for right, gain in found if abs(gain) > metrics.NEAR]
    return sum(signed) / len(signed) if signed else None
