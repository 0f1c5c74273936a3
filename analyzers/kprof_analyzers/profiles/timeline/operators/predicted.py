"""Compare a measured trace with a predicted trace by operator."""

from collections.abc import Sequence

import msgspec

from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorRoofline, OperatorTable


class OperatorPrediction(msgspec.Struct, frozen=True):
    """One operator with equal shapes and types in both traces. Times of a call are means in ns.

    Attributes:
        name, shapes, types: as in :class:`OperatorRoofline`; shapes are empty if one of the traces has none.
        measured_calls, predicted_calls: number of calls; 0 if only the other trace has the operator.
        measured_ns, predicted_ns: time of a call; ``None`` if the trace does not have the operator.
        whole_ns: time of all calls in the measured trace, or in the predicted one if only that has the operator.
    """

    name: str
    shapes: str
    types: str
    measured_calls: int
    predicted_calls: int
    measured_ns: float | None
    predicted_ns: float | None
    whole_ns: int

    @property
    def ratio(self) -> float | None:
        """Predicted time of a call divided by the measured time; ``None`` if one of them is missing."""
        if self.predicted_ns is None or not self.measured_ns:
            return None
        return self.predicted_ns / self.measured_ns

    @property
    def off_ns(self) -> float | None:
        """Predicted minus measured time of a call, times the number of measured calls; ``None`` if one is missing."""
        if self.predicted_ns is None or self.measured_ns is None:
            return None
        return (self.predicted_ns - self.measured_ns) * self.measured_calls


class PredictionComparison(msgspec.Struct, frozen=True):
    """Differences between a prediction and a measurement.

    Attributes:
        measured, predicted: paths of the measured and of the predicted traces, joined by commas.
        rows: operators in both traces first, by decreasing difference; then operators in one trace only, by time.
        by_name: whether rows combine all shapes of an operator, because one trace has no shapes.
        measured_ns: time of the measured trace's kernels.
    """

    measured: str
    predicted: str
    rows: list[OperatorPrediction]
    by_name: bool
    measured_ns: int

    @property
    def both(self) -> list[OperatorPrediction]:
        """Operators in both traces."""
        return [row for row in self.rows if row.ratio is not None]


def compare_prediction(measured: Sequence[OperatorTable], predicted: Sequence[OperatorTable]) -> PredictionComparison:
    """Join measured and predicted operators by name, shapes and types, or by name alone if a trace has no shapes.

    Times per call are compared instead of sums, so the numbers of recorded steps may differ.

    Args:
        measured: operators of each measured file.
        predicted: operators of the trace that ``kprof profile`` wrote.
    """
    by_name = any(one.without_shapes for one in (*measured, *predicted))
    left, right = _sums(measured, by_name=by_name), _sums(predicted, by_name=by_name)
    rows = [_row(key, left.get(key), right.get(key)) for key in {**left, **right}]
    rows.sort(key=lambda row: (row.off_ns is None, -abs(row.off_ns or 0.0), row.measured_ns is None, -row.whole_ns))
    paths = (_paths(measured), _paths(predicted))
    return PredictionComparison(*paths, rows, by_name, sum(one.kernel_ns for one in measured))


def _paths(tables: Sequence[OperatorTable]) -> str:
    return ", ".join(one.info.path for one in tables)


_Key = tuple[str, str, str]
_Calls = tuple[int, int]


def _sums(tables: Sequence[OperatorTable], *, by_name: bool) -> dict[_Key, _Calls]:
    found: dict[_Key, _Calls] = {}
    for row in (row for table in tables for row in table.rows):
        key = _key(row, by_name=by_name)
        calls, whole = found.get(key, (0, 0))
        found[key] = (calls + row.calls, whole + row.total_ns)
    return found


def _key(row: OperatorRoofline, *, by_name: bool) -> _Key:
    return (row.name, "", "") if by_name else (row.name, row.shapes, row.types)


def _row(key: _Key, measured: _Calls | None, predicted: _Calls | None) -> OperatorPrediction:
    calls = [0 if side is None else side[0] for side in (measured, predicted)]
    means = [side[1] / side[0] if side is not None and side[0] else None for side in (measured, predicted)]
    whole = measured if measured is not None else predicted
    return OperatorPrediction(*key, calls[0], calls[1], means[0], means[1], whole[1] if whole is not None else 0)
