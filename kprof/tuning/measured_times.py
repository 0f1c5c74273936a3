"""Read measured times from a CSV file, and correct predictions with them.

The header names knobs, sizes of the problem, and the time: ``time_us``, ``us``, ``time_ms`` or ``ms``. Lines with an
empty time are skipped, so ``times.csv`` from ``tune -o`` can be filled in partially.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from kprof.errors import InputError
from kprof.inputs.boundary import read_text
from kprof.inputs.csv_records import records
from kprof.tuning.candidates import TIE
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.residuals import Learned, TimedConfig, learn

if TYPE_CHECKING:
    from kprof.tuning.document import TuneReport
    from kprof.tuning.problems import Problem
    from kprof.tuning.search_result import SearchResult

NAME = "times.csv"
_TIMES = {"time_us": 1.0, "us": 1.0, "time_ms": 1000.0, "ms": 1000.0}
"""Microseconds per unit, by the name of the time column."""


@dataclass(frozen=True)
class MeasuredTime:
    """A line of the file: its number, the values of its other columns by name, and the time in microseconds."""

    line: int
    named: Mapping[str, str]
    us: float


def read(path: str) -> list[MeasuredTime]:
    """Return the lines of a file that have a time.

    Raises:
        KprofError: if the file cannot be read, has no times, or a time is not a positive number.
    """
    lines = records(read_text(path).splitlines(), path, skip_spaces=True)
    header = [name.strip() for name in next(lines, [])]
    times = [name for name in header if name in _TIMES]
    if len(times) != 1 or len(set(header)) < len(header):
        raise InputError(
            f"exactly one column must be the time ({', '.join(_TIMES)}), with unique names", path=path, place="line 1"
        )
    found = []
    for number, fields in enumerate(lines, 2):
        if not fields:
            continue
        if len(fields) != len(header):
            message = f"{len(fields)} fields, the header has {len(header)}"
            raise InputError(message, path=path, place=f"line {number}")
        named = {name: field.strip() for name, field in zip(header, fields, strict=True)}
        if not (written := named.pop(times[0])):
            continue
        us = _number(written) * _TIMES[times[0]]
        if not (isfinite(us) and us > 0):
            raise InputError("the time is not a positive number", path=path, place=f"line {number}")
        found.append(MeasuredTime(number, named, us))
    if not found:
        raise InputError("no times", path=path)
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def correct(found: "SearchResult", problems: "Sequence[Problem]", times: Sequence[MeasuredTime], path: str) -> None:
    """Correct each problem's ranking by the measured times, and describe the corrections in ``found.learned``.

    Raises:
        KprofError: if a column is neither a knob nor a size, or a line matches several programs.
    """
    used: set[int] = set()
    for index, problem in enumerate(problems):
        ranked = found.ranked[index]
        known = {name for one in ranked for name in one.config} | set(problem.values)
        timings: list[TimedConfig] = []
        for time in times:
            if unknown := sorted(set(time.named) - known):
                message = f"{', '.join(unknown)}: neither a knob nor a size of {problem.name}"
                raise InputError(message, path=path, place="line 1")
            if any(not _same(problem.values[k], v) for k, v in time.named.items() if k in problem.values):
                continue
            if fitting := _fitting(ranked, problem, time, path):
                used.add(time.line)
                if fitting.time_us is None:
                    message = f"{problem.name} has no predicted time that could be corrected"
                    raise InputError(message, path=path, place=f"line {time.line}")
                timings.append(TimedConfig(fitting.config, time.us, fitting.time_us, fitting.shares))
        found.learned.append(_corrected(found, index, timings))
    if left := sorted({time.line for time in times} - used):
        note = f"{len(left)} of {len(times)} times match no configuration in the ranking (first: line {left[0]})"
        found.learned[0] = [*found.learned[0], note]


def _corrected(found: "SearchResult", index: int, timings: Sequence[TimedConfig]) -> list[str]:
    if not timings:
        return []
    learned = learn(timings)
    us = {str(timing.config): timing.measured for timing in timings}

    def known(one: Evaluation) -> Evaluation:
        measured = us.get(str(one.config))
        return corrected(one, learned) if measured is None else _as_measured(one, measured)

    found.ranked[index] = sorted(map(known, found.ranked[index]), key=lambda one: one.rank)
    if (own := found.own[index]) is not None:
        found.own[index] = known(own)
    return learned.words()


def _as_measured(one: Evaluation, us: float) -> Evaluation:
    """Return a configuration with its given measured time.

    Its bounds are the spread of repeated measurements (:data:`~kprof.tuning.candidates.TIE`).
    """
    parts = {name: time * us / (one.time_us or us) for name, time in one.parts.items()}
    return replace(one, time_us=us, low_us=us * (1 - TIE), high_us=us * (1 + TIE), parts=parts, given=True)


def corrected(one: Evaluation, learned: Learned) -> Evaluation:
    """Return a configuration with its predicted time and bounds corrected by the errors learned from measurements."""
    change = learned.of(one.config, one.shares)
    if one.time_us is None:
        return one
    return replace(
        one,
        time_us=one.time_us * change.factor,
        low_us=one.time_us * change.low,
        high_us=one.time_us * change.high,
        parts={name: time * change.factor for name, time in one.parts.items()},
    )


def by_verified(found: "SearchResult") -> None:
    """Correct the unmeasured entries of each problem by the ``--verify`` measurements; measured entries stay first."""
    for index, ranked in enumerate(found.ranked):
        timings = [
            TimedConfig(one.config, one.measured_ms * 1e3, one.time_us, one.shares)
            for one in ranked
            if one.measured_ms is not None and one.time_us is not None
        ]
        if not timings:
            found.learned.append([])
            continue
        learned = learn(timings)
        first = [one for one in ranked if one.measured_ms is not None or one.note]
        rest = [corrected(one, learned) for one in ranked if one.measured_ms is None and not one.note]
        found.ranked[index] = [*first, *sorted(rest, key=lambda one: one.rank)]
        found.learned.append(learned.words())


def _fitting(ranked: Sequence[Evaluation], problem: "Problem", time: MeasuredTime, path: str) -> Evaluation | None:
    """Return the program of a ranking that a line refers to, or ``None`` if there is none.

    Raises:
        KprofError: if the line matches several programs with different predictions.
    """
    knobs = {name: value for name, value in time.named.items() if name not in problem.values}
    fitting = [
        one for one in ranked
        if any(all(name in config and _same(config[name], value) for name, value in knobs.items())
               for config in (one.config, *one.alike))
    ]  # fmt: skip
    if len({one.time_us for one in fitting}) > 1:
        message = f"matches {len(fitting)} programs: name more knobs"
        raise InputError(message, path=path, place=f"line {time.line}")
    return fitting[0] if fitting else None


def _same(value: Any, text: str) -> bool:
    """Whether the text of a field is equal to a value."""
    if isinstance(value, bool):
        return text.lower() in ({"true", "1"} if value else {"false", "0"})
    if isinstance(value, int | float):
        return _number(text) == value
    return text == ("" if value is None else str(value))


def times_csv(report: "TuneReport") -> str:
    """Return the text of ``times.csv``: the knobs of each configuration to measure, and an empty time column.

    Sizes are included if there are several problems with different sizes. Return "" if no measurement is requested.
    """
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
