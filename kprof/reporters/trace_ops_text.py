"""``kprof trace ops`` for people: operators by shape against what the GPU can do."""

from collections.abc import Sequence

from kprof.output.tables import rows_table
from kprof.reporters._trace_format import kernel_label, label, milliseconds, percent
from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorRoofline, OperatorTable


def lines(one: OperatorTable, limit: int, *, several: bool) -> list[str]:
    """One trace; with its name where there are ``several``; all operators where ``limit`` is 0."""
    head = [label(one.info.path, 90)] if several else []
    return [*head, *_rows(one, limit), *_not_seen(one), ""]


def _rows(one: OperatorTable, limit: int) -> list[str]:
    headings = ("lost ms", "ms", "calls", "mean us", "TFLOP/s", "TB/s", "of limit", "operator")
    rows = [_cells(row) for row in (one.rows[:limit] if limit else one.rows)]
    if not rows:
        return ["nothing to show"]
    text = rows_table(headings, rows, wide=7).splitlines()
    left = len(one.rows) - len(rows)
    return [*text, f"and {left:,} more; -n 0 shows all"] if left else text


def _cells(row: OperatorRoofline) -> tuple[str, ...]:
    return (
        "-" if row.lost_ns is None else milliseconds(row.lost_ns),
        milliseconds(row.total_ns),
        f"{row.calls:,}",
        f"{row.total_ns / row.calls / 1000:,.1f}",
        "-" if row.tflops is None else _digits(row.tflops),
        "-" if row.tbs is None else f"{row.tbs:.2f}",
        "-" if row.share is None else f"{100 * row.share:.0f} % {row.bound.replace('_', ' ')}",
        f"{kernel_label(row.name.removeprefix('aten::'), 44)} {row.shapes} {row.types}".strip(),
    )


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2f}"


def _not_seen(one: OperatorTable) -> list[str]:
    """What has no roofline, and why."""
    found = []
    if one.limits is None:
        names = ", ".join(sorted({name for name in one.info.devices if name}))
        why = f"kprof has no peaks of {names}" if names else "the trace does not name its GPU"
        found.append(f"No limits: {why}; --arch MI300X, say, names one.")
    if one.without_shapes and one.rows:
        found.append("No shapes: the trace was taken without record_shapes=True, so no work is known.")
    if one.graph_ns:
        share = percent(one.graph_ns, one.kernel_ns)
        found.append(f"Replayed by graphs, so without operators: {share} of the kernels' time; listed by kernel.")
    assumed = sorted({row.assumed for row in one.rows if row.assumed})
    if assumed:
        found.append(f"Assumed: {'; '.join(assumed)}.")
    return found


def verdict(found: Sequence[OperatorTable]) -> str:
    """How much time is lost against the limits, and where most."""
    whole = sum(one.kernel_ns for one in found)
    if not whole:
        return "no kernels in these traces"
    lost = sum(row.lost_ns or 0.0 for one in found for row in one.rows)
    limited = sum(row.total_ns for one in found for row in one.rows if row.least_ns is not None)
    known = percent(sum(one.known_ns for one in found), whole)
    if not limited:
        return f"the time lost is not known; work is known for {known} of the kernels' {milliseconds(whole)} ms"
    worst = max((row for one in found for row in one.rows), key=lambda row: row.lost_ns or 0.0)
    seen = percent(limited, whole)
    name = kernel_label(worst.name.removeprefix("aten::"), 40)
    return (
        f"{milliseconds(lost)} of {milliseconds(limited)} ms lost against the GPU's limits, most in {name} "
        f"({milliseconds(worst.lost_ns or 0.0)} ms); {seen} of the kernels' time was judged"
    )
