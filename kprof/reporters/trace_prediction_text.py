"""``kprof trace diff`` for people, where one trace is a prediction: operators by how far they are off."""

import statistics

from kprof.output.tables import rows_table
from kprof.reporters._trace_format import kernel_label, milliseconds, percent
from kprof_analyzers.profiles.timeline.operators.predicted import OperatorPrediction, PredictionComparison


def lines(result: PredictionComparison, limit: int) -> list[str]:
    """The operators that are farthest off first; all of them where ``limit`` is 0."""
    headings = ("off ms", "calls", "measured us", "predicted us", "ratio", "operator")
    rows = [_cells(row) for row in (result.rows[:limit] if limit else result.rows)]
    shown = rows_table(headings, rows, wide=5).splitlines() if rows else ["no operator in either trace"]
    if limit and len(result.rows) > limit:
        shown.append(f"and {len(result.rows) - limit:,} more; -n 0 shows all")
    if result.by_name:
        shown.append("One trace has no shapes (record_shapes=True), so operators are compared by name alone.")
    return [*shown, ""]


def _cells(row: OperatorPrediction) -> tuple[str, ...]:
    off = row.off_ns
    return (
        "-" if off is None else f"{'+' if off > 0 else '-' if off < 0 else ''}{milliseconds(abs(off))}",
        f"{row.measured_calls:,}" if row.measured_calls == row.predicted_calls else _both(row),
        "-" if row.measured_ns is None else f"{row.measured_ns / 1000:,.1f}",
        "-" if row.predicted_ns is None else f"{row.predicted_ns / 1000:,.1f}",
        "-" if row.ratio is None else f"{row.ratio:.2f}",
        f"{kernel_label(row.name.removeprefix('aten::'), 44)} {row.shapes} {row.types}".strip(),
    )


def _both(row: OperatorPrediction) -> str:
    return f"{row.measured_calls:,} / {row.predicted_calls:,}"


def verdict(result: PredictionComparison) -> str:
    """Predicted over measured, of what is in both traces, and how much of the measured time that is."""
    both = result.both
    if not both:
        return "no operator is in both the measured and the predicted trace"
    measured = sum(row.whole_ns for row in both)
    predicted = measured + sum(row.off_ns or 0.0 for row in both)
    worst = both[0]
    ratios = [row.ratio for row in both if row.ratio is not None]
    times = f"predicted {milliseconds(predicted)} ms for {milliseconds(measured)} ms measured"
    return (
        f"{times} ({predicted / measured:.2f}), "
        f"in {percent(measured, result.measured_ns)} of the measured kernels' time; "
        f"{len(both):,} operators, median ratio {statistics.median(ratios):.2f}, "
        f"most off: {kernel_label(worst.name.removeprefix('aten::'), 44)} ({worst.ratio or 0.0:.2f})"
    )
