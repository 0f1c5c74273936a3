"""Coverage of the ranges, and from where on predictions tell two launches apart."""

import dataclasses
import json

import pytest

from validation.benchmarks.model import ranges, sureness, tritons
from validation.benchmarks.model.evaluate import Judged, Scored, order_figures, time_figures
from validation.benchmarks.model.problem import Candidate, Family, Problem, Timing

PROBLEM = Problem("p", (), 0.0, 0.0, "", "MI300X")


def scored(us, measured, *, sort="usual", light=0.0, suspect=False):
    return Scored(Candidate((), {}, measured, suspect), (us, measured), us, us / 2, us * 2, "matrix", us, light, sort)


def family(name, **fields):
    return Family(name, name, fields.pop("question", "order"), "", lambda rows, quick: [], **fields)


def judged(*rows):
    return [Judged(PROBLEM, {}, list(rows))]


def test_what_the_timing_adds_may_explain_a_measurement():
    found = family("mm", timing=Timing(most=20.0))
    (inside, long) = ranges.points(found, judged(scored(10.0, 25.0), scored(10.0, 60.0)))

    assert inside.factor == 1
    assert long.factor == pytest.approx(4)


def test_timing_never_explains_more_than_light_allows():
    (point,) = ranges.points(family("mm", timing=Timing(most=20.0)), judged(scored(10.0, 22.0, light=8.0)))
    assert point.least == 8


def test_what_the_timing_adds_at_least_is_taken_off():
    (point,) = ranges.points(family("mm", timing=Timing(14.0, 10.0, 20.0)), judged(scored(30.0, 60.0)))
    assert (point.measured, point.least) == (50.0, 40.0)
    assert point.factor == pytest.approx(40 / 30)


def test_a_family_is_fitted_on_where_its_timing_leaves_little_open():
    chosen = [family("mm", timing=Timing(14.0, 10.0, 20.0))]
    rows = judged(scored(30.0, 40.0), scored(50.0, 61.0))
    every = {"mm": ranges.points(chosen[0], rows)}
    assert [one.measured for one in ranges.telling(every, chosen)["mm"]] == [51.0]


def test_others_say_nothing_of_a_sort_that_only_one_family_has():
    chosen = [family("a"), family("b"), family("c")]
    results = {
        "a": judged(*(scored(10.0 + i, 11.0 + i) for i in range(20))),
        "b": judged(*(scored(10.0 + i, 12.0 + i) for i in range(20))),
        "c": judged(*(scored(10.0 + i, 50.0 + i, sort="foreign") for i in range(20))),
    }
    assert [one["left_out"] is None for one in ranges.coverage(chosen, results)] == [False, False, True]


def test_disturbed_and_incredible_times_are_left_out():
    rows = judged(scored(1.0, 1.0, suspect=True), scored(1.0, 1.0))

    assert len(ranges.points(family("a"), rows)) == 1
    assert ranges.points(family("a", private=True), rows) == []


def test_a_time_that_the_code_cannot_have_is_told_and_not_judged():
    """The code takes 6 us at least: what was published with 5 was another one."""
    chosen = [family("a"), family("b")]
    impossible = dataclasses.replace(scored(30.0, 5.0), floor=6.0)
    slow = dataclasses.replace(scored(30.0, 7.0), floor=6.0)
    results = {name: judged(scored(10.0, 10.0), impossible, slow) for name in ("a", "b")}
    assert [one.measured for one in ranges.points(chosen[0], results["a"])] == [10.0, 7.0]
    assert [(one["times"], one["another_code"]) for one in ranges.coverage(chosen, results)] == [(2, 1), (2, 1)]


def test_families_weigh_alike():
    """A thousand times of one family do not outvote twenty of another."""
    many = [ranges.Point(scored(1.0, 1.0), 1.0, 1.0)] * 1000
    few = [ranges.Point(scored(1.0, 2.0), 2.0, 2.0)] * 20

    assert ranges.fitted({"many": many, "few": few}) == {"usual": (1.0, 2.0)}


def test_of_a_sort_that_one_family_has_a_twentieth_is_left_out_on_each_side():
    alone = [ranges.Point(scored(1.0, at), at, at) for at in (1 + 0.01 * n for n in range(100))]

    assert ranges.fitted({"a": alone}, 0.015) == {"usual": (1.0, pytest.approx(1.94))}
    assert ranges.fitted({"a": alone, "b": alone}, 0.015) == {"usual": (1.0, pytest.approx(1.98))}


def test_a_family_left_out_is_judged_by_the_others():
    chosen = [family("a"), family("b")]
    results = {
        "a": judged(*(scored(10.0 + i, 11.0 + i) for i in range(20))),
        "b": judged(*(scored(10.0 + i, 100.0 + i) for i in range(20))),
    }
    one, other = ranges.coverage(chosen, results)

    assert (one["family"], one["covered"], one["left_out"]) == ("a", 1.0, 1.0)
    assert (other["covered"], other["left_out"]) == (0.0, 0.0)


def test_what_is_left_outside_suits_families_left_out():
    """Alike families may leave much out; where each needs the whole range of the others, little."""
    alike = {name: [ranges.Point(scored(1.0, 1.0), 1.0, 1.0)] * 20 for name in "abc"}
    spread = [ranges.Point(scored(1.0, at), at, at) for at in (0.5 + 0.05 * n for n in range(21))]

    assert ranges.calibrated(alike) == max(ranges.STEPS)
    outside = ranges.calibrated(dict.fromkeys("abc", spread))
    assert outside < max(ranges.STEPS)
    assert min(ranges.apart(dict.fromkeys("abc", spread), outside).values()) >= ranges.HELD


