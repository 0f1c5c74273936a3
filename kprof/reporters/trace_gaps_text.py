"""``kprof trace gaps`` for people: when the GPU stood still, and what the CPU did meanwhile."""

from collections.abc import Sequence

from kprof.reporters._console_text import plural
from kprof.reporters._trace_format import kernel_label, label, milliseconds, percent
from kprof_analyzers.profiles.timeline.steps import Idle


def lines(one: Idle, *, several: bool) -> list[str]:
    """One trace; with its name where there are ``several``."""
    from kprof.output.tables import rows_table, table_width

    report = one.report
    # A narrow terminal has room for the innermost operator and for what the CPU did most.
    some = 2 if table_width() >= 120 else 1
    shown = [label(report.path, 90)] if several else []
    for cause, total in report.by_cause.items():
        shown.append(f"  {cause:<16} {milliseconds(total):>10} ms  {percent(total, report.total_ns):>7}")
    if report.gaps:
        headings: tuple[str, ...]
        gaps: list[tuple[str, ...]] = [
            (
                f"{g.duration_ns / 1000:,.1f}",
                f"{g.rank}/{'?' if g.device is None else g.device}",
                g.cause,
                " > ".join(g.stack[-some:]) or "-",
                ", ".join(f"{ns / 1000:,.0f} {name}" for name, ns in list(g.cpu.items())[:some]),
                kernel_label(g.after),
            )
            for g in report.gaps
        ]
        headings = ("us", "rank/GPU", "cause", "next launched by", "CPU meanwhile (us)", "next kernel")
        several_devices = len({gap[1] for gap in gaps}) > 1
        if not several_devices:
            headings, gaps = _without(headings, 1), [_without(gap, 1) for gap in gaps]
        wide = (5, 4, 3) if several_devices else (4, 3, 2)
        shown += ["", *rows_table(headings, gaps, wide=wide, spare=5 if several_devices else None).splitlines()]
    if one.stretches:
        shown += ["", "launch-bound stretches:"]
        rows = [
            (
                milliseconds(s.duration_ns),
                percent(s.idle_ns, s.duration_ns),
                f"{s.launches:,}",
                f"{s.mean_kernel_ns / 1000:,.1f}",
                f"{s.mean_interval_ns / 1000:,.1f}",
                ", ".join(f"{n} x{c}" for n, c in list(s.operators.items())[:3]) or "-",
            )
            for s in one.stretches[:5]
        ]
        headings = ("ms", "idle", "launches", "kernel us", "every us", "operators")
        shown += rows_table(headings, rows, wide=5).splitlines()
    return [*shown, ""]


def _without(row: tuple[str, ...], place: int) -> tuple[str, ...]:
    return (*row[:place], *row[place + 1 :])


def verdict(found: Sequence[Idle]) -> str:
    """How many gaps, and their commonest cause."""
    total = sum(one.report.total_ns for one in found)
    count = sum(one.report.count for one in found)
    if not count:
        return "no gaps"
    causes: dict[str, int] = {}
    for one in found:
        for cause, ns in one.report.by_cause.items():
            causes[cause] = causes.get(cause, 0) + ns
    cause = max(causes, key=lambda c: causes[c])
    return f"{plural(count, 'gap')}, {milliseconds(total)} ms idle; {percent(causes[cause], total)} of it {cause}"
