"""Predictions corrected by measured times: what is read, what is learned, and what it changes."""

from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.measured_times import by_verified, correct, read
from kprof.tuning.problems import Problem
from kprof.tuning.residuals import MOST, TimedConfig, informative, learn
from kprof.tuning.search_result import SearchResult
from kprof.tuning.space import Space


def scored(block, warps, us, measured_ms=None):
    config = {"BLOCK": block, "num_warps": warps}
    return Evaluation(
        config, time_us=us, low_us=us * 0.5, high_us=us * 1.7, bound="matrix", codes=(f"{block} {warps}",),
        measured_ms=measured_ms,
    )  # fmt: skip


def result(*ranked):
    return SearchResult(Space("a test"), ranked=[list(ranked)], own=[None])


def file(tmp_path, text):
    place = tmp_path / "times.csv"
    place.write_text(text)
    return str(place)


PROBLEM = Problem("M=8", {"M": 8})


@given(st.floats(0.1, 10), st.integers(2, 12))
def test_what_all_have_in_common_is_found(factor, count):
    timings = [TimedConfig({"BLOCK": 16 * (1 + n % 4), "w": n}, factor * (10 + n), 10.0 + n) for n in range(count)]
    learned = learn(timings)
    for config, measured, predicted, _ in timings:
        assert learned.of(config).factor == pytest.approx(measured / predicted, rel=0.03 * (1 + abs(log(factor))))
    far = learned.of({"BLOCK": 4096, "w": 10_000})
    assert abs(log(far.factor / factor)) <= 0.2 * abs(log(factor)) + 1e-9
    assert far.low <= far.factor <= far.high


def test_a_knob_that_the_model_gets_wrong_is_named():
    timings = [
        TimedConfig({"a": a, "w": w}, 10 * (1.4 if w == 8 else 1.0), 10.0) for a in range(16, 208, 16) for w in (4, 8)
    ]
    learned = learn(timings)
    ratio = learned.of({"a": 128, "w": 8}).factor / learned.of({"a": 128, "w": 4}).factor
    assert 1.05 < ratio < 1.4
    assert any(line.startswith("w=8 takes") for line in learned.words())
    assert not any(line.startswith("a=") for line in learned.words())


def test_more_timings_make_it_surer():
    few = learn([TimedConfig({"a": 16}, 20.0, 10.0)]).of({"a": 64})
    more = learn([TimedConfig({"a": a}, 20.0, 10.0) for a in (16, 32, 128, 256)]).of({"a": 64})
    assert more.high / more.low < few.high / few.low


def waiting(place, scale=1.0):
    """A timing whose predicted time goes to memory latency by a growing share, which takes ``scale`` as long."""
    share = place / 12
    shares = {"matrix": 1 - share, "memory latency": share}
    return TimedConfig({"a": 16}, 10 * (1 - share + scale * share), 10.0, shares)


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_a_cause_that_the_model_gets_wrong_is_corrected_where_it_takes_time_and_named(scale):
    learned = learn([waiting(place, scale) for place in range(0, 9, 2)])
    for place in (1, 3, 5, 7):
        one = waiting(place, scale)
        assert learned.of(one.config, one.shares).factor == pytest.approx(one.measured / one.predicted, rel=0.06)
    line = next(line for line in learned.words() if line.startswith("memory latency takes"))
    assert line.endswith("as long as predicted, 0 to 67 % of the time (loaded_latency)")
    assert (float(line.split()[3]) > 1) == (scale > 1)


def test_causes_that_are_right_are_not_named():
    assert learn([waiting(place) for place in range(8)]).words() == ["from 8 timings: 1.00 times the predicted time"]


def test_one_timing_out_of_the_ordinary_is_of_its_configuration_alone():
    plain = [TimedConfig({"a": 2**n}, 11.0, 10.0, {"matrix": 0.5 + n / 20, "lds": 0.5 - n / 20}) for n in range(8)]
    odd = plain[3]._replace(measured=60.0)
    learned = learn([*plain[:3], odd, *plain[4:]])
    assert learned.of({"a": 256}, {"matrix": 0.9, "lds": 0.1}).factor == pytest.approx(1.1, rel=0.05)


