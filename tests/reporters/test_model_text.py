"""The model's lines on the terminal."""

import msgspec
import pytest

from kprof.document import KernelReport, LoopPrediction, OccupancyWorth, Prediction
from kprof.output.quantities import duration
from kprof.reporters._model_text import loop_lines, model_rows

LOOP = LoopPrediction(
    header=".LBB0_2",
    trips=31.0,
    trips_known=False,
    trips_from="assumed",
    cycles_per_iteration=1000.0,
    causes={"memory bandwidth": 600.0, "matrix": 400.0},
    by_line={"k.py:56": 700.0, "k.py:76": 300.0},
)
FAST = Prediction(
    time_us=1315.0,
    low_us=789.0,
    high_us=2235.0,
    cycles=2.7e6,
    bound="matrix",
    shares={"matrix": 0.62, "lds": 0.3, "issue": 0.08},
    loops=[LOOP],
    speed_of_light_us=434.0,
    speed_of_light_percent=33.0,
)


def text(prediction):
    """All rows as one text."""
    return "\n".join(
        f"{label} {words.plain}" for label, words in model_rows(KernelReport(name="k", arch="gfx942", model=prediction))
    )


@pytest.mark.parametrize(
    ("us", "shown"),
    [
        (0.5, "0.50 µs"),
        (12.34, "12.3 µs"),
        (999.0, "999 µs"),
        (1315.0, "1.31 ms"),
        (68e3, "68.0 ms"),
        (2.5e6, "2.50 s"),
    ],
)
def test_times_have_three_digits_and_a_unit(us, shown):
    """From microseconds to seconds."""
    assert duration(us) == shown


def test_time_range_and_causes_are_shown_most_important_first():
    """The cause that binds comes first, with its share."""
    shown = text(FAST)
    assert shown.index("62 % matrix units") < shown.index("30 % LDS") < shown.index("8 % issue")


def test_an_unknown_grid_gives_cycles_and_no_time():
    """No number stands where a time would be guessed."""
    shown = text(msgspec.structs.replace(FAST, time_us=None, low_us=None, high_us=None))
    assert "time not known: the grid is not given" in shown
    assert "1,000 cycles per iteration of loop .LBB0_2" in shown
    assert "ms" not in shown
    assert "time not known: the number of CUs is not" in text(
        msgspec.structs.replace(FAST, time_us=None, low_us=None, high_us=None, workgroups=8, loops=[])
    )
    assert "time not known: the number of iterations of a loop is not" in text(
        msgspec.structs.replace(FAST, time_us=None, low_us=None, high_us=None, workgroups=8)
    )


@pytest.mark.parametrize("time", [1315.0, None])
def test_assumptions_stand_beside_the_time(time):
    """With and without one: the causes rest on them, too. Many are counted."""
    few = text(msgspec.structs.replace(FAST, time_us=time, assumptions=["one", "MI300X is assumed"]))
    assert "Assumed one\n MI300X is assumed" in few
    many = text(msgspec.structs.replace(FAST, time_us=time, assumptions=["one", "two", "three", "four"]))
    assert "\n two" in many
    assert "three" not in many
    assert "2 more assumptions (-v)" in many


@pytest.mark.parametrize(
    ("time", "words"),
    [
        (1320.0, "higher occupancy would not help: bound by matrix units"),
        (1052.0, "with one more workgroup per CU: 20 % less time"),
        (1578.0, "with one more workgroup per CU: 20 % more time"),
        (None, "higher occupancy would not help: the grid has no more workgroups"),
    ],
)
def test_the_worth_of_occupancy_in_words(time, words):
    """Nothing, faster, slower, not possible."""
    assert words in text(msgspec.structs.replace(FAST, occupancy_worth=OccupancyWorth(3, time)))


def test_a_loop_names_its_causes_and_lines():
    """Cycles an iteration, causes by share, lines by share; assumed iterations are marked."""
    first, second = loop_lines(LOOP)
    assert first == ".LBB0_2   31 iterations (assumed) of 1,000 cycles: 60 % memory bandwidth, 40 % matrix units"
    assert second.strip() == "k.py:56 70 %   k.py:76 30 %"
