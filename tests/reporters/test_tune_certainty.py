"""What ``kprof tune`` says of its certainty, row by row and in words."""

import io

import pytest
from rich.console import Console

from kprof.reporters.tune_text import _problem
from kprof.tuning.document import CompiledResources, Ranked, TunedProblem, _ranked
from kprof.tuning.evaluation import Evaluation
from kprof_analyzers.model.certainty import certainty, least_difference


def scored(us, spread=1.5, *, given=False):
    return Evaluation({"us": us}, time_us=us, low_us=us / spread, high_us=us * spread, codes=(str(us),), given=given)


@pytest.mark.parametrize("times", [1.0, 1.02, 1.06, 1.119, 1.121, 1.3, 4.0])
def test_the_certainty_is_that_of_the_gap_and_ties_are_below_the_threshold(times):
    one = _ranked(scored(10 * times), scored(10.0), "gfx942")
    assert one.certainty == pytest.approx(certainty(times, "gfx942"), abs=6e-4)
    assert one.tie == (times - 1 < least_difference())


def test_where_the_model_guesses_there_is_no_certainty():
    """The ranges decide there, and leave more to the GPU than times so far apart would."""
    one = _ranked(scored(40.0, 5.0), scored(10.0, 5.0), "gfx942")
    assert (one.tie, one.certainty) == (True, None)


def test_given_times_say_so_and_have_no_certainty():
    one = _ranked(scored(20.0, given=True), scored(10.0, given=True), "gfx942")
    assert (one.given, one.certainty) == (True, None)


def shown(*ranking, own=None):
    stream = io.StringIO()
    problem = TunedProblem("p", {}, {}, 1, own, list(ranking), list(range(len(ranking))), [])
    _problem(Console(file=stream, width=160), problem, "gfx942")
    return stream.getvalue()


def row(us, **other):
    return Ranked({"us": us}, us, us / 2, us * 2, "matrix", CompiledResources(), **other)


@pytest.mark.parametrize(
    ("gpu", "assumptions", "shape", "words"),
    [
        ("MI355X", [], {"dtype": "fp16"}, "row 1 reaches 100 of 2,517 TFLOP/s"),
        (
            "gfx942",
            ["no product was named: MI300X is assumed"],
            {"dtype": "fp16"},
            "row 1 reaches 100 of 1,307 TFLOP/s",
        ),
        ("gfx942", ["no product was named: MI300X is assumed"], {}, "row 1 reaches 100 TFLOP/s"),
        ("gfx942", [], {"dtype": "fp16"}, "row 1 reaches 100 TFLOP/s"),
    ],
)
def test_the_rate_stands_beside_the_peak_of_its_type(gpu, assumptions, shape, words):
    """1e9 operations in 10 microseconds, and the peak of matrix instructions where GPU and type are known."""
    stream = io.StringIO()
    problem = TunedProblem("p", shape, {}, 1, None, [row(10.0)], [0], assumptions, flops=1_000_000_000, bytes=1)
    _problem(Console(file=stream, width=160), problem, gpu)
    assert words in stream.getvalue()


def test_the_next_that_is_told_apart_is_the_one_spoken_of():
    """Not a later one that happens to have a certainty."""
    text = shown(row(10.0, given=True), row(20.0, given=True), row(30.0, certainty=0.93))
    assert "certainty" not in text
    assert text.count("measured, given") == 2
    assert "than the next row without =: 91 %" in shown(row(10.0), row(20.0, certainty=0.91))


def test_without_published_times_that_is_said():
    assert "not known, no published times of this architecture" in shown(row(10.0), row(20.0))
    assert "certainty" not in shown(row(10.0), row(10.5, tie=True))
    assert "certainty" not in shown(row(10.0))


def test_the_kernels_own_is_not_compared_with_itself():
    assert "than the kernel's own" not in shown(row(10.0), row(10.1, tie=True), own=row(10.0, certainty=0.5))
    assert "than the kernel's own: 90 %" in shown(row(10.0), own=row(20.0, certainty=0.9))


def test_nothing_that_could_be_predicted_is_no_error():
    """Beside the kernel's own, which has no row to be compared with."""
    assert "no configuration could be predicted" in shown(own=row(10.0))
