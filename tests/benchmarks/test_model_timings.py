"""What a few timings give: the correction simulated on sweeps."""

import dataclasses

import pytest

from validation.benchmarks.model import timings
from validation.benchmarks.model.evaluate import Judged, Scored
from validation.benchmarks.model.problem import Candidate, Family, Problem

PROBLEM = Problem("p", (), 0.0, 0.0, "", "MI300X")
SWEEP = Family("a", "tritonBLAS", "order", "", lambda rows, quick: [])


def swept(factors, us=10.0):
    """Predictions a tenth apart, and times that are ``factors`` of them."""
    rows = []
    for place, factor in enumerate(factors):
        predicted = us * 1.1**place
        candidate = Candidate((), {"BLOCK": 16 * (place + 1)}, predicted * factor)
        rows.append(Scored(candidate, (place,), predicted, predicted / 2, predicted * 2, "matrix", predicted))
    return [Judged(PROBLEM, {"spread": 2.0}, rows)]


def by_count(factors):
    return {one["timings"]: one for one in timings.figures([SWEEP], {"a": swept(factors)})}


def test_what_all_have_in_common_needs_one_timing():
    found = by_count([3.0] * 8)

    assert found[0]["error"] == pytest.approx(2 / 3)
    assert found[1]["error"] < 0.2
    assert found[5]["error"] < found[1]["error"]
    assert found[1]["in_range"] == 1


def test_a_sweep_needs_configurations_that_are_left():
    assert sorted(by_count([1.0] * 8)) == [0, 1, 3, 5]
    assert sorted(by_count([1.0] * 33)) == [0, 1, 3, 5, 10, 30]


def test_the_choice_is_from_what_was_timed_and_what_was_corrected():
    """The model's first choice takes twice its time: one timing shows it."""
    factors = [2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    found = by_count(factors)

    assert found[0]["chosen"] == pytest.approx(11 / 20)
    assert found[3]["chosen"] == 1


def test_no_sweep_is_no_table():
    assert timings.figures([SWEEP], {}) == []
    flat = swept([1.0] * 8)
    flat[0].figures["spread"] = 1.01
    assert timings.figures([SWEEP], {"a": flat}) == []


def pooled(count, product="MI300X"):
    """A configuration a problem, whose error is of the time that waits: ten well chosen ones tell it."""
    found = []
    for place in range(count):
        share = (place * 7 % count) / count
        shares = {"matrix": 1 - share, "memory latency": share}
        candidate = Candidate((Point(),), {"BLOCK": 16}, 10.0 * (1 - share + 2 * share))
        rows = [Scored(candidate, (place,), 10.0, 5.0, 20.0, "matrix", 10.0, shares=shares)]
        found.append(Judged(dataclasses.replace(PROBLEM, product=product), {}, rows))
    return found


class Point:
    kernel = "gemm"


def test_single_configurations_of_many_problems_are_judged_together():
    family = dataclasses.replace(SWEEP, name="t", question="time")
    found = timings.figures([family], {"t": [*pooled(40), *pooled(5, "MI355X")]})
    by = {one["timings"]: one for one in found}
    assert sorted(by) == [0, 1, 3, 5, 10, 30]
    assert {one["sweeps"] for one in found} == {1}
    assert by[10]["told"] <= by[10]["error"] < 0.3 * by[0]["error"]
    ((name, (most, lot, best)),) = timings.gained(found).items()
    assert (name, most) == ("tritonBLAS", 30)
    assert 0.7 < lot <= best
    assert f"tritonBLAS {100 * best:.0f} % (of 30; by lot {100 * lot:.0f} %)" in timings.gains(found)


def test_where_the_error_hardly_falls_no_share_of_it_is_told():
    assert timings.gained(timings.figures([SWEEP], {"a": swept([1.0] * 40)})) == {}


def test_the_sentence_has_the_figures():
    found = timings.figures([SWEEP], {"a": swept([1.0 + 0.01 * n for n in range(40)])})
    by = {one["timings"]: one for one in found}
    text = timings.sentence(found)
    assert by[10]["before"] == by[0]["error"]
    assert f"from {100 * by[0]['error']:.1f} to {100 * by[10]['error']:.1f} %" in text
    assert f"to {100 * by[30]['error']:.1f} %" in text
