"""A measured trace beside one that was predicted, operator by operator."""

import json

import pytest

from kprof.api.trace.diff import trace_diff
from kprof_analyzers.profiles.timeline.operators.predicted import compare_prediction
from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorRoofline, OperatorTable, TraceInfo


def table(path, *rows, shapes=True):
    """Operators as name, shapes, calls and time of all calls in ns."""
    found = [OperatorRoofline(name, shape, "bf16", calls, calls, whole) for name, shape, calls, whole in rows]
    return OperatorTable(TraceInfo(path), None, found, sum(row[3] for row in rows), 0, 0, not shapes, ())


def test_calls_are_compared_whatever_their_number():
    """3 calls of 200 ns measured, 1 of 150 ns predicted: 3 times 50 too fast. What one side alone has says nothing."""
    measured = [table("m", ("aten::mm", "8x8", 3, 600), ("aten::mm", "4x4", 1, 50), ("aten::add", "8", 2, 400))]
    predicted = [table("p", ("aten::mm", "8x8", 1, 150), ("aten::add", "8", 2, 410), ("aten::cat", "8", 1, 70))]
    found = compare_prediction(measured, predicted)
    rows = [(row.name, row.shapes, row.ratio, row.off_ns) for row in found.rows]
    assert rows == [
        ("aten::mm", "8x8", pytest.approx(0.75), pytest.approx(-150)),
        ("aten::add", "8", pytest.approx(1.025), pytest.approx(10)),
        ("aten::mm", "4x4", None, None),
        ("aten::cat", "8", None, None),
    ]
    assert (found.measured_ns, found.by_name, len(found.both)) == (1050, False, 2)


def test_without_shapes_names_are_compared():
    """All shapes of an operator together, weighed by their calls."""
    measured = [table("m", ("aten::mm", "", 4, 800), shapes=False)]
    predicted = [table("p", ("aten::mm", "8x8", 1, 100), ("aten::mm", "4x4", 3, 500))]
    (row,) = compare_prediction(measured, predicted).rows
    assert (row.measured_ns, row.predicted_ns, row.shapes) == (200, 150, "")


def trace(path, kernels, *, predicted):
    """A trace of products, each with its operator, its launch and its kernel of so many microseconds."""
    events = []
    for number, us in enumerate(kernels, 1):
        at, ids = 1000.0 * number, {"correlation": number, "External id": number}
        shapes = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["c10::Half", "c10::Half"]}
        host = {"ph": "X", "pid": 1, "tid": 1}
        events += [
            {**host, "cat": "cpu_op", "name": "aten::mm", "ts": at, "dur": 9.0,
             "args": {"External id": number, **shapes}},
            {**host, "cat": "cuda_runtime", "name": "hipLaunchKernel", "ts": at + 1, "dur": 2.0, "args": ids},
            {"ph": "X", "pid": 0, "tid": 0, "cat": "kernel", "name": "gemm", "ts": at + 5, "dur": us,
             "args": {**ids, "device": 0, "stream": 0}},
        ]  # fmt: skip
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "MI300X"}]}
    mark = {"kprof": {"predicted": True, "gpu": "MI300X"}} if predicted else {}
    path.write_text(json.dumps({**head, **mark, "traceEvents": events}, separators=(",", ":")))
    return path


@pytest.mark.parametrize("turned", [False, True])
def test_the_command_knows_the_prediction_on_either_side(tmp_path, kprof, turned):
    """Two calls of 30 us measured, three of 20 us predicted."""
    measured = trace(tmp_path / "m.json", [30.0, 30.0], predicted=False)
    predicted = trace(tmp_path / "p.json", [20.0] * 3, predicted=True)
    pair = [str(predicted), str(measured)] if turned else [str(measured), str(predicted)]
    found = trace_diff(*pair)
    assert found.prediction is not None
    (row,) = found.prediction.rows
    assert (row.measured_calls, row.predicted_calls, row.off_ns) == (2, 3, -20_000)
    assert found.to_frame()["ratio"].tolist() == [pytest.approx(2 / 3)]
    assert "predicted 0.040 ms for 0.060 ms measured (0.67)" in found.summary
    ran = kprof("trace", "diff", *pair, "--fail-over", "3")
    assert ran.code == 2
    assert "was predicted, not measured" in ran.err


def test_two_of_a_kind_are_compared_as_before(tmp_path):
    """Two measured ones, and two predicted ones."""
    for predicted in (False, True):
        pair = [trace(tmp_path / f"{name}.json", [us], predicted=predicted) for name, us in (("a", 10.0), ("b", 20.0))]
        found = trace_diff(*pair)
        assert found.prediction is None
        assert found.grown_percent == pytest.approx(100)
