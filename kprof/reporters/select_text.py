"""``kprof select`` for people: the choice and why, and everything that was considered."""

from typing import TYPE_CHECKING

from kprof.output.assignments import assigned
from kprof.output.quantities import duration
from kprof.output.tables import rows_table

if TYPE_CHECKING:
    from kprof.tuning.choice.model import ConsideredImplementation, ImplementationChoice


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
        rows += [
            "",
            rows_table(
                ["considered", "ms", "range", "known", "where from, or why not"], map(_row, found.candidates), wide=4
            ),
        ]
    return rows


def verdict(found: "ImplementationChoice") -> str:
    """The last line."""
    return f"select {found.kernel} on {found.arch}: {found.implementation} ({found.rule})"


def _row(one: "ConsideredImplementation") -> list[str]:
    ranged = one.low_ms is not None and one.high_ms is not None
    return [
        one.implementation,
        "-" if one.ms is None else f"{one.ms:.4f}",
        f"{one.low_ms:.4f} to {one.high_ms:.4f}" if ranged else "",
        "cannot" if not one.usable else "not here" if not one.runs else "no time" if one.ms is None else one.basis,
        one.reason,
    ]
