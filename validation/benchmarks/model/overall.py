"""Goals over all families: the order of timed tables, accuracy of times, certainty and speed."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, median
from typing import Any

from validation.benchmarks.model.evaluate import Judged, distinct

SPREAD = 1.05
"""A table has an order if its longest time divided by its shortest is at least this."""
_SEVERAL, _SWEEP = 5, 20
"""Minimum number of rows of a table with a meaningful order, and of a sweep."""
_APART, _NEAR = 1.1, 0.15
TABLES = "timed tables"
TIMES = "times"
"""Prefix of these goals; a run of only some families does not affect them."""
_APART_FROM = "gfx1250"
"""The family with its own goal."""

_HELD, _WIDE = 0.85, 2.0
"""Minimum share of a family's times in ranges fitted on the others, and maximum ratio of a range's ends."""
_QUICK_MS = 20.0

Results = Mapping[str, Sequence[Judged]]


def goal(text: str, value: str, reached: bool) -> dict[str, Any]:
    """Return a goal: its text, the result, and whether it is reached."""
    return {"goal": text, "value": value, "reached": bool(reached)}


def check(results: Results) -> list[dict[str, Any]]:
    """Return the goals whose rows ran."""
    return [*_ordered(results), *_near(results)]


def sure(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the goals of the ranges, from the figures of :mod:`validation.benchmarks.model.sureness`."""
    shares = {one["family"]: one["left_out"] for one in found["coverage"] if one["left_out"] is not None}
    if len(shares) < 2:
        return []
    short = {name: share for name, share in shares.items() if share < _HELD}
    named = ", ".join(f"{name} {share:.0%}" for name, share in short.items())
    words = f"{len(shares) - len(short)} of {len(shares)}" + (f"; not {named}" if short else "")
    goals = [goal(f"ranges: {_HELD:.0%} of each family's times, where it was left out of the fit", words, not short)]
    wide = found["width"]
    if wide is not None:
        goals.append(goal(f"ranges: median upper over lower end at most {_WIDE:.0f}", f"{wide:.1f}", wide <= _WIDE))
    return goals


def quick(seconds: Sequence[float]) -> list[dict[str, Any]]:
    """Return the goal of a prediction's cost, from the processor seconds of each."""
    if not seconds:
        return []
    mean = 1000 * fmean(seconds)
    text = f"a prediction takes at most {_QUICK_MS:.0f} ms on average"
    return [goal(text, f"{mean:.1f} ms over {len(seconds)}", mean <= _QUICK_MS)]


def _ordered(results: Results) -> list[dict[str, Any]]:
    """Return the order goal over timed tables with an order: clean rows, equal weight per table, and all pairs."""
    judged = [one for family in results.values() for one in family if "clean" in one.figures]
    tables = [(one.figures["clean"], one) for one in judged if one.figures["spread"] > SPREAD]
    known = [clean for clean, _ in tables if clean["spearman"] is not None]
    if not known:
        return []
    several = [clean["spearman"] for clean in known if clean["n"] >= _SEVERAL]
    sweeps = [clean["spearman"] for clean in known if clean["n"] >= _SWEEP]
    mean, first, third = (fmean(clean[name] for clean in known) for name in ("spearman", "top1", "top3"))
    words = [f"{mean:.3f} over {len(known)}"]
    words += [f"{fmean(several):.3f} over the {len(several)} with {_SEVERAL} rows or more"] if several else []
    words += [f"least of {len(sweeps)} with {_SWEEP} rows or more {min(sweeps):.2f}"] if sweeps else []
    text = f"{TABLES}: Spearman at least 0.88 on average, 0.8 on each of 20 rows or more"
    found = [goal(text, ", ".join(words), mean >= 0.88 and min(sweeps, default=1.0) >= 0.8)]
    text = f"{TABLES}: top-1 at least 0.98, top-3 at least 0.995 on average"
    found.append(goal(text, f"{first:.3f}, {third:.4f}", first >= 0.98 and third >= 0.995))
    if pairs := [right for _, one in tables for right in _pairs(one)]:
        text = f"{TABLES}: 90 % of the pairs measured over 10 % apart are ordered as measured"
        found.append(goal(text, f"{fmean(pairs):.1%} of {len(pairs)}", fmean(pairs) >= 0.9))
    return found


def _pairs(judged: Judged) -> list[float]:
    """Return for each pair of clean rows measured over 10 % apart: 1 if ordered correctly, 0.5 for a tie."""
    rows = distinct([one for one in judged.scored if not one.candidate.suspect])
    timed = sorted((one.candidate.time_us or 0.0, one.timed) for one in rows)
    return [
        0.5 if before == after else float(before < after)
        for (short, before), (long, after) in combinations(timed, 2)
        if long > short * _APART
    ]


def _near(results: Results) -> list[dict[str, Any]]:
    """Return each family's median ratio, and the share of all rows that are near; winners of a search have no times."""
    ratios = {
        name: [
            one.timed / one.candidate.time_us
            for judged in family
            for one in judged.scored
            if one.candidate.time_us and not one.candidate.suspect
        ]
        for name, family in results.items()
        if name != _APART_FROM and not any(judged.figures.get("percentile") is not None for judged in family)
    }
    medians = {name: median(found) for name, found in ratios.items() if found}
    if not medians:
        return []
    far = {name: value for name, value in medians.items() if not 0.9 <= value <= 1.1}
    named = ", ".join(f"{name} {value:.2f}" for name, value in far.items())
    words = f"{len(medians) - len(far)} of {len(medians)}" + (f"; not {named}" if far else "")
    found = [goal(f"{TIMES}: median ratio between 0.9 and 1.1 in each family", words, not far)]
    every = [abs(ratio - 1) <= _NEAR for family in ratios.values() for ratio in family]
    text = f"{TIMES}: half of all rows within 15 %"
    return [*found, goal(text, f"{fmean(every):.0%} of {len(every)}", fmean(every) >= 0.5)]
