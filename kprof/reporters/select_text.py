"""Text of ``kprof select``: the choice with its reason, and all considered implementations."""

from typing import TYPE_CHECKING

from kprof.condition import in_short
from kprof.output.assignments import assigned
from kprof.output.headline import with_next, wrapped
from kprof.output.quantities import column_unit, duration, predicted_time, three_digits
from kprof.output.tables import reasons_table
from kprof.reporters._kernel_words import GOES_TO
from kprof.reporters.answer import shape_option, tune_command
from kprof.reporters.tune_text import spread_cell

if TYPE_CHECKING:
    from kprof.tuning.choice.model import ConsideredImplementation, ImplementationChoice


_LABEL = 16
"""Width of the labels in columns."""


def lines(found: "ImplementationChoice") -> list[str]:
    """Return all lines except the verdict."""
    rows = [
        f"shape           {assigned(found.shape)}",
        f"implementation  {found.implementation}",
        f"configuration   {assigned(found.config) or '-'}",
    ]
    if found.ms is not None:
        where = f" {'for' if found.basis == 'predicted' else 'on'} {found.device or found.arch}"
        where += f", {in_short(found.condition)}" if found.basis == "predicted" else ""
        rows.append(f"{found.basis:<15} {duration(1000 * found.ms)}{where}")
    rule = "" if found.reason.startswith(found.rule) else f"{found.rule}: "
    rows.append(f"rule            {rule}{found.reason}")
    rows += [f"note            {note}" for note in found.notes]
    if found.candidates:
        unit, size = column_unit(1000 * one.ms for one in found.candidates if one.ms is not None)
        headings = ["considered", unit, "likely", "known", "where from, or why not"]
        return [*_wrapped(rows), "", reasons_table(headings, [_row(one, size) for one in found.candidates])]
    return _wrapped(rows)


def _wrapped(rows: list[str]) -> list[str]:
    """Return the lines wrapped for a terminal; continuation lines are aligned with the values."""
    return [wrapped(row, further=" " * _LABEL) for row in rows]


def verdict(found: "ImplementationChoice") -> str:
    """Return the chosen implementation, its time, the reason for the choice, and the command to run next.

    The text says whether the time is measured or predicted. A predicted time also names the bottleneck, and the choice
    is compared with the best alternative.
    """
    from kprof.tuning.choice.choose import other_inputs

    where = found.device or found.arch
    chosen = next((one for one in found.candidates if one.implementation == found.implementation), None)
    parts = [f"use {found.implementation} on {where}: {_time(found, chosen)}"]
    if found.rule in {"published", "predicted"}:
        compared, published = _compared(found), found.rule == "published"
        parts += [found.reason.partition(" (")[0]] * (published or not compared)
        parts += [compared] * bool(compared)
    else:
        parts.append(found.reason)
    parts += other_inputs(found, faster_only=True)
    conclusion = "; ".join(parts)
    if not found.config:
        return conclusion
    shape = (chosen.shape if chosen else {}) or found.shape
    if found.rule == "published" and found.basis == "predicted":
        # If the model disagrees with the published result, only a measurement on the GPU can decide.
        command = f"kprof bench {found.implementation} --provider triton,alternatives {shape_option(shape)}"
        return with_next(conclusion, f"{command} (on an {where}: it times both; gain not known)")
    command = tune_command(found.implementation, where, shape)
    return with_next(conclusion, f"{command} (compares other configurations; gain not known)")


def _time(found: "ImplementationChoice", chosen: "ConsideredImplementation | None") -> str:
    if found.ms is None:
        return "time not known"
    if found.basis != "predicted" or chosen is None or chosen.low_ms is None or chosen.high_ms is None:
        return f"{duration(1000 * found.ms)} ({found.basis})"
    cause, bracket, place = chosen.bound.partition(" (")
    bound = f", most of it {GOES_TO.get(cause, cause)}{bracket}{place}" if cause else ""
    return f"{predicted_time(1000 * found.ms, 1000 * chosen.low_ms, 1000 * chosen.high_ms)}{bound}"


def _compared(found: "ImplementationChoice") -> str:
    """Return how a predicted choice compares with the best alternative, and how certain that is; "" without one."""
    from kprof_analyzers.model.certainty import ENOUGH, certainty, sure_words

    others = [one for one in found.candidates if one.usable and not one.needs]
    others = [one for one in others if one.basis == "predicted" and one.ms is not None]
    others = [one for one in others if one.implementation != found.implementation]
    if found.rule not in {"predicted", "published"} or found.basis != "predicted" or not found.ms or not others:
        return ""
    other = min(others, key=lambda one: one.ms or 0.0)
    ratio = (other.ms or 0.0) / found.ms
    if ratio < 1 and found.rule == "predicted":
        return found.reason
    more = max(ratio, 1 / ratio)
    sure = certainty(more, found.arch)
    time = duration(1000 * (other.ms or 0.0))
    words = f", {100 * sure:.0f} % sure" if sure is not None else ""
    if ratio < 1:
        # By the model the choice is slower: it contradicts the published result, or the difference is too small to
        # tell.
        if sure is not None and sure < ENOUGH:
            times = f"{other.implementation}: {time}, {sure_words(sure)}"
            return f"the model does not distinguish the two ({times})"
        return f"by the model {other.implementation} is {more:.2f} times as fast ({time}{words})"
    by = "by the model " if found.rule == "published" else ""
    return f"{by}{more:.2f} times as fast as {other.implementation} ({time}{words})"


def _row(one: "ConsideredImplementation", size: float) -> list[str]:
    """Return the cells of a row; times are in the column's unit of ``size`` microseconds."""
    low, high = (None if ms is None else 1000 * ms for ms in (one.low_ms, one.high_ms))
    return [
        one.implementation,
        "-" if one.ms is None else three_digits(1000 * one.ms / size),
        spread_cell(low, high, size),
        "cannot" if not one.usable else "not here" if not one.runs else "no time" if one.ms is None else one.basis,
        f"needs {one.needs}; {one.reason}" if one.needs else one.reason,
    ]