def test_the_most_telling_differ_from_each_other():
    """Of two groups that are alike within, one of each is asked for first, of the larger one before."""
    ours = [({"a": 16}, {"matrix": 0.9, "lds": 0.1 + n / 1000}) for n in range(5)]
    others = [({"a": 4096}, {"scratch": 0.9, "lds": 0.1 + n / 1000}) for n in range(3)]
    first, second = informative([*ours, *others], 2)
    assert first < 5 <= second
    assert sorted(informative(ours[:2], 5)) == [0, 1]


def test_the_choice_leaves_least_open_as_matrix_algebra_has_it():
    """Outside oracle: numpy's conditional covariance, for each possible first choice."""
    numpy = pytest.importorskip("numpy")
    from kprof.tuning import residuals

    ones = [({"a": 2**n}, {"matrix": n / 10, "lds": 1 - n / 10}) for n in (1, 2, 5, 9)]
    rows = numpy.array([[residuals._covariance(("a",), *one, *other) for other in ones] for one in ones])
    left = [
        numpy.trace(rows - numpy.outer(rows[n], rows[n]) / (rows[n, n] + residuals.SPREAD**2)) for n in range(len(ones))
    ]
    assert informative(ones, 1) == [int(numpy.argmin(left))]


def test_of_very_many_timings_some_are_learned_from():
    learned = learn([TimedConfig({"a": n}, 20.0, 10.0) for n in range(1, 2 * MOST)])
    assert len(learned.timings) == MOST


@pytest.mark.parametrize("timings", [[], [TimedConfig({}, 0.0, 1.0)], [TimedConfig({}, 1.0, 0.0)]])
def test_no_times_teach_nothing(timings):
    with pytest.raises(ValueError, match="all must be positive"):
        learn(timings)


def test_measured_times_change_the_order(tmp_path):
    found = result(scored(64, 4, 10.0), scored(64, 8, 11.0), scored(128, 8, 12.0))
    path = file(tmp_path, "BLOCK,num_warps,M,time_ms\n64,4,8,0.02\n64,8,8,0.011\n64,4,9,5\n")
    correct(found, [PROBLEM], read(path), path)
    assert found.ranked[0][0].config == {"BLOCK": 64, "num_warps": 8}
    assert found.ranked[0][0].time_us == 11
    measured = next(one for one in found.ranked[0] if one.config == {"BLOCK": 64, "num_warps": 4})
    assert (measured.time_us, measured.low_us < 20 < measured.high_us) == (20, True)
    other = next(one for one in found.ranked[0] if one.config["BLOCK"] == 128)
    assert 12 < other.time_us < 24
    assert found.learned[0][0].startswith("from 2 timings: 1.")
    assert "1 of 3 times match no configuration in the ranking (first: line 4)" in found.learned[0]


def test_lines_without_a_time_are_passed_over(tmp_path):
    assert [time.line for time in read(file(tmp_path, "BLOCK,time_us\n64,\n128,3\n"))] == [3]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("BLOCK\n64\n", "one column must be the time"),
        ("us,ms\n1,2\n", "one column must be the time"),
        ("BLOCK,us\n64,no\n", "not a positive number"),
        ("BLOCK,us\n64,-1\n", "not a positive number"),
        ("BLOCK,us\n64\n", "1 fields, the header has 2"),
        ("BLOCK,us\n", "no times"),
        ("", "one column must be the time"),
    ],
)
def test_a_bad_file_is_told_with_its_place(tmp_path, text, why):
    with pytest.raises(KprofError, match=why):
        read(file(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "why"),
    [("BLOC,us\n64,1\n", "BLOC: neither a knob nor a size"), ("BLOCK,us\n64,1\n", "matches 2 programs")],
)
def test_lines_that_mean_no_one_program_are_errors(tmp_path, text, why):
    path = file(tmp_path, text)
    with pytest.raises(KprofError, match=why):
        correct(result(scored(64, 4, 10.0), scored(64, 8, 11.0)), [PROBLEM], read(path), path)


def test_what_was_verified_corrects_the_rest():
    found = result(scored(64, 4, 10.0, measured_ms=0.02), scored(128, 4, 10.0))
    by_verified(found)
    measured, other = found.ranked[0]
    assert (measured.measured_ms, measured.time_us) == (0.02, 10.0)
    assert other.time_us == pytest.approx(20, rel=0.15)
    assert other.low_us < other.time_us < other.high_us
    assert exp(log(2) * 0.8) < float(found.learned[0][0].split(": ")[1].split()[0]) < 2.1
