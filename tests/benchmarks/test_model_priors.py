"""The replay of published sweeps."""

import pytest

from validation.benchmarks.model.priors import by_lot, page, replay, timing_seconds, totals

ROWS = [
    {"measured_us": 100.0, "predicted_us": 52.0},
    {"measured_us": 110.0, "predicted_us": 50.0},
    {"measured_us": 150.0, "predicted_us": 59.0},
    {"measured_us": 900.0, "predicted_us": 300.0},
]


def test_the_leading_ones_are_timed() -> None:
    """The first one loses 10 %; with two nothing is lost, and the slow one is never timed."""
    assert replay(ROWS, 1)["loss"] == pytest.approx(0.1)
    assert replay(ROWS, 2)["loss"] == 0
    assert [replay(ROWS, most)["timed"] for most in (1, 2, 8)] == [1, 2, 3]
    assert replay(ROWS, 2)["seconds_timed"] < replay(ROWS, 2)["seconds"]


def test_by_lot_is_the_mean_over_all_draws() -> None:
    """Two of three times can be drawn in three ways."""
    assert by_lot([3.0, 1.0, 2.0], 2) == pytest.approx((1 + 1 + 2) / 3)
    assert by_lot([3.0, 1.0, 2.0], 1) == pytest.approx(2)
    assert by_lot([3.0, 1.0], 2) == 1


def test_seconds_are_those_of_the_usual_benchmark() -> None:
    """25 ms of warming up and 100 ms of repeating, and at least one call of each."""
    assert timing_seconds(1000) == pytest.approx(0.131)
    assert timing_seconds(1e6) == pytest.approx(8)


def test_the_page_has_each_sweep() -> None:
    """And the totals."""
    sweep = {"family": "GEMM", "problem": "p", "product": "MI300X", "failed": 0, "doubtful": 2, "rows": ROWS}

    text = page([sweep])

    assert "| GEMM: p | MI300X | 3 | 4 | 0.0 % |" in text
    assert "2 configurations whose published time is doubtful" in text
    assert totals([replay(ROWS, 1)])["within"] == 0
