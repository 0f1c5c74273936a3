"""How sure it is that one launch is faster: the shares of the page, for both directions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof_analyzers.model import ranges
from kprof_analyzers.model.certainty import ENOUGH, PredictedGain, certainty, least_difference, predicted_gain, steps


def test_a_difference_has_the_share_of_its_step():
    """At a step's edge and before the next one."""
    for step, following in zip(steps(), [*steps()[1:], None], strict=True):
        most = following.least if following is not None else 10.0
        inside = 1 + (step.least + most) / 2
        assert certainty(inside, "gfx942") == max(0.5, step.right)
        assert certainty(1 / inside, "gfx942") == pytest.approx(1 - max(0.5, step.right))


@given(st.floats(0.05, 20), st.floats(0.05, 20))
def test_more_of_a_difference_is_never_less_sure(one, other):
    """Over the whole range, slower proposals included."""
    low, high = sorted((one, other))
    assert certainty(low, "gfx942") <= certainty(high, "gfx942")


def test_equal_times_say_nothing():
    assert certainty(1.0, "gfx942") == 0.5


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201", "gfx1250"])
def test_without_published_times_it_is_not_known(arch):
    """What is not known is no number, and is said."""
    found = predicted_gain(10.0, 12.0, arch)
    assert found.certainty is None
    assert found.told_apart
    assert found.words() == "1.20 times as fast, certainty not known: no published times of this architecture"


def test_near_times_ask_for_the_gpu():
    """Below the threshold both have to be measured; above it the words have the share."""
    near, far = predicted_gain(10.0, 10.2, "gfx942"), predicted_gain(10.0, 13.0, "gfx942")
    assert not near.told_apart
    assert near.certainty < ENOUGH
    sure = f"{100 * certainty(1.02, 'gfx942'):.0f} %"
    assert near.words().endswith(f"{sure} sure that it is faster: too close to distinguish, measure both on the GPU")
    assert far.told_apart
    assert far.words() == f"1.30 times as fast, {100 * certainty(1.3, 'gfx942'):.0f} % sure that it is faster"
    assert predicted_gain(13.0, 10.0, "gfx942").told_apart


def test_the_threshold_is_met_from_the_least_difference_on():
    assert certainty(1.0001 + least_difference(), "gfx942") >= ENOUGH
    assert certainty(0.9999 + least_difference(), "gfx942") < ENOUGH


@pytest.mark.parametrize("times", [(None, 1.0), (1.0, None), (0.0, 1.0)])
def test_an_unknown_time_is_compared_with_nothing(times):
    assert predicted_gain(*times, "gfx942") is None


@pytest.fixture
def quarters(monkeypatch):
    """Shares by differences that binary fractions have exactly."""
    shares = {0.0: 0.5, 0.25: 0.75, 0.5: 0.875}
    table = {"steps": [{"least": least, "right": right, "pairs": 10} for least, right in shares.items()]}
    ranges.calibration()  # from its own file, and kept
    monkeypatch.setattr(ranges, "own_table", lambda name: {"certainty.toml": table}[name])
    cached = steps, least_difference
    for function in cached:
        function.cache_clear()
    yield
    for function in cached:
        function.cache_clear()


@pytest.mark.usefixtures("quarters")
def test_a_step_begins_with_its_least_difference():
    """Three of four pairs ordered as measured are enough, and a step holds from its edge on, either way."""
    assert [certainty(speedup, "gfx942") for speedup in (1.125, 1.25, 1.375, 1.5, 2.0)] == [
        0.5,
        0.75,
        0.75,
        0.875,
        0.875,
    ]
    assert certainty(0.5, "gfx942") == 0.125
    assert (ENOUGH, least_difference()) == (0.75, 0.25)
    assert [PredictedGain(speedup, None).told_apart for speedup in (1.0, 1.125, 1.25, 0.8, 0.9)] == [
        False, False, True, True, False,
    ]  # fmt: skip
