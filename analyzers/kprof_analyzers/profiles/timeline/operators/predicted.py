"""A measured trace compared with a predicted one, operator by operator."""

from collections.abc import Sequence

import msgspec

from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorRoofline, OperatorTable


class OperatorPrediction(msgspec.Struct, frozen=True):
    """One operator with equal shapes and types in both traces. A call's times are means, in ns.

    Attributes:
        name, shapes, types: as in :class:`OperatorRoofline`; no shapes where either trace has none.
        measured_calls, predicted_calls: 0 where only the other trace has it.
        measured_ns, predicted_ns: of a call; ``None`` where that trace has none.
        whole_ns: time of all its calls in the measured trace; in the predicted one where only that has it.
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
        """A predicted call over a measured one; ``None`` where either is missing."""
        if self.predicted_ns is None or not self.measured_ns:
            return None
        return self.predicted_ns / self.measured_ns

    @property
    def off_ns(self) -> float | None:
        """Predicted less measured, for the calls that were measured."""
        if self.predicted_ns is None or self.measured_ns is None:
            return None
        return (self.predicted_ns - self.measured_ns) * self.measured_calls


class PredictionComparison(msgspec.Struct, frozen=True):
    """How far a prediction is off.

    Attributes:
        measured, predicted: the two files.
        rows: those in both first, by how far they are off; then those of one trace, by time.
        by_name: rows are operators of all shapes, since one trace has no shapes.
        measured_ns: time of the measured trace's kernels.
    """

    measured: str
    predicted: str
    rows: list[OperatorPrediction]
    by_name: bool
    measured_ns: int

    @property
    def both(self) -> list[OperatorPrediction]:
        """Operators that are in both traces."""
        return [row for row in self.rows if row.ratio is not None]


def compare_prediction(measured: Sequence[OperatorTable], predicted: Sequence[OperatorTable]) -> PredictionComparison:
    """Join operators by name, shapes and types. Steps need not be equally many: calls are compared, not sums.

    Args:
        measured: of each file of one side.
        predicted: of the trace that ``kprof profile`` wrote.
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
