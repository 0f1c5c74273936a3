"""Unions of intervals are exact: against a set of nanoseconds, and for millions of them."""

from array import array
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kprof_analyzers.profiles.timeline import intervals
from kprof_analyzers.profiles.timeline.intervals import Disjoint, IntervalSet, gaps, merged, subtract, union

_PAIRS = st.lists(st.tuples(st.integers(0, 120), st.integers(0, 25)).map(lambda p: (p[0], p[0] + p[1])), max_size=30)


def points(pairs) -> set[int]:
    """Every nanosecond that is covered."""
    return {n for start, end in pairs for n in range(start, end)}


def reference(covered: set[int]) -> list[tuple[int, int]]:
    """The longest runs of nanoseconds that are covered."""
    starts = sorted(n for n in covered if n - 1 not in covered)
    ends = sorted(n + 1 for n in covered if n + 1 not in covered)
    return list(zip(starts, ends, strict=True))


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

    assert list(merged(a, b, c)) == reference(points(first) | points(second) | points(third))
    assert list(subtract(a, b)) == reference(points(first) - points(second))
    assert list(gaps(a)) == (reference(set(range(a.starts[0], a.ends[-1])) - points(first)) if len(a) else [])


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
        assert list(collected.disjoint()) == reference(points(pairs))
    finally:
        intervals._BUFFER, intervals._WINDOW = kept


def test_millions_of_intervals_are_exact():
    """Half of the time is busy, in order of time and in pieces that come late."""
    count = 2_100_000
    collected = IntervalSet()
    for piece in (0, 2, 1):
        starts = range(piece * 10, count * 10, 30)
        collected.add_many(list(starts), [start + 5 for start in starts])
        collected.settle()
    found = collected.disjoint()

    assert (len(found), found.length()) == (count, 5 * count)


@given(_PAIRS, _PAIRS, _PAIRS)
def test_merging_piece_by_piece(first, second, third):
    """An interval may reach over many pieces."""
    kept = intervals._MANY, intervals._PIECE
    intervals._MANY, intervals._PIECE = 1, 2
    try:
        a, b, c = (union(sorted(p)) for p in (first, second, third))
        found = merged(a, b, c)
        assert list(found) == reference(points(first) | points(second) | points(third))
        assert found.length() == len(points(first) | points(second) | points(third))
    finally:
        intervals._MANY, intervals._PIECE = kept


def test_nothing_is_nothing():
    """Empty sets have no length and no gaps."""
    assert merged().length() == merged(Disjoint(), Disjoint()).length() == 0
    assert list(gaps(Disjoint())) == []


def test_intervals_are_merged_when_a_buffer_is_full(monkeypatch):
    """At the third of three, and so where many are added and then settled."""
    monkeypatch.setattr(intervals, "_BUFFER", 3)
    one, many = IntervalSet(), IntervalSet()
    waiting = []
    for number in range(3):
        one.add(4 * number, 4 * number + 1)
        many.add_many([4 * number], [4 * number + 1])
        many.settle()
        waiting.append((len(one._starts), len(many._starts)))

    assert waiting == [(1, 1), (2, 2), (0, 0)]
    assert list(one.disjoint()) == list(many.disjoint()) == [(0, 1), (4, 5), (8, 9)]


def test_runs_that_come_backwards_more_than_halve_in_length(monkeypatch):
    """So that an interval is merged a few times only, however many there are."""
    monkeypatch.setattr(intervals, "_BUFFER", 1)
    collected = IntervalSet()
    most = 0
    for number in range(200, 0, -1):
        collected.add(3 * number, 3 * number + 1)
        lengths = [len(run) for run in collected._runs]
        most = max(most, len(lengths))
        assert all(after * 2 <= before for before, after in pairwise(lengths))

    assert 3 <= most <= 9
    assert list(collected.disjoint()) == [(3 * n, 3 * n + 1) for n in range(1, 201)]


def test_a_run_that_overlaps_the_end_of_the_last_is_put_behind_it(monkeypatch):
    """Sorted but for a few: one run; what begins far before its end stands beside it."""
    monkeypatch.setattr(intervals, "_BUFFER", 2)
    collected = IntervalSet()
    collected.add_disjoint(union([(0, 1), (4, 5), (8, 9), (12, 13), (16, 17), (20, 21)]))
    collected.add_disjoint(union([(14, 18), (30, 31)]))

    assert [list(run) for run in collected._runs] == [[(0, 1), (4, 5), (8, 9), (12, 13), (14, 18), (20, 21), (30, 31)]]

    collected.add_disjoint(union([(15, 16)]))

    assert [len(run) for run in collected._runs] == [7, 1]

    collected.add_disjoint(union([(40, 41)]))

    assert [len(run) for run in collected._runs] == [7, 2]


def test_a_run_of_half_the_length_before_it_stays_beside_it(monkeypatch):
    """One interval more, and both are merged."""
    monkeypatch.setattr(intervals, "_BUFFER", 1)
    for behind, lengths in ((2, [4, 2]), (3, [7])):
        collected = IntervalSet()
        collected.add_disjoint(union([(100 + 2 * n, 101 + 2 * n) for n in range(4)]))
        collected.add_disjoint(union([(2 * n, 2 * n + 1) for n in range(behind)]))

        assert [len(run) for run in collected._runs] == lengths


def test_starts_without_ends_are_refused():
    """Wherever they are paired, rather than left out."""
    uneven, even = Disjoint(array("q", [0, 4]), array("q", [1])), union([(8, 9), (12, 13)])
    collected = IntervalSet()
    collected.add_many([0, 4], [1])

    for pairing in (lambda: list(uneven), lambda: merged(uneven, even), collected.disjoint):
        with pytest.raises(ValueError, match="shorter"):
            pairing()
