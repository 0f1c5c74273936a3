"""The range of a prediction: which sort it is of, and that it is in order whatever the figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof_analyzers.model import predict
from kprof_analyzers.model.ranges import RANGES, bounds, sort_of

TIMES = st.floats(0, 1e9)


@pytest.mark.parametrize(
    ("light", "shares", "known", "sort"),
    [
        (50.0, {"matrix": 1.0}, True, "near"),
        (5.0, {"memory latency": 1.0}, True, "far"),
        (50.0, {"scratch": 0.5, "matrix": 0.5}, True, "scratch"),
        (5.0, {"launch": 0.6, "memory latency": 0.4}, True, "short"),
        (50.0, {"matrix": 1.0}, False, "unknown"),
    ],
)
def test_what_makes_a_range_wide(light, shares, known, sort):
    """Spills weigh more than the launch, unknown iterations more than everything."""
    assert sort_of(100.0, light, shares, trips_known=known) == sort


def test_less_sure_is_wider():
    """The sorts are in the order of their widths, and no range leaves out the prediction."""
    widths = [found.high / found.low for found in RANGES.values()]

    assert widths == sorted(widths)
    assert all(found.low < 1 < found.high for found in RANGES.values())


@given(TIMES, TIMES, st.sampled_from(sorted(RANGES)))
def test_ends_enclose_the_prediction(time, light, sort):
    """Nothing is promised faster than light, and the prediction stays inside."""
    low, high = bounds(time, light, RANGES[sort].low, RANGES[sort].high)

    assert low <= time <= high
    assert low >= min(time, light)


def test_a_guess_is_said_to_be_one(kernel):
    """A loop whose iterations nobody knows has the widest range, and a note that says so."""
    loop = ["s_mov_b32 s0, 0", ".LBB0_1:", "v_add_u32_e32 v1, v1, v2", "s_cmp_lt_i32 s0, 64", "s_cbranch_scc1 .LBB0_1"]
    found = predict(kernel(loop))

    assert found.high_us == pytest.approx(found.time_us * RANGES["unknown"].high)
    assert any("wide range" in note and "iterates" in note for note in found.notes)
