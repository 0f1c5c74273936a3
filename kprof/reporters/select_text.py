"""``kprof select`` for people: the choice and why, and everything that was considered."""

from typing import TYPE_CHECKING

from kprof.output.assignments import assigned
from kprof.output.headline import wrapped
from kprof.output.quantities import column_unit, duration, three_digits
from kprof.output.tables import reasons_table
from kprof.reporters.tune_text import spread_cell

if TYPE_CHECKING:
    from kprof.tuning.choice.model import ConsideredImplementation, ImplementationChoice


_LABEL = 16
"""Columns of the labels."""


def lines(found: "ImplementationChoice") -> list[str]:
    """Everything but the last line."""
    rows = [
        f"shape           {assigned(found.shape)}",
        f"implementation  {found.implementation}",
        f"configuration   {assigned(found.config) or '-'}",
    ]
    if found.ms is not None:
        where = f" {'for' if found.basis == 'predicted' else 'on'} {found.device or found.arch}"
        where += f", {found.condition}" if found.basis == "predicted" else ""
        rows.append(f"{found.basis:<15} {duration(1000 * found.ms)}{where}")
    rows.append(f"rule            {found.rule}: {found.reason}")
    rows += [f"note            {note}" for note in found.notes]
    if found.candidates:
        unit, size = column_unit(1000 * one.ms for one in found.candidates if one.ms is not None)
        headings = ["considered", unit, "likely", "known", "where from, or why not"]
        return [*_wrapped(rows), "", reasons_table(headings, [_row(one, size) for one in found.candidates])]
    return _wrapped(rows)


def _wrapped(rows: list[str]) -> list[str]:
    """Return the lines as a terminal shows them, continued below their values."""
    return [wrapped(row, further=" " * _LABEL) for row in rows]


def verdict(found: "ImplementationChoice") -> str:
    """The last line."""
    time = "" if found.ms is None else f", {duration(1000 * found.ms)}"
    return f"select {found.kernel} on {found.arch}: {found.implementation}{time} ({found.rule})"


def _row(one: "ConsideredImplementation", size: float) -> list[str]:
    """Return the cells of a row; times in the column's unit, which is ``size`` microseconds."""
    low, high = (None if ms is None else 1000 * ms for ms in (one.low_ms, one.high_ms))
    return [
        one.implementation,
        "-" if one.ms is None else three_digits(1000 * one.ms / size),
        spread_cell(low, high, size),
        "cannot" if not one.usable else "not here" if not one.runs else "no time" if one.ms is None else one.basis,
        one.reason,
    ]
