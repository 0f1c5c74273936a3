"""Text of ``kprof counters diff``: two runs, metric by metric."""

from typing import Any

from kprof.output.headline import wrapped
from kprof.output.quantities import plural
from kprof.output.tables import number
from kprof.reporters._measured_kernels import heading
from kprof.reporters._trace_format import kernel_labels
from kprof.reporters.metrics_text import grouped_table
from kprof_analyzers.profiles.counters.chosen import Chosen
from kprof_analyzers.profiles.counters.diff import CounterComparison, Pair, Value
from kprof_analyzers.profiles.counters.identity import described
from kprof_analyzers.profiles.counters.kernels import KernelCounters

_NAMED = 3


def verdict(before: Chosen, after: Chosen, result: CounterComparison) -> str:
    """Return what was compared, which kernels have no partner, and the change in time."""
    others = sum(bool(pair.differs) for pair in result.pairs)
    builds = f", {others} of them in another build" if others else ""
    words = [f"{plural(len(result.pairs), 'kernel')} compared{builds}"]
    for chosen, alone, side in ((before, result.only_before, "first"), (after, result.only_after, "second")):
        if alone:
            names = ", ".join(_called(chosen, one) for one in alone[:_NAMED])
            more = f" and {len(alone) - _NAMED:,} more" if len(alone) > _NAMED else ""
            words.append(f"{len(alone):,} only in the {side} run: {names}{more}")
    times, grown = result.times, result.grown_percent
    if times is None or grown is None:
        words.append("no times to compare")
    else:
        untimed = len(result.pairs) - len(result.timed)
        without = f", {untimed:,} without times" if untimed else ""
        words.append(f"time {_us(times[0])} -> {_us(times[1])} us ({grown:+.1f} %){without}")
        most = result.pairs[0]
        if len(result.pairs) > 1 and most.delta_ns:
            words.append(f"most by {_label(most.before, before)} ({most.delta_ns / 1e3:+,.2f} us)")
    return "; ".join(words)


def page(before: Chosen, after: Chosen, result: CounterComparison, top: int) -> list[str]:
    """Return text lines: both GPUs and runs, and the kernels whose time changed most."""
    shown = []
    for chosen, side in ((before, "before"), (after, "after")):
        lines = heading(chosen)
        shown.append(wrapped(f"{side}: {chosen.runs.labels[chosen.used[0]]}, {lines[0]}", " " * (len(side) + 2)))
        shown += [f"{'':{len(side)}}  {line}" for line in lines[1:]]
    for pair in result.pairs[:top]:
        shown += _kernel(pair, before)
    if len(result.pairs) > top:
        more = len(result.pairs) - top
        shown += ["", f"... and {plural(more, 'more kernel')} (--top, --kernel)"]
    if any(any(change.value.spread) for pair in result.pairs[:top] for change in pair.metrics.values()):
        words = "+-: standard deviation over the dispatches of a run; ~: within the spread (3 standard errors)"
        shown += ["", wrapped(words)]
    return [*shown, ""]


def _kernel(pair: Pair, chosen: Chosen) -> list[str]:
    calls = (pair.before.calls, pair.after.calls)
    several = f"{calls[0]:,} -> {calls[1]:,} dispatches"
    same = f"{calls[0]:,} dispatch{'es' if calls[0] != 1 else ''}"
    counts = same if calls[0] == calls[1] else several
    shown = ["", f"{_label(pair.before, chosen)}   {counts}"]
    shared = [field for field in chosen.fields if field not in pair.differs]
    if title := described(pair.before.identities, shared):
        shown.append(title)
    for field, words in (("lds", "LDS"), ("vgprs", "VGPRs")):
        if field in pair.differs:
            old, new = (_only(one, field) for one in (pair.before, pair.after))
            shown.append(f"another build: {words} {old} -> {new}")
    rows: list[list[Any]] = [["", "duration", *_cells(pair.time, 1e-3), "us"]] if _is_known(pair.time) else []
    groups: dict[str, list[list[Any]]] = {}
    remarks = []
    for change in pair.metrics.values():
        cells = [change.formula.title, *_cells(change.value), change.formula.unit]
        groups.setdefault(change.formula.group, []).append(cells)
        if change.flag:
            remarks.append(f"{change.formula.title}: {change.flag}")
    for title, kept in groups.items():
        rows += [[title if not place else "", *cells] for place, cells in enumerate(kept)]
    headings = ["", "metric", "before", "+-", "after", "+-", "change", "unit"]
    # Drop columns of spreads that have no value.
    places = [place for place, name in enumerate(headings) if name != "+-" or any(row[place] for row in rows)]
    table = grouped_table([headings[place] for place in places], [[row[place] for place in places] for row in rows])
    return [*shown, table, *remarks]


def _is_known(value: Value) -> bool:
    return value.before is not None or value.after is not None


def _cells(value: Value, scale: float = 1.0) -> list[str]:
    cells = []
    for mean, spread in zip((value.before, value.after), value.spread, strict=True):
        cells.append("-" if mean is None else number(mean * scale))
        cells.append("" if spread is None or mean is None else number(spread.deviation * scale))
    if value.ratio is None:
        return [*cells, "" if value.before != value.after else "0.0 %"]
    within = "~ " if value.beyond_spread is False and value.ratio != 1 else ""
    return [*cells, f"{within}{100 * (value.ratio - 1):+.1f} %"]


def _called(chosen: Chosen, kernel: KernelCounters) -> str:
    identity = described(kernel.identities, chosen.fields)
    label = _label(kernel, chosen)
    return f"{label} ({identity})" if identity else label


def _label(kernel: KernelCounters, chosen: Chosen) -> str:
    """Return a kernel's name, with what distinguishes it from other kernels of the same name in its run."""
    return kernel_labels([kernel.name], [one.name for one in chosen.kernels])[0]


def _only(kernel: KernelCounters, field: str) -> str:
    values = {getattr(one, field) for one in kernel.identities}
    value = values.pop() if len(values) == 1 else None
    return "not known" if value is None else f"{value:,}"


def _us(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e3:,.2f}"
