"""Goals over all families: which tables, pairs and times count, and what is said of them."""

import pytest

from validation.benchmarks.model import overall
from validation.benchmarks.model.evaluate import Judged, Scored
from validation.benchmarks.model.problem import Candidate, Problem


def scored(measured, predicted, code, *, suspect=False):
    return Scored(Candidate((), {}, measured, suspect), (code,), predicted, predicted, predicted, "matrix", predicted)


def table(rows, spearman, *, spread=2.0, top1=1.0, suspect=()):
    """A problem of (measured, predicted) rows; those at the places of ``suspect`` were disturbed."""
    found = [scored(*row, n, suspect=n in suspect) for n, row in enumerate(rows)]
    clean = {"spearman": spearman, "top1": top1, "top3": 1.0, "n": len(rows) - len(suspect)}
    return Judged(Problem("p", (), 1.0, 1.0, "fp16", "MI300X"), {"clean": clean, "raw": clean, "spread": spread}, found)


def goals(results):
    return {one["goal"].partition(" at ")[0].partition(" between")[0]: one for one in overall.check(results)}


def test_tables_without_an_order_do_not_count_and_short_ones_are_told_apart():
    two = table([(10, 10), (20, 21)], 1.0)
    six = table([(10 * n, 10 * n) for n in range(1, 7)], 0.7)
    within_noise = table([(10, 11), (10.1, 10)], -1.0, spread=1.01)
    found = goals({"a": [two, within_noise], "b": [six]})["timed tables: Spearman"]
    assert found["value"] == "0.850 over 2, 0.700 over the 1 with 5 rows or more"
    assert not found["reached"]


def test_one_sweep_below_fails_a_good_average():
    sweep = table([(n, n) for n in range(1, 22)], 0.79)
    found = goals({"a": [sweep, *[table([(10, 10), (20, 20)], 1.0)] * 9]})["timed tables: Spearman"]
    assert found["value"].endswith("least of 1 with 20 rows or more 0.79")
    assert not found["reached"]


def test_pairs_ten_percent_apart_of_rows_that_were_not_disturbed():
    """10 and 10.5 are too near, the disturbed 30 does not count: 10 and 10.5 below 20 are left, one of them a tie."""
    one = table([(10, 10), (10.5, 20), (20, 20), (30, 1)], 0.5, suspect=(3,))
    found = next(goal for goal in overall.check({"a": [one]}) if "pairs" in goal["goal"])
    assert found["value"] == "75.0% of 2"


def test_each_familys_median_and_all_rows():
    near, far = table([(10, 11), (20, 20), (30, 27)], 1.0), table([(10, 12.5), (20, 25)], 1.0)
    winners = Judged(near.problem, {"percentile": 0.1}, [scored(10, 90, 0)])
    found = goals({"near": [near], "far": [far], "winners": [winners], "gfx1250": [far]})
    medians, rows = found["times: median ratio"], found["times: half of all rows within 15 %"]
    assert (medians["value"], medians["reached"]) == ("1 of 2; not far 1.25", False)
    assert (rows["value"], rows["reached"]) == ("60% of 5", True)
    assert overall.check({"winners": [winners]}) == []


@pytest.mark.parametrize(("top1", "reached"), [(0.98, True), (0.97, False)])
def test_the_first_choice(top1, reached):
    found = goals({"a": [table([(10, 10), (20, 20)], 1.0, top1=top1)]})["timed tables: top-1"]
    assert found["reached"] == reached


def test_ranges_hold_families_that_were_left_out_and_are_not_wide():
    """A sort that no other family has says nothing, and neither does a family alone."""
    lines = [{"family": name, "left_out": share} for name, share in (("a", 0.9), ("b", 0.75), ("c", None))]
    held, wide = overall.sure({"coverage": lines, "width": 1.9})
    assert (held["value"], held["reached"]) == ("1 of 2; not b 75%", False)
    assert (wide["value"], wide["reached"]) == ("1.9", True)
    assert overall.sure({"coverage": lines[:1], "width": 1.9}) == []
    assert len(overall.sure({"coverage": lines, "width": None})) == 1


@pytest.mark.parametrize(("seconds", "reached"), [((0.01, 0.03), True), ((0.01, 0.031), False)])
def test_a_predictions_cost_is_a_mean(seconds, reached):
    (found,) = overall.quick(seconds)
    assert found["reached"] is reached
    assert found["value"] == f"{500 * sum(seconds):.1f} ms over 2"
    assert overall.quick([]) == []
