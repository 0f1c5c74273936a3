"""What a few timings of a kernel give: the correction that ``kprof tune --measured`` makes, simulated on the sweeps."""

from collections.abc import Mapping, Sequence
from random import Random
from statistics import fmean, median
from typing import Any

from benchmarks.model import metrics
from benchmarks.model.evaluate import Judged, Scored, distinct
from benchmarks.model.problem import Family

COUNTS = (0, 1, 3, 5, 10, 30)
DRAWS = 20
"""Times that the timings are drawn by lot."""
LEFT = 3
"""Configurations that must be left to be judged."""
ASKED = 10
"""Timings after which the page tells what they gave."""


def figures(chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]]) -> list[dict[str, Any]]:
    """For each sweep, by the number of timings, how the configurations are met that were not timed, and the choice."""
    found = []
    for family in chosen:
        if family.question != "order":
            continue
        sweeps = []
        for judged in results.get(family.name, ()):
            rows = distinct([one for one in judged.scored if one.candidate.time_us and not one.candidate.suspect])
            if judged.figures.get("spread", 1.0) > 1 + metrics.NEAR:
                sweeps.append(rows)
        for count in COUNTS:
            judged_here = [_after(rows, count) for rows in sweeps if len(rows) >= count + LEFT]
            if judged_here:
                mean = {key: fmean(one[key] for one in judged_here) for key in judged_here[0]}
                found.append({"family": family.title, "timings": count, "sweeps": len(judged_here), **mean})
    return found


def _after(rows: Sequence[Scored], count: int) -> dict[str, float]:
    """Means over the draws; ``chosen``: the best time over the chosen one's with the model's first choices timed."""
    draws = [Random(draw).sample(range(len(rows)), count) for draw in range(DRAWS if count else 1)]
    each = [_judged(rows, timed) for timed in draws]
    first = sorted(range(len(rows)), key=lambda place: rows[place].us)[:count]
    corrected = _corrected(rows, first)
    choice = min(range(len(rows)), key=lambda place: corrected[place][0])
    best = min(_time(one) for one in rows)
    return {
        "before": _judged(rows, ())[0],
        "error": fmean(one[0] for one in each),
        "in_range": fmean(one[1] for one in each),
        "spearman": fmean(one[2] for one in each),
        "chosen": best / _time(rows[choice]),
    }


def _judged(rows: Sequence[Scored], timed: Sequence[int]) -> tuple[float, float, float]:
    """Median error, share in the range and Spearman of what was not timed."""
    corrected = _corrected(rows, timed)
    rest = [place for place in range(len(rows)) if place not in set(timed)]
    errors = [abs(corrected[place][0] / _time(rows[place]) - 1) for place in rest]
    inside = [corrected[place][1] <= _time(rows[place]) <= corrected[place][2] for place in rest]
    order = metrics.spearman([corrected[place][0] for place in rest], [_time(rows[place]) for place in rest])
    return median(errors), fmean(inside), order or 0.0


def _corrected(rows: Sequence[Scored], timed: Sequence[int]) -> list[tuple[float, float, float]]:
    """Time and range of each configuration; what was timed has its own time."""
    from kprof.tuning.residuals import learn

    if not timed:
        return [(one.us, one.low, one.high) for one in rows]
    learned = learn([(_knobs(rows[place]), _time(rows[place]), rows[place].us) for place in timed])
    found = []
    for place, one in enumerate(rows):
        if place in set(timed):
            found.append((_time(one),) * 3)
            continue
        by = learned.of(_knobs(one))
        found.append((one.us * by.factor, one.us * by.low, one.us * by.high))
    return found


def _knobs(one: Scored) -> dict[str, Any]:
    return {name: "" if value is None else value for name, value in one.candidate.config.items()}


def _time(one: Scored) -> float:
    """On the GPU: as published, without what the way of timing adds."""
    published = one.candidate.time_us or 0.0
    return max(published - one.added, min(published, one.light))


def table(found: Sequence[Mapping[str, Any]]) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and lines."""
    header = [
        "sweeps of",
        "timings",
        "sweeps",
        "median error",
        "of the others, corrected",
        "in range",
        "Spearman",
        "best / chosen",
    ]
    lines = [
        [one["family"], str(one["timings"]), str(one["sweeps"]), f"{one['before']:.1%}",
         f"{one['error']:.1%}", f"{one['in_range']:.0%}",
         f"{one['spearman']:.2f}", f"{one['chosen']:.3f}"]
        for one in found
    ]  # fmt: skip
    return "Corrected by a few timings", header, lines


def sentence(found: Sequence[Mapping[str, Any]]) -> str:
    """What ten timings give of what all give, on the sweep that has so many."""
    by = {one["timings"]: one for one in found if one["family"].startswith("tritonBLAS")}
    ten, most = by[ASKED], by[max(by)]
    return (
        f"the median error of what was not timed goes from {_one(ten['before'])} to {_one(ten['error'])} % with ten "
        f"timings and to {_one(most['error'])} % with {max(by)}; its Spearman is {ten['spearman']:.2f} and "
        f"{most['spearman']:.2f}"
    )


def _one(share: float) -> str:
    return f"{100 * share:.1f}"
