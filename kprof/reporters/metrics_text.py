"""Text of ``kprof counters metrics``: metrics of each kernel, with runs side by side."""

from collections.abc import Sequence
from typing import Any

from kprof.output.headline import wrapped
from kprof.output.quantities import plural
from kprof.output.tables import number
from kprof.reporters._measured_kernels import heading
from kprof.reporters._trace_format import kernel_labels
from kprof_analyzers.profiles.counters.chosen import Chosen, Derived, side_by_side
from kprof_analyzers.profiles.counters.identity import described
from kprof_analyzers.profiles.counters.kernels import KernelCounters
from kprof_analyzers.profiles.counters.planning import passes


def verdict(loaded: Chosen, derived: Sequence[Derived]) -> str:
    """Return the number of kernels and of metrics, and the number of metrics with impossible values."""
    shown = [metric for _, found in derived for metric in found.values() if metric.value is not None]
    flags, known = sum(1 for metric in shown if metric.flag), len(shown)
    impossible = f", {flags} of them impossible" if flags else ""
    runs = f" in {len(loaded.used)} runs" if len(loaded.used) > 1 else ""
    return f"{plural(len(derived), 'kernel')}{runs}, {plural(known, 'metric')}{impossible}"


def page(loaded: Chosen, derived: Sequence[Derived], missing: Sequence[str], top: int) -> list[str]:
    """Return text lines: GPUs, runs, the first kernels with their metrics, and commands for missing counters."""
    shown = heading(loaded)
    sets = side_by_side(derived)
    for members in sets[:top]:
        shown += lines(members, loaded)
    if len(sets) > top:
        more = len(sets) - top
        shown += ["", f"... and {more:,} more kernel{'s' if more > 1 else ''} (--top, --kernel)"]
    if missing:
        shown += ["", "To collect what is missing (each line is one run of the program):", *collecting(missing)]
    return shown


def collecting(missing: Sequence[str]) -> list[str]:
    """Return the command lines that collect counters, one per run of the program."""
    found = [f"rocprofv3 {one.option} -f csv -d counters -- your_program" for one in passes(list(missing))]
    return found or ["nothing is missing"]


def lines(members: Sequence[Derived], loaded: Chosen) -> list[str]:
    """Return text lines for one kernel: launches, and metrics with a column per run and ratios to the first run."""
    first = members[0][0]
    title = described(first.identities, loaded.fields)
    (label,) = kernel_labels([first.name], [one.name for one in loaded.kernels])
    shown = ["", f"{label}   {_launched(first) if len(members) == 1 else ''}".rstrip()]
    if title:
        shown.append(title)
    if len(members) == 1 and len(loaded.used) > 1:
        shown.append(f"only in run {first.run + 1}, {loaded.runs.labels[first.run]}")
    if len(members) > 1:
        shown += [f"run {one.run + 1}: {_launched(one)}" for one, _ in members]
    rows, remarks = _rows(members)
    shown += [metrics_table(rows, [f"run {one.run + 1}" for one, _ in members]), *remarks]
    unknown = sorted({name for _, found in members for metric in found.values() for name in metric.unknown})
    return [*shown, wrapped(f"not known for this GPU or run: {', '.join(unknown)}")] if unknown else shown


def _launched(kernel: KernelCounters) -> str:
    time = f"{kernel.nanoseconds / 1e3:,.2f} us" if kernel.nanoseconds else "time not known"
    return f"{kernel.calls:,} dispatch{'es' if kernel.calls != 1 else ''}, {time} each"


def _rows(members: Sequence[Derived]) -> tuple[list[list[Any]], list[str]]:
    """Return rows of group, metric, values by run, ratios and unit; and remarks.

    Metrics without any value have no row.
    """
    several = len(members) > 1
    groups: dict[str, list[list[Any]]] = {}
    remarks: list[str] = []
    for name, first in members[0][1].items():
        metrics = [found.get(name) for _, found in members]
        values = [metric.value if metric else None for metric in metrics]
        for (one, _), metric in zip(members, metrics, strict=True):
            place = f" in run {one.run + 1}" if several else ""
            if metric is None or (metric.value is None and metric.used):
                continue
            if remark := metric.flag or metric.note:
                shown = remark if metric.value is not None else f"not known: {remark}"
                remarks.append(f"{metric.formula.title}{place}: {shown}")
        if any(value is not None for value in values):
            ratios = [_ratio(values[0], value) for value in values[1:]]
            cells = [first.formula.title, *map(number, values), *ratios, first.formula.unit]
            groups.setdefault(first.formula.group, []).append(cells)
    rows = [[title if not place else "", *cells] for title, kept in groups.items() for place, cells in enumerate(kept)]
    return rows, list(dict.fromkeys(remarks))


def _ratio(first: float | None, other: float | None) -> str:
    return "" if not first or other is None else f"{other / first:.3f}"


def metrics_table(rows: list[list[Any]], runs: list[str]) -> str:
    """Return a table of group, metric, values and unit."""
    values = ["value"] if len(runs) == 1 else [*runs, *(f"{other.removeprefix('run ')}/{runs[0].removeprefix('run ')}"
                                                        for other in runs[1:])]  # fmt: skip
    return grouped_table(["", "metric", *values, "unit"], rows)


def grouped_table(headings: list[str], rows: list[list[Any]]) -> str:
    """Return a table whose first column is a group.

    If names would be truncated, groups become headings on their own lines.
    """
    from kprof.output.tables import rows_table, table_width

    wide = [max([len(headings[place]), *(len(row[place]) for row in rows)]) + 2 for place in range(len(headings))]
    if sum(wide) - 2 <= table_width():
        return rows_table(headings, rows, wide=1)
    lines: list[list[Any]] = []
    for title, *cells in rows:
        if title:
            lines.append([title, *[""] * len(cells[1:])])
        lines.append([f"  {cells[0]}", *cells[1:]])
    return rows_table(headings[1:], lines)
