"""Text of ``kprof counters roofline``: kernels under the GPU's roofs."""

from collections.abc import Sequence

from kprof.output.quantities import plural
from kprof.output.tables import number, rows_table
from kprof.reporters._trace_format import kernel_labels
from kprof.reporters.metrics_text import collecting
from kprof_analyzers.profiles.counters.roofline import Point, Roof, draw


def verdict(points: Sequence[Point]) -> str:
    """Return the number of kernels on the roofline, and how close the best one is to its roof."""
    shares = [point.share for point in points if point.share is not None]
    said = f"{len(shares):,} of {plural(len(points), 'kernel')} placed"
    return f"{said}; the kernel closest to its roof reaches {100 * max(shares):.0f} %" if shares else said


def page(points: Sequence[Point], limits: Sequence[Roof], top: int, remarks: Sequence[str]) -> list[str]:
    """Return the plot, a row per kernel with its remark, and the counters needed to place the remaining kernels."""
    plotted = [point for point in points if point.intensity and point.flop_rate][:top]
    shown = [*draw(plotted, list(limits)), *([""] if plotted else [])]
    letters = {id(point): letter for point, letter in zip(plotted, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", strict=False)}
    levels = list(dict.fromkeys(level.name for point in points[:top] for level in point.levels))
    marks = {roof.name: "*" for roof in limits if roof.origin == "measured"}
    rows, reasons = [], list(dict.fromkeys(point.reason for point in points[:top] if point.share is None))
    labels = kernel_labels([point.kernel for point in points[:top]], [point.kernel for point in points])
    for point, name_of, remark in zip(points[:top], labels, remarks, strict=False):
        if point.share is None:
            share = f"not placed ({reasons.index(point.reason) + 1})"
        else:
            share = f"{100 * point.share:.1f} % of {point.bound}{marks.get(point.bound, '')}"
        name = f"{name_of} {remark}".rstrip()
        reached = {level.name: f"{100 * level.share:.0f} %" for level in point.levels if level.share is not None}
        shares = [reached.get(level, "-") for level in levels]
        found = letters.get(id(point), ""), name, number(point.intensity), number(point.flop_rate)
        rows.append([*found, *shares, share])
    marked = [f"{level}{marks.get(level, '')}" for level in levels]
    headings = ["", "kernel", "FLOP/byte", "GFLOP/s", *marked, "reaches"]
    shown.append(rows_table(headings, rows, wide=1))
    if marks:
        shown.append("* peak measured on this machine; the others are published")
    shown += [f"({place}) {reason}" for place, reason in enumerate(reasons, 1)]
    missing = [counter for point in points for counter in point.missing]
    if missing:
        shown += ["", "To place the other kernels, collect:", *collecting(missing)]
    return [*shown, ""]