def test_one_family_that_others_do_not_hold_widens_no_range_for_them():
    """One in eleven lies elsewhere: ranges are those of the ten, since no width of theirs holds it."""
    alike = {str(number): [ranges.Point(scored(1.0, 1.0), 1.0, 1.0)] * 20 for number in range(10)}
    odd = {"odd": [ranges.Point(scored(1.0, at), at, at) for at in [1.0] * 16 + [2.0] * 4]}

    assert ranges.calibrated(alike | odd) == max(ranges.STEPS)


def test_what_tells_little_of_the_model_is_judged_and_not_fitted():
    """A time that the timing may have made, and another kernel's: in the table, and in no range."""
    chosen = [family("a"), family("b", timing=Timing(most=20.0)), family("c", stand_in=True)]
    results = {
        "a": judged(*(scored(10.0 + i, 11.0 + i) for i in range(20))),
        "b": judged(scored(100.0, 99.0), scored(100.0, 101.0), scored(120.0, 121.0)),
        "c": judged(scored(10.0, 100.0)),
    }
    found = ranges.coverage(chosen, results)

    assert [(one["family"], one["times"], one["fitted"]) for one in found] == [("a", 20, 20), ("b", 3, 2), ("c", 1, 0)]
    assert found[2]["left_out"] == 0
    assert ranges.width(chosen, results) == 4
    assert ranges.width(chosen[2:], results) is None


def test_pairs_are_sorted_by_how_far_predictions_differ():
    rows = judged(scored(100.0, 10.0), scored(102.0, 9.0), scored(200.0, 30.0))
    found = {one["least"]: one for one in ranges.pairs([family("a")], {"a": rows})}

    assert found[0.01]["right"] == 0
    assert (found[0.5]["pairs"], found[0.5]["right"], found[0.5]["clear"]) == (2, 1, 1)


def test_more_is_right_the_more_is_left_to_the_gpu():
    pairs = [
        {"least": 0.0, "pairs": 10, "right": 0.5},
        {"least": 0.1, "pairs": 30, "right": 0.9},
    ]
    assert sureness.risk(pairs) == [(0.0, 1.0, pytest.approx(0.8)), (0.1, 0.75, pytest.approx(0.9))]
    assert sureness.risk([]) == []


def test_the_page_has_its_tables():
    chosen = [family("a")]
    found = sureness.figures(chosen, {"a": judged(scored(10.0, 11.0), scored(20.0, 19.0))})
    section = sureness.section(found)

    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert section[0] == "## How sure it is"
    titles = [line.strip("*").partition(",")[0] for line in section if line.startswith("**")]
    assert titles == [
        "Published times in the predicted range",
        "Ranges",
        "Pairs of configurations",
        "Certainty that the one said to be faster is",
        "Pairs called different at a certainty of 75%",
        "What the model answers",
    ]
    assert sum(line.startswith("|---") for line in section) == len(titles)


def test_figures_of_other_tritons_stand_beside_the_runs_own(tmp_path):
    """One line for each Triton that has the family; nothing when there is only one."""
    tritons.keep(tmp_path, {"a": {"problems": 3, "failed": 1, "clean_top1": 0.5}}, "3.4.0")
    own = {"a": {"problems": 3, "failed": 0, "clean_top1": 0.9}, "b": {"problems": 1}}
    header, lines = tritons.table(tmp_path, own, {"a": "A", "b": "B"})

    assert header[:2] == ["family", "Triton"]
    assert [line[:4] for line in lines] == [["A", "3.4.0", "3", "1"], ["A", "its own", "3", "0"]]
    assert lines[0][header.index("Spearman")] == "-"
    assert tritons.table(tmp_path / "none", own, {"a": "A"}) is None


@pytest.mark.parametrize(
    ("text", "mine", "found"),
    [
        ("3.6.0", "3.6.1", "same"),
        ("3.6", "3.6.0", "same"),
        ("3.4", "3.6.0", "another"),
        ("3.8", "3.6.0", "another"),
        ("~3.5", "3.5.1", "perhaps"),
        ("~3.5", "3.6.0", "another"),
        ("3.4-3.8 (mixed)", "3.6.0", "perhaps"),
        ("3.4-3.8 (mixed)", "3.9.0", "another"),
        ("~3.0-3.2 (main_perf 2024)", "3.6.0", "another"),
        ("ROCm6.2-era (~3.0)", "3.6.0", "another"),
        ("3.10", "3.1.0", "another"),
        ("", "3.6.0", "not told"),
        ("main", "3.6.0", "not told"),
    ],
)
def test_versions_as_rows_have_them(text, mine, found):
    assert tritons.match(text, mine) == found


def test_a_published_time_is_met_with_what_its_timing_adds():
    one = dataclasses.replace(scored(10.0, 24.0), added=14.0)
    assert time_figures(PROBLEM, [one], None)["ratio"] == pytest.approx(1.0)
    assert order_figures(PROBLEM, [one, one], None)["raw"]["ratio"][1] == pytest.approx(1.0)
