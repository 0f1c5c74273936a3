"""Simulate the correction that ``kprof tune --measured`` makes from a few timings, on the sweeps."""

from collections.abc import Mapping, Sequence
from random import Random
from statistics import fmean, median
from typing import Any

from kprof.tuning.residuals import TimedConfig, informative, learn
from validation.benchmarks.model import metrics
from validation.benchmarks.model.evaluate import Judged, Scored, distinct
from validation.benchmarks.model.problem import Family

COUNTS = (0, 1, 3, 5, 10, 30, 100)
DRAWS = 20
"""Number of random draws of the timings."""
LEFT = 3
"""Minimum number of untimed configurations to evaluate."""
ASKED = 10
"""Numbers of timings for which the page shows results."""
MANY = 200
"""Maximum size of a pool of configurations; larger pools are sampled."""
WORTH = 0.02
"""The share of the error that few timings remove is only shown if many timings remove at least this much."""


def figures(chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]]) -> list[dict[str, Any]]:
    """Return the errors of untimed configurations and the choice, by the number of timings.

    Sweeps of one problem are evaluated separately. In families with single configurations of many problems, all
    configurations of a kernel on a GPU are evaluated together.
    """
    found = []
    for family in chosen:
        sweeps = _sweeps(family, results.get(family.name, ()))
        for count in COUNTS:
            judged_here = [_after(rows, count) for rows in sweeps if len(rows) >= count + LEFT]
            if judged_here:
                mean = {key: fmean(one[key] for one in judged_here) for key in judged_here[0]}
                found.append({"family": family.title, "timings": count, "sweeps": len(judged_here), **mean})
    return found


def _sweeps(family: Family, results: Sequence[Judged]) -> list[list[Scored]]:
    """Return the rows that are evaluated together."""
    if family.question == "order":
        told = [judged for judged in results if judged.figures.get("spread", 1.0) > 1 + metrics.NEAR]
        return [_timed(judged.scored) for judged in told]
    if family.question not in ("time", "pair"):
        return []
    pools: dict[tuple[str, str], list[Scored]] = {}
    for judged in results:
        for one in judged.scored:
            pools.setdefault((one.candidate.points[0].kernel, judged.problem.product), []).append(one)
    rows = [_timed(pool) for pool in pools.values()]
    return [Random(0).sample(pool, MANY) if len(pool) > MANY else pool for pool in rows if len(pool) >= ASKED + LEFT]


def _timed(rows: Sequence[Scored]) -> list[Scored]:
    timed = [one for one in rows if one.candidate.time_us and not one.candidate.suspect and not one.another_code]
    return distinct(timed)


def _after(rows: Sequence[Scored], count: int) -> dict[str, float]:
    """Return means over the draws, and the results of other choices of the timings.

    ``told``: the error if the most informative configurations are timed. ``chosen``: the best time divided by the
    chosen one's if the model's first choices are timed.
    """
    draws = [Random(draw).sample(range(len(rows)), count) for draw in range(DRAWS if count else 1)]
    each = [_judged(rows, timed) for timed in draws]
    first = sorted(range(len(rows)), key=lambda place: rows[place].us)[:count]
    corrected = _corrected(rows, first)
    choice = min(range(len(rows)), key=lambda place: corrected[place][0])
    best = min(_time(one) for one in rows)
    return {
        "before": _judged(rows, ())[0],
        "error": fmean(one[0] for one in each),
        "told": _judged(rows, informative([(_knobs(one), one.shares) for one in rows], count))[0],
        "in_range": fmean(one[1] for one in each),
        "spearman": fmean(one[2] for one in each),
        "chosen": best / _time(rows[choice]),
    }


def _judged(rows: Sequence[Scored], timed: Sequence[int]) -> tuple[float, float, float]:
    """Return median error, share in the range and Spearman of the untimed configurations."""
    corrected = _corrected(rows, timed)
    rest = [place for place in range(len(rows)) if place not in set(timed)]
    errors = [abs(corrected[place][0] / _time(rows[place]) - 1) for place in rest]
    inside = [corrected[place][1] <= _time(rows[place]) <= corrected[place][2] for place in rest]
    order = metrics.spearman([corrected[place][0] for place in rest], [_time(rows[place]) for place in rest])
    return median(errors), fmean(inside), order or 0.0


