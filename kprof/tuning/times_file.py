"""``times.csv``: the configurations whose times would correct the others best, for somebody with a GPU to fill in."""

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kprof.tuning.document import TuneReport

NAME = "times.csv"


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
