"""The range of a prediction: which sort it is of, and that it is in order whatever the figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof_analyzers.model import predict
from kprof_analyzers.model.ranges import LATENCY, SCRATCH, bounds, ranges, sort_of

TIMES = st.floats(0, 1e9)


@pytest.mark.parametrize(
    ("shares", "known", "arch", "sort"),
    [
        ({"matrix": 1.0}, True, "gfx942", "usual"),
        ({"launch": 0.6, "memory latency": 0.15}, True, "gfx942", "usual"),
        ({"memory bandwidth": 0.75, "memory latency": 0.15, "barrier": 0.1}, True, "gfx950", "latency"),
        ({"scratch": 0.5, "memory latency": 0.5}, True, "gfx90a", "scratch"),
        ({"scratch": 0.5, "matrix": 0.5}, True, "gfx1250", "foreign"),
        ({"matrix": 1.0}, True, "gfx1100", "foreign"),
        ({"matrix": 1.0}, False, "gfx1100", "unknown"),
    ],
)
def test_what_makes_a_range_wide(shares, known, arch, sort):
    """Spills weigh more than latencies, no time to fit on more than both, unknown iterations more than everything."""
    assert sort_of(shares, trips_known=known, arch=arch) == sort


def test_less_sure_is_wider():
    """What is named as a reason makes a range wider, and no range leaves out the prediction."""
    widths = {sort: found.high / found.low for sort, found in ranges().items()}

    assert widths["usual"] < widths["latency"] < min(widths["scratch"], widths["foreign"])
    assert max(widths.values()) == widths["unknown"]
    assert all(found.low < 1 < found.high for found in ranges().values())


def test_every_wide_range_says_why():
    assert {sort for sort, found in ranges().items() if not found.why} == {"usual", "latency"}


REASONS = {
    "scratch": "much of the time is waiting for spilled registers, whose cost is the most uncertain",
    "foreign": "the model was not fitted on times of this architecture",
    "unknown": "the number of iterations of a loop is not known",
}


def test_a_wide_range_gives_its_own_reason():
    """As users read them behind "wide range:"; the module's first paragraph names the same three."""
    assert {sort: found.why for sort, found in ranges().items()} == {"usual": "", "latency": "", **REASONS}


@pytest.mark.parametrize(("cause", "limit"), [("scratch", 0.1), ("memory latency", 0.2), ("barrier", 0.2)])
def test_a_share_has_to_exceed_its_limit(cause, limit):
    """A tenth of the time for spills, a fifth for waiting: the limits that the factors were fitted with."""
    assert (SCRATCH, LATENCY) == (0.1, 0.2)
    wide = "scratch" if cause == "scratch" else "latency"
    assert sort_of({cause: limit}, trips_known=True, arch="gfx942") == "usual"
    assert sort_of({cause: limit + 1e-6}, trips_known=True, arch="gfx942") == wide


def test_nothing_known_of_the_causes_is_the_usual_range():
    assert sort_of({}, trips_known=True, arch="gfx942") == "usual"
    assert sort_of({"memory latency": 0.12, "barrier": 0.12}, trips_known=True, arch="gfx942") == "latency"


@pytest.mark.parametrize(
    ("light", "low", "ends"),
    [
        (0.0, 0.5, (50.0, 150.0)),  # half of 100 µs
        (70.0, 0.5, (70.0, 150.0)),  # no faster than light, which takes 70
        (120.0, 0.5, (100.0, 150.0)),  # and not slower than the prediction itself
    ],
)
def test_ends_are_factors_of_the_prediction(light, low, ends):
    assert bounds(100.0, light, low, 1.5) == ends


@given(TIMES, TIMES, st.sampled_from(sorted(ranges())))
def test_ends_enclose_the_prediction(time, light, sort):
    """Nothing is promised faster than light, and the prediction stays inside."""
    low, high = bounds(time, light, ranges()[sort].low, ranges()[sort].high)

    assert low <= time <= high
    assert low >= min(time, light)


def test_a_guess_is_said_to_be_one(kernel):
    """A loop whose iterations nobody knows has the widest range, and a note that says so."""
    loop = ["s_mov_b32 s0, 0", ".LBB0_1:", "v_add_u32_e32 v1, v1, v2", "s_cmp_lt_i32 s0, 64", "s_cbranch_scc1 .LBB0_1"]
    found = predict(kernel(loop))

    assert found.high_us == pytest.approx(found.time_us * ranges()["unknown"].high)
    assert any("wide range" in note and "iterations of a loop" in note for note in found.notes)
