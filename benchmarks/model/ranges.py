"""How sure the model is: do the ranges hold the published times, and from where on does it tell two launches apart.

The ranges' figures are in ``ranges.toml`` beside :mod:`kprof_analyzers.model.ranges`. Here each family's times are
looked for in them and in ranges that are fitted on the other families only, and the file is written.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.model import metrics
from benchmarks.model.evaluate import Judged, Scored, distinct
from benchmarks.model.problem import Family

HELD = 0.85
"""Share of a family's times that such ranges are to hold: an average over families hides those that are not held."""
STEPS = tuple(step / 200 for step in range(1, 21))
"""Shares of the times that a fitted range may leave out on each side."""
OUTSIDE = 0.02
"""Of these the usual one."""
ALONE = 0.05
"""The same where there is one family only: no other can say how much of it to leave out."""
GUESS = 3
"""So many times wider, either way, is the range where the iterations of a loop are not known: assumed."""
FEW = 10
"""A family with fewer times of a sort than this weighs less in the fit."""
LEAST = 0.5
"""Families' weight from which a sort has a range."""
EDGES = (0.0, 0.01, 0.03, 0.05, 0.08, 0.12, 0.2, 0.5, float("inf"))
"""Bins of the share by which two predictions differ."""
LITTLE = 0.2
"""Of a time that is fitted on the way of timing may have added so much at most: nearly any range holds the others."""
CREDIBLE_US = 5.0
"""Times of published winners below this are left out: some are shorter than the data sheet allows."""

FILE = Path(__file__).parents[2] / "analyzers/kprof_analyzers/model/ranges.toml"
_HEAD = """\
# Factors of the predicted time between which measured times lie, by what a prediction rests on. Written by
# python -m benchmarks.model --ranges COMMIT; outside: share of a family's times left out on each side, the largest with
# which as many families as can be, left out of the fit, still have 85 % of their times in the ranges."""

Fitted = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Point:
    """A published time beside its prediction.

    Attributes:
        one: the prediction.
        measured: microseconds, as published, without what the way of timing adds at least.
        least: without the most that it may have added.
    """

    one: Scored
    measured: float
    least: float

    @property
    def factor(self) -> float:
        """The factor on the prediction that meets the measurement; 1 if what the timing adds can explain it all."""
        us = self.one.us
        return 1.0 if self.least <= us <= self.measured else (self.least if self.least > us else self.measured) / us


def points(family: Family, results: Sequence[Judged]) -> list[Point]:
    """Every launch with a credible time that is its code's, each machine code once in tables that order."""
    found: list[Point] = []
    for one in _credible(family, results):
        measured = one.candidate.time_us or 0.0
        if not one.another_code:
            most = max(measured - family.timing.least, min(measured, one.light))
            found.append(Point(one, most, max(measured - family.timing.most, min(most, one.light))))
    return found


def _credible(family: Family, results: Sequence[Judged]) -> list[Scored]:
    """Launches with a credible time, each machine code once in tables that order."""
    found: list[Scored] = []
    for judged in results:
        timed = [one for one in judged.scored if one.candidate.time_us and not one.candidate.suspect]
        if family.question == "order":
            timed = distinct(timed)
        found += [one for one in timed if not family.private or (one.candidate.time_us or 0.0) >= CREDIBLE_US]
    return found


def telling(every: Mapping[str, Sequence[Point]], chosen: Sequence[Family]) -> dict[str, list[Point]]:
    """The times that are fitted on: of the kernels that are predicted, and of little else."""
    found = {}
    for family in chosen:
        listed = [one for one in every.get(family.name, ()) if one.measured - one.least <= LITTLE * one.measured]
        if listed and not family.stand_in:
            found[family.name] = listed
    return found


def fitted(by_family: Mapping[str, Sequence[Point]], outside: float = OUTSIDE) -> Fitted:
    """The range of each sort, every family weighing alike.

    Args:
        by_family: the times.
        outside: share of them that a range leaves out on each side; at least :data:`ALONE` where one family has them.
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
        # A time or two ask for no range.
        if sum(weight for _, weight in factors) >= LEAST:
            left = _outside(outside, families[sort])
            found[sort] = min(1.0, _weighted(factors, left)), max(1.0, _weighted(factors, 1 - left))
    return found


def _outside(outside: float, families: int) -> float:
    """Share of a sort's times that are left out on each side, by how many families have it."""
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
    """Share of the times that lie in the ranges; of a sort that has none, in that of ``usual``."""
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
    """For each family the share of its times in ranges that are fitted on the others, where these have such a sort.

    Args:
        by_family: the times that are fitted on.
        outside: share of them that a range leaves out on each side.
        judged: the times that are looked for, where there are more.
    """
    found = {}
    for name, listed in (judged or by_family).items():
        others = fitted({other: there for other, there in by_family.items() if other != name}, outside)
        # Of a sort that only this family has, the others say nothing.
        if any(point.one.sort in others for point in listed):
            found[name] = covered(listed, others)
    return found


def calibrated(by_family: Mapping[str, Sequence[Point]]) -> float:
    """The largest share outside with which as many families as can be, left out, have :data:`HELD` in the ranges."""

    def held(step: float) -> int:
        return sum(share >= HELD for share in apart(by_family, step).values())

    return max(STEPS, key=lambda step: (held(step), step))


def write(chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]], commit: str) -> None:
    """Renew ``ranges.toml`` with the sorts that this run has times of; the others stay.

    A sort that one family alone has (an architecture without times to fit on) leaves :data:`ALONE` out on each side;
    where iterations are not known the range is that of ``usual``, wider by :data:`GUESS`, and holds every other one.
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
    """For each family with times: how many lie in the ranges, as published, and when it is left out of the fit."""
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
    """The median of the ranges' upper over lower ends, over the times of kernels that are predicted themselves."""
    own = [f for f in chosen if f.name in results and not f.stand_in]
    listed = [point.one.high / point.one.low for f in own for point in points(f, results[f.name])]
    return median(listed) if listed else None


def sorts(chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]]) -> list[dict[str, Any]]:
    """Each sort's range: as it is set, and as all families together ask for it."""
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
    """How often the launch that is said to be faster is, by the share that the predictions differ; different codes."""
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
    """Of pairs whose times differ by more than repeated measurements do."""
    signed = [right for right, gain in found if abs(gain) > metrics.NEAR]
    return sum(signed) / len(signed) if signed else None
