"""What memory-bound kernels are said to wait for: a level's bandwidth, or the number of accesses."""

from msgspec.structs import replace

from kprof.document import Prediction
from kprof.reporters._model_text import bandwidth_is_reached
from kprof.roofline import Roofline, RooflineLevel


def prediction(gbs, peak=5300.0, share=0.5):
    """A launch of 100 µs, so many GB/s of it from memory, a share of the time spent on that."""
    moved = gbs * 1e9 * 100e-6
    level = RooflineLevel("hbm", moved, peak)
    return Prediction(
        time_us=100.0, low_us=80.0, high_us=150.0, cycles=2e5, bound="memory bandwidth",
        shares={"memory bandwidth": share, "issue": 1 - share}, roofline=Roofline({}, {}, [level]),
    )  # fmt: skip


def test_a_level_near_its_peak_is_bandwidth():
    """Half of the time at 2,000 of 5,300 GB/s is 75 % of the peak while memory is used; 600 is 23 %."""
    assert bandwidth_is_reached(prediction(2000.0))
    assert not bandwidth_is_reached(prediction(600.0))
    assert bandwidth_is_reached(prediction(600.0, share=0.2))


def test_what_is_not_known_is_not_denied():
    """Without a peak, a time or a share nothing says that the bandwidth is not reached."""
    known = prediction(600.0)
    assert bandwidth_is_reached(prediction(600.0, peak=None))
    assert bandwidth_is_reached(replace(known, time_us=None))
    assert bandwidth_is_reached(replace(known, shares={"issue": 1.0}))
    one = RooflineLevel("mall", 1e6, None)
    both = replace(known, roofline=Roofline({}, {}, [*known.roofline.levels, one]))
    assert bandwidth_is_reached(both)
