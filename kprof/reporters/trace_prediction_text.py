"""``kprof trace diff`` for people, where one trace is a prediction: operators by how far they are off."""

import statistics
from collections.abc import Iterable

from kprof.output.quantities import milliseconds, percent
from kprof.reporters._trace_format import kernel_label
from kprof.reporters.grids import Column
from kprof_analyzers.profiles.timeline.operators.predicted import OperatorPrediction, PredictionComparison


def _off(off: float | None) -> str:
    return "-" if off is None else f"{'+' if off > 0 else '-' if off < 0 else ''}{milliseconds(abs(off))}"


OPERATORS = (
    Column("off ms", lambda row: _off(row.off_ns)),
    Column("calls", lambda row: f"{row.measured_calls:,}" if row.measured_calls == row.predicted_calls else _both(row)),
    Column("measured us", lambda row: "-" if row.measured_ns is None else f"{row.measured_ns / 1000:,.1f}"),
    Column("predicted us", lambda row: "-" if row.predicted_ns is None else f"{row.predicted_ns / 1000:,.1f}"),
    Column("ratio", lambda row: "-" if row.ratio is None else f"{row.ratio:.2f}"),
    Column("operator", lambda row: f"{_name(row)} {row.shapes} {row.types}".strip(), wide=True),
)  # fmt: skip
"""Columns of the operators, those that are farthest off first."""


def remarks(result: PredictionComparison | None) -> Iterable[str]:
    """Return what limits the comparison."""
    if result is not None and not result.rows:
        yield "no operator in either trace"
    if result is not None and result.by_name:
        yield "One trace has no shapes (record_shapes=True), so operators are compared by name alone."


def _name(row: OperatorPrediction) -> str:
    return kernel_label(row.name.removeprefix("aten::"), 44)


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
        f"most off: {_name(worst)} ({worst.ratio or 0.0:.2f})"
    )
