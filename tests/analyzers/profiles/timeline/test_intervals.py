"""Unions of intervals are exact: against a set of nanoseconds, and past the bound within the error told."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kprof_analyzers.profiles.timeline import intervals
from kprof_analyzers.profiles.timeline.intervals import Disjoint, IntervalSet, gaps, merged, subtract, union

_PAIRS = st.lists(st.tuples(st.integers(0, 120), st.integers(0, 25)).map(lambda p: (p[0], p[0] + p[1])), max_size=30)


def points(pairs) -> set[int]:
    """Every nanosecond that is covered."""
    return {n for start, end in pairs for n in range(start, end)}


@given(_PAIRS)
def test_the_union_covers_what_its_intervals_cover(pairs):
    """And its intervals are sorted, apart and not empty."""
    found = union(sorted(pairs))

    assert points(found) == points(pairs)
    assert found.length() == len(points(pairs))
    assert all(end < start for (_, end), (start, _) in zip(list(found), list(found)[1:], strict=False))
    assert all(start < end for start, end in found)


@given(_PAIRS, _PAIRS, _PAIRS)
def test_merging_and_subtracting_sets(first, second, third):
    """As set union and difference."""
    a, b, c = (union(sorted(p)) for p in (first, second, third))

    assert points(merged(a, b, c)) == points(first) | points(second) | points(third)
    assert points(subtract(a, b)) == points(first) - points(second)
    assert points(gaps(a)) == (set(range(a.starts[0], a.ends[-1])) - points(first) if len(a) else set())


@settings(max_examples=60)
@given(_PAIRS, st.integers(1, 5))
def test_collecting_in_any_order_and_in_small_buffers(pairs, buffer):
    """Flushes of a few intervals give what one sort gives."""
    kept = intervals._BUFFER, intervals._WINDOW
    intervals._BUFFER, intervals._WINDOW = buffer, 2
    try:
        collected = IntervalSet()
        for start, end in pairs:
            collected.add(start, end)
        assert points(collected.disjoint()) == points(pairs)
        assert collected.error_ns == 0
    finally:
        intervals._BUFFER, intervals._WINDOW = kept


def test_millions_of_gaps_stay_bounded_and_the_error_is_told():
    """Past the limit the shortest gaps are closed: too long by no more than error_ns."""
    collected = IntervalSet(limit=1000)
    for n in range(100_000):
        collected.add(n * 10, n * 10 + 4 + n % 3)
    exact = sum(4 + n % 3 for n in range(100_000))
    found = collected.disjoint()

    assert len(found) <= 40_000
    assert exact < found.length() <= exact + collected.error_ns


def test_nothing_is_nothing():
    """Empty sets have no length and no gaps."""
    assert merged().length() == merged(Disjoint(), Disjoint()).length() == 0
    assert list(gaps(Disjoint())) == []