def _corrected(rows: Sequence[Scored], timed: Sequence[int]) -> list[tuple[float, float, float]]:
    """Return time and range of each configuration; timed configurations have their own time."""
    if not timed:
        return [(one.us, one.low, one.high) for one in rows]
    told = (rows[place] for place in timed)
    learned = learn([TimedConfig(_knobs(one), _time(one), one.us, one.shares) for one in told])
    found = []
    for place, one in enumerate(rows):
        if place in set(timed):
            found.append((_time(one),) * 3)
            continue
        by = learned.of(_knobs(one), one.shares)
        found.append((one.us * by.factor, one.us * by.low, one.us * by.high))
    return found


def _knobs(one: Scored) -> dict[str, Any]:
    return {name: "" if value is None else value for name, value in one.candidate.config.items()}


def _time(one: Scored) -> float:
    """Return the time on the GPU: the published time without the overhead of the timing method."""
    published = one.candidate.time_us or 0.0
    return max(published - one.added, min(published, one.light))


def table(found: Sequence[Mapping[str, Any]]) -> tuple[str, list[str], list[list[str]]]:
    """Return title, header and lines of the table."""
    header = [
        "sweeps of",
        "timings",
        "sweeps",
        "median error",
        "of the others, corrected",
        "by those that tell most",
        "in range",
        "Spearman",
        "best / chosen",
    ]
    lines = [
        [one["family"], str(one["timings"]), str(one["sweeps"]), f"{one['before']:.1%}",
         f"{one['error']:.1%}", f"{one['told']:.1%}", f"{one['in_range']:.0%}",
         f"{one['spearman']:.2f}", f"{one['chosen']:.3f}"]
        for one in found
    ]  # fmt: skip
    return "Corrected by a few timings", header, lines


def sentence(found: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence with the share of the error reduction that ten timings achieve on the largest sweep."""
    by = {one["timings"]: one for one in found if one["family"].startswith("tritonBLAS")}
    ten, most = by[ASKED], by[max(by)]
    return (
        f"the median error of the untimed configurations falls from {_one(ten['before'])} to {_one(ten['error'])} % "
        f"with ten random timings, to {_one(ten['told'])} % with the ten most informative ones, and to "
        f"{_one(most['error'])} % with {max(by)}; its Spearman is {ten['spearman']:.2f} and {most['spearman']:.2f}"
    )


def gained(found: Sequence[Mapping[str, Any]]) -> dict[str, tuple[int, float, float]]:
    """Return for each family the maximum number of timings, and how much of the error reduction ten achieve.

    There are two shares: for ten random timings, and for the ten most informative ones. Families with too few
    timings, or whose error hardly falls, are left out.
    """
    shares = {}
    for name in dict.fromkeys(one["family"] for one in found):
        by = {one["timings"]: one for one in found if one["family"] == name}
        most = max(by)
        fall = by[most]["before"] - by[most]["error"]
        if ASKED in by and most > ASKED and fall >= WORTH:
            ten = by[ASKED]
            shares[name] = (most, *((ten["before"] - ten[key]) / fall for key in ("error", "told")))
    return shares


def gains(found: Sequence[Mapping[str, Any]]) -> str:
    """Return the result of :func:`gained` in words."""
    told = gained(found)
    named = "; ".join(
        f"{name} {_whole(best)} (of {most}; by lot {_whole(lot)})" for name, (most, lot, best) in told.items()
    )
    return (
        "The ten most informative timings achieve this share of the error reduction that many timings achieve (in "
        f"brackets the number of those timings, and the share for ten random timings): {named}."
    )


def _whole(share: float) -> str:
    return f"{100 * share:.0f} %"


def _one(share: float) -> str:
    return f"{100 * share:.1f}"
