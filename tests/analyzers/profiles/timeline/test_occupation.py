"""A device's time when it is collected in parts, and when clocks jumped by days."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof_analyzers.profiles.timeline import intervals
from kprof_analyzers.profiles.timeline.intervals import IntervalSet
from kprof_analyzers.profiles.timeline.occupation import DeviceTime, Occupation

DAY = 24 * 3600 * 10**9
LANES = ("compute", "communication", "memory")


def occupied(*parts, rank=1, device=2) -> Occupation:
    """A device with these activities: ``(lane, start, end)``."""
    found = Occupation(rank, device)
    for lane, start, end in parts:
        found.add(lane, [start], [end])
    return found


def test_a_device_by_hand():
    """Computing 0-10 and 50-60, communicating 5-20, copying 15-30: every number follows."""
    found = occupied(("compute", 0, 10), ("compute", 50, 60), ("communication", 5, 20), ("memory", 15, 30))
    found.kernel_ns = 35
    assert found.settle() == (
        DeviceTime(
            rank=1,
            device=2,
            first_ns=0,
            last_ns=60,
            compute_ns=20,
            communication_ns=15,
            memory_ns=15,
            busy_ns=40,
            exposed_communication_ns=10,
            exposed_memory_ns=10,
            kernel_ns=35,
            activities=4,
        ),
        0,
    )
    times, _ = found.settle()
    assert (times.span_ns, times.idle_ns) == (60, 20)
    late, _ = occupied(("compute", 100, 110), ("compute", 130, 150)).settle()
    assert (late.first_ns, late.span_ns, late.idle_ns) == (100, 50, 20)


def test_nothing_is_no_time():
    """A device without activities, and one whose activities took none."""
    assert occupied().settle() == (None, 0)
    assert (occupied().kernel_ns, occupied().activities) == (0, 0)
    assert occupied(("compute", 5, 5)).settle() == (None, 0)
    assert len(occupied().lane("memory")) == 0


PARTS = st.tuples(st.sampled_from(LANES), st.integers(0, 100), st.integers(0, 20)).map(
    lambda p: (p[0], p[1], p[1] + p[2])
)


@given(st.lists(PARTS, max_size=15), st.lists(PARTS, max_size=15))
def test_two_halves_make_the_whole(first, second):
    """Whatever is collected in two places is the same as in one."""
    whole, half, other = occupied(*first, *second), occupied(*first), occupied(*second)
    half.kernel_ns, other.kernel_ns, whole.kernel_ns = 3, 4, 7
    half.absorb(other)
    assert half.settle() == whole.settle()
    assert half.activities == len(first) + len(second)


def test_merging_in_between_changes_no_time(monkeypatch):
    """A pause packs what has come in so far, once it is enough."""
    monkeypatch.setattr(intervals, "_BUFFER", 4)
    found = occupied(*(("compute", 10 * n, 10 * n + 6) for n in range(4)), ("memory", 3, 9))
    found.pause()
    assert len(found._sets["compute"]._runs[0]) == 4
    assert not found._sets["memory"]._runs
    found.add("compute", [100], [104])
    times, _ = found.settle()
    assert (times.compute_ns, times.memory_ns, times.exposed_memory_ns) == (28, 6, 3)


@pytest.mark.parametrize(
    ("starts", "kept", "dropped"),
    [
        ([0, 100, DAY + 109], (0, DAY + 119), 0),
        ([0, 100, DAY + 110], (0, 110), 1),
        ([0, DAY + 10, DAY + 100], (DAY + 10, DAY + 110), 1),
        ([0, DAY + 10], (0, 10), 1),
        ([0, 100, DAY - 10], (0, DAY), 0),
        ([DAY, DAY + 100, 2 * DAY + 110], (DAY, DAY + 110), 1),
        ([0, 2 * DAY, 2 * DAY + 50, 9 * DAY, 9 * DAY + 50, 9 * DAY + 99], (9 * DAY, 9 * DAY + 109), 3),
        ([0, 2 * DAY, 2 * DAY + 50, 2 * DAY + 99, 9 * DAY, 9 * DAY + 50], (2 * DAY, 2 * DAY + 109), 3),
    ],
)
def test_what_lies_a_day_away_is_left_out(starts, kept, dropped):
    """The largest group stays, the first of two alike; a nanosecond less than a day is no gap."""
    found = occupied(*(("compute", start, start + 10) for start in starts))
    times, lost = found.settle()
    assert (times.first_ns, times.last_ns, lost) == (*kept, dropped)
    inside = [start for start in starts if kept[0] <= start < kept[1]]
    assert times.compute_ns == times.busy_ns == 10 * len(inside)


def test_every_lane_is_cut_to_the_same_range():
    """A copy that lies with what was dropped is dropped, too; one at the range's very edge stays."""
    far = 3 * DAY
    found = occupied(
        ("compute", 0, 10),
        ("communication", 10, 25),
        ("memory", 30, 40),
        ("compute", 50, 60),
        ("compute", far, far + 10),
        ("communication", far + 5, far + 20),
        ("memory", far + 20, far + 30),
    )
    times, lost = found.settle()
    assert (times.first_ns, times.last_ns, lost) == (0, 60, 1)
    assert (times.compute_ns, times.communication_ns, times.memory_ns) == (20, 15, 10)
    assert (times.exposed_communication_ns, times.exposed_memory_ns, times.busy_ns) == (15, 10, 45)


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(1, 30)), max_size=40))
def test_a_set_takes_lists_as_it_takes_pairs(pairs):
    """Many at once, one by one, and the union of others."""
    one, many, joined = IntervalSet(), IntervalSet(), IntervalSet()
    for start, length in pairs:
        one.add(start, start + length)
    many.add_many([s for s, _ in pairs], [s + n for s, n in pairs])
    joined.add_disjoint(one.disjoint())
    assert list(one.disjoint()) == list(many.disjoint()) == list(joined.disjoint())
