"""Text of ``kprof ingest trace``: the content of some traces."""

from collections.abc import Sequence

from kprof.output.quantities import milliseconds, percent, plural
from kprof.reporters._trace_format import kernel_label, label
from kprof_analyzers.profiles.timeline.streaming import FileSummary


def lines(summaries: Sequence[FileSummary]) -> list[str]:
    """Return one row per trace; for a single trace also its categories and kernels."""
    from kprof.output.tables import rows_table

    rows = []
    for one in summaries:
        spans = [d.span_ns for d in one.devices]
        span, busy = sum(spans), sum(d.busy_ns for d in one.devices)
        exposed = sum(d.exposed_communication_ns for d in one.devices)
        rows.append(
            (
                label(one.info.path),
                one.info.vendor or "?",
                f"{one.info.events:,}",
                f"{sum(k.count for k in one.kernels):,}",
                milliseconds(one.kernel_ns),
                milliseconds(max(spans, default=0)),
                percent(busy, span),
                percent(exposed, span),
                next(iter(one.categories), "-"),
            )
        )
    headings = ("trace", "GPU", "events", "kernels", "kernel ms", "span ms", "busy", "exp. comm", "most time")
    shown = rows_table(headings, rows, spare=2).splitlines()
    if len(summaries) == 1:
        one = summaries[0]
        shown.append("")
        whole = sum(one.categories.values())
        shown += [f"  {c:<16} {milliseconds(t):>10} ms  {percent(t, whole):>7}" for c, t in one.categories.items()]
        kernels = [(milliseconds(k.total_ns), f"{k.count:,}", kernel_label(k.name)) for k in one.kernels[:5]]
        if kernels:
            shown += ["", *rows_table(("ms", "count", "kernel"), kernels, wide=2).splitlines()]
        elif one.launches:
            calls = [(milliseconds(c.total_ns), f"{c.count:,}", c.name) for c in one.launches[:5]]
            shown += ["", *rows_table(("ms", "count", "API call"), calls, wide=2).splitlines()]
    return [*shown, ""]


def verdict(summaries: Sequence[FileSummary], left_out: int) -> str:
    """Return the amount of data that was read, and what was lost; ``left_out`` is the number of skipped files."""
    kernels = sum(k.count for s in summaries for k in s.kernels)
    lost = sum(i.lost for s in summaries for i in s.issues)
    total = sum(s.kernel_ns for s in summaries)
    calls = 0 if kernels else sum(c.count for s in summaries for c in s.launches)
    alone = f"{plural(calls, 'API call')}, " if calls else ""
    text = (
        f"{plural(len(summaries), 'trace')}, {alone}{plural(kernels, 'kernel')}, {milliseconds(total)} ms kernel time"
    )
    if lost:
        text += f"; {plural(lost, 'event')} could not be read"
    return f"{text}; {plural(left_out, 'file')} left out" if left_out else text
