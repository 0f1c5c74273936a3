"""``times.csv``: the configurations whose times would correct the others best, for somebody with a GPU to fill in."""

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kprof.tuning.candidates import Scored
from kprof.tuning.residuals import informative

if TYPE_CHECKING:
    from kprof.tuning.document import TuneReport

NAME = "times.csv"
COUNT = 10
"""Configurations that are named."""
_LOOKED_AT = 120
"""Configurations of a ranking, evenly spread, that they are chosen from."""


def to_time(ranked: Sequence[Scored]) -> list[int]:
    """Positions in a ranking of the configurations whose times tell most of all others; empty where few are left.

    Where times are known already, there is nothing to ask for.
    """
    timed = [place for place, one in enumerate(ranked) if one.time_us is not None]
    known = any(one.given or one.measured_ms is not None for one in ranked)
    if known or len(timed) <= COUNT:
        return []
    if len(timed) > _LOOKED_AT:
        timed = [timed[place * len(timed) // _LOOKED_AT] for place in range(_LOOKED_AT)]
    chosen = informative([(ranked[place].config, ranked[place].shares) for place in timed], COUNT)
    return sorted(timed[place] for place in chosen)


def times_csv(report: "TuneReport") -> str:
    """The file's text: knobs, with several problems their sizes, and an empty time; empty where none is asked for."""
    problems = [problem for problem in report.problems if problem.to_time]
    if not problems:
        return ""
    sizes = _differing([problem.shape for problem in problems])
    knobs = list(dict.fromkeys(n for p in problems for place in p.to_time for n in p.ranking[place].config))
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([*sizes, *knobs, "time_us"])
    for problem in problems:
        for place in problem.to_time:
            config = problem.ranking[place].config
            values = [*(problem.shape.get(n) for n in sizes), *(config.get(n) for n in knobs)]
            lines.writerow(["" if value is None else value for value in values] + [""])
    return text.getvalue()


def _differing(shapes: Sequence[dict[str, bool | int | float | str | None]]) -> list[str]:
    names = dict.fromkeys(name for shape in shapes for name in shape)
    return [name for name in names if len({str(shape.get(name)) for shape in shapes}) > 1]
