"""Workgroups over CUs, against handing them out one by one."""

from itertools import product
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.launch import Spread, samples, spread, together

SIDES = st.lists(st.integers(1, 9), min_size=1, max_size=3)


def launch(grid, places):
    """What is known of a launch: its grid, and workgroups that a CU holds."""
    occupancy = None if places is None else SimpleNamespace(workgroups_per_cu=places)
    return SimpleNamespace(grid=None if grid is None else tuple(grid), occupancy=occupancy)


def gpu(units):
    return SimpleNamespace(units=units)


def dealt_out(total, units):
    """Workgroups of each CU, handed out in turn."""
    counts = [0] * units
    for number in range(total):
        counts[number % units] += 1
    return counts


@given(grid=SIDES, units=st.integers(1, 12), places=st.integers(1, 4), persistent=st.booleans())
def test_rounds_are_what_handing_out_gives(grid, units, places, persistent):
    """Round by round as many as there are places; the last round is full where its busiest CU is."""
    total = len([*product(*map(range, grid))])
    found = spread(launch(grid, places), gpu(units), Effects(persistent=persistent))
    resident = min(places, max(dealt_out(total, units))) if persistent else places
    left, full, last = total, 0, 0
    while left >= units * resident:
        left, full = left - units * resident, full + 1
    if left:
        last = max(dealt_out(left, units))
    if last == resident:
        full, last = full + 1, 0
    assert (found.total, found.resident, found.rounds, found.last) == (total, resident, full, last)
    assert found.active == sum(count > 0 for count in dealt_out(total, units))
    assert (found.known, found.assumptions) == (True, ())
    assert found.grid == tuple([*grid, 1, 1][:3])


@given(grid=SIDES, units=st.integers(1, 12), places=st.integers(1, 4))
def test_without_rounds_a_grid_is_spread_evenly(grid, units, places):
    total = len([*product(*map(range, grid))])
    found = spread(launch(grid, places), gpu(units), Effects(wave_quantisation=False))
    assert found.rounds == max(1.0, total / (units * found.resident))
    assert (found.last, found.active, found.known) == (0, min(units, total), True)


@given(grid=SIDES, units=st.integers(1, 12), places=st.integers(1, 4))
def test_workgroups_of_all_rounds_are_those_of_the_launch(grid, units, places):
    """Of a round in which every CU is full, and of the last one."""
    found = spread(launch(grid, places), gpu(units), Effects())
    last = found.running(units, last=True)
    assert found.rounds * found.running(units) + last == pytest.approx(found.total)
    assert found.running(units) <= units * found.resident
    if found.last:
        assert last == found.total - found.rounds * units * found.resident if found.rounds else found.total
    else:
        assert last == 0


def test_a_round_s_workgroups_by_hand():
    """Twelve CUs with two each: 30 are 24 and six; of 6 alone all places are taken to be used."""
    known = {"grid": (30, 1, 1), "resident": 2, "active": 12, "known": True}
    two = Spread(30, rounds=1.0, last=1, **known)
    assert (two.running(12), two.running(12, last=True)) == (24, 6)
    assert Spread(6, rounds=0.0, last=1, **known).running(12) == 24
    assert Spread(20, rounds=1.0, last=0, **known).running(12) == 20
    # At least one is left for a last round that somebody counted on, and the others are in the full one.
    counted = Spread(24, rounds=1.0, last=1, **known)
    assert (counted.running(12), counted.running(12, last=True)) == (23, 1)


def test_what_is_not_known_of_a_launch_is_assumed_and_told():
    unknown = spread(launch(None, None), gpu(None), Effects())
    assert (unknown.total, unknown.grid, unknown.resident, unknown.active) == (1, (1, 1, 1), 1, 1)
    assert unknown.known is False
    assert unknown.assumptions == (
        "the occupancy is not known: one workgroup per CU is assumed",
        "the number of CUs is not known: one is assumed",
        "the grid is not given: one full round of workgroups is assumed",
    )
    one_round = spread(launch(None, 3), gpu(10), Effects())
    assert one_round == Spread(30, (30, 1, 1), 3, 1.0, 0, 10, False, unknown.assumptions[2:])
    assert spread(launch((7,), None), gpu(10), Effects()).assumptions == unknown.assumptions[:1]
    uneven = spread(launch((7,), 2), gpu(None), Effects(wave_quantisation=False))
    assert (uneven.assumptions, uneven.rounds) == (unknown.assumptions[1:2], 7 / 2)


def test_fewer_than_one_workgroup_for_a_cu_is_one_and_an_empty_grid_is_one_workgroup():
    """Half a workgroup: a WGP has one. A fourth side is none."""
    assert spread(launch((64,), 0.5), gpu(4), Effects()).resident == 1
    assert spread(launch((64,), 2.9), gpu(4), Effects()).resident == 2
    assert spread(launch((0,), 2), gpu(4), Effects()).total == 1
    assert spread(launch((2, 3, 4, 5), 2), gpu(4), Effects()).grid == (2, 3, 4)
    assert spread(launch((), 2), gpu(4), Effects()).grid == (1, 1, 1)


@given(grid=st.tuples(*[st.integers(1, 14)] * 3), units=st.integers(1, 400), resident=st.integers(1, 3))
def test_workgroups_from_the_middle_are_in_the_order_of_the_launch(grid, units, resident):
    """The first of them goes to the first die; as many come before them as behind, but for the dies' number."""
    order = [(x, y, z) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0])]
    where = Spread(len(order), grid, resident, 1.0, 0, min(units, len(order)), known=True)
    found, running = together(where, 8)
    at = order.index(found[0])
    assert list(found) == order[at : at + len(found)]
    assert len(found) == min(len(order), 1024)
    assert at % 8 == 0
    assert 0 <= (len(order) - len(found)) / 2 - at < 8
    assert running == min(len(found), where.active * resident)


def test_all_that_run_together_on_a_large_gpu_are_looked_at():
    """Three on each of 304 CUs; each one costs an evaluation, so that no more than a thousand or so are."""
    where = Spread(100_000, (100_000, 1, 1), 3, 109.0, 2, 304, known=True)
    found, running = together(where, 8)
    assert running == 3 * 304
    assert running < len(found) < 1100


@given(grid=st.tuples(*[st.integers(1, 14)] * 3))
def test_each_part_of_a_launch_has_one_sample(grid):
    """The launch has as many equal parts as there are samples; the first workgroup is among them."""
    numbers = {one: n for n, one in enumerate(product(*map(range, reversed(grid))))}
    found = [numbers[z, y, x] for x, y, z in samples(Spread(len(numbers), grid, 1, 1.0, 0, 1, known=True))]
    assert len(found) == min(len(numbers), 512)
    assert found[0] == 0
    ends = [n * len(numbers) // len(found) for n in range(len(found) + 1)]
    assert all(begin <= number < end for number, begin, end in zip(found, ends, ends[1:], strict=False))


@pytest.mark.parametrize(("period", "wide"), [(2, 130), (8, 1000), (33, 1056), (12, 852)])
def test_samples_meet_every_phase_of_a_launch_that_repeats(period, wide):
    """Stream-K's tiles repeat after 33, dies after 8: each phase has its share. None is a multiple of 512."""
    where = Spread(wide * 8, (wide, 8, 1), 1, 1.0, 0, 1, known=True)
    met = [x % period for x, _, _ in samples(where)]
    assert all(0.7 <= met.count(phase) * period / len(met) <= 1.3 for phase in range(period))
