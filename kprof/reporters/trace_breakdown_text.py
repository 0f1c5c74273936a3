"""``kprof trace breakdown`` for people: GPU time by category, and how busy each GPU was."""

from collections import Counter
from collections.abc import Sequence

from kprof.reporters._console_text import plural
from kprof.reporters._trace_format import label, milliseconds, percent
from kprof_analyzers.profiles.timeline.fused import FusedKernel
from kprof_analyzers.profiles.timeline.occupation import DeviceTime
from kprof_analyzers.profiles.timeline.steps import Shares

# Cells of the line over time: 80 columns are enough for it.
_CELLS = 48


def lines(shares: Shares, *, several: bool) -> list[str]:
    """One trace; with its name where there are ``several``."""
    from kprof_analyzers.profiles.timeline.pictures.terminal import bar, sparkline

    found = shares.breakdown
    shown = [label(found.path, 90)] if several else []
    longest = max((len(r.category) for r in found.categories), default=0)
    shown.extend(
        f"  {row.category:<{longest}}  {milliseconds(row.total_ns):>10} ms  {percent(row.share, 1):>7}  "
        f"{row.count:>8,}  {bar(row.share, 30)}"
        for row in found.categories
    )
    shown += [f"  {_fused(one, found.total_ns)}" for one in found.fused if one.saved_ns]
    shown += ["", *device_lines(found.devices)]
    for device in shares.utilisation[:8]:
        lanes = [max(parts) for parts in zip(*device.lanes.values(), strict=True)]
        step = -(-len(lanes) // _CELLS)
        means = [_mean(lanes[i : i + step]) for i in range(0, len(lanes), step)]
        shown.append(f"  rank {device.rank} busy over time  {sparkline(means)}")
    return [*shown, ""]


def _fused(one: FusedKernel, whole: int) -> str:
    """What a fused kernel could save, in a line."""
    took, saved = milliseconds(one.total_ns), milliseconds(one.saved_ns)
    return (
        f"{one.kernel} could do {plural(one.runs, 'run')} of {one.kernels:,} kernels ({took} ms): "
        f"saves at most {saved} ms, {percent(one.saved_ns, whole)}"
    )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def device_lines(devices: Sequence[DeviceTime]) -> list[str]:
    """One line a device, a heading above."""
    from kprof.output.tables import rows_table

    rows = [
        (
            f"rank {d.rank} GPU {'?' if d.device is None else d.device}",
            milliseconds(d.span_ns),
            percent(d.busy_ns, d.span_ns),
            percent(d.idle_ns, d.span_ns),
            percent(d.compute_ns, d.span_ns),
            percent(d.exposed_communication_ns, d.span_ns),
            percent(d.exposed_memory_ns, d.span_ns),
        )
        for d in devices
    ]
    if not rows:
        return []
    headings = ("device", "span ms", "busy", "idle", "compute", "exposed comm", "exposed copies")
    return ["  " + line for line in rows_table(headings, rows).splitlines()]


def verdict(found: Sequence[Shares]) -> str:
    """How busy the GPUs were, and the largest category."""
    totals: Counter[str] = Counter()
    for shares in found:
        for row in shares.breakdown.categories:
            totals[row.category] += row.total_ns
    whole = sum(totals.values())
    if not whole:
        return "no GPU activity in these traces"
    devices = [d for s in found for d in s.breakdown.devices]
    busy, span = sum(d.busy_ns for d in devices), sum(d.span_ns for d in devices)
    name, largest = totals.most_common(1)[0]
    much = f"GPU busy {percent(busy, span)}; " if span else ""
    return f"{much}{name} takes {percent(largest, whole)} of {milliseconds(whole)} ms GPU time"
