"""Who shares what: SIMDs among small workgroups, bandwidth among CUs, the Infinity Cache between workgroups."""

import pytest

from kprof.hardware.machine import find_product
from kprof_analyzers.throughput import Effects, predict
from kprof_analyzers.throughput.kernel import build
from kprof_analyzers.throughput.launch import Spread, together
from kprof_analyzers.throughput.memory import ways_of
from kprof_analyzers.throughput.traffic import Access, Sharing, kept, sharing

STREAM = [
    "s_mov_b32 s0, 0",
    ".LBB0_1:",
    *[f"global_load_dwordx4 v[{4 * n}:{4 * n + 3}], v[80:81], off" for n in range(16)],
    "s_waitcnt vmcnt(0)",
    "s_add_i32 s0, s0, 1",
    "s_cmp_lt_i32 s0, 16",
    "s_cbranch_scc1 .LBB0_1",
]


class Load:
    """As much of an operation as the traffic looks at."""

    name = "tt.load"


def access(corners, tile_bytes=1024, times=1.0):
    return Access(Load(), tile_bytes, corners, times)


@pytest.mark.parametrize(("warps", "lds"), [(1, 8192), (2, 20480), (2, 8192), (4, 8192)])
def test_a_stream_takes_its_bytes_at_the_memory_s_bandwidth_however_small_its_workgroups(kernel, warps, lds):
    """Independent workgroups fall out of step, so that their waits are filled with others' loads."""
    facts = kernel(STREAM, warps=warps, lds=lds, grid=(304 * 48 // warps,))
    found = predict(facts, effects=Effects(launch_overhead=False))
    hbm = find_product("MI300X").memory["hbm"].sustained_gbs
    moved = 304 * 48 * 64 * 16 * 16 * found.loops[0].trips
    assert found.time_us == pytest.approx(moved / (hbm * 1e3), rel=0.25)


def test_wavefronts_of_small_workgroups_are_counted_over_all_simds(kernel):
    found = predict(kernel(STREAM, warps=2, lds=20480, grid=(304 * 3,)))
    # Three workgroups of two are six wavefronts: two of the four SIMDs have two.
    assert (found.workgroups_per_cu, found.waves_per_simd) == (3, 2)


def test_bandwidth_goes_to_the_cus_that_have_more_workgroups(kernel):
    """300 and 308 workgroups take about as long: the few CUs with two get what the others leave."""
    model = build(kernel(STREAM, grid=(308,)))
    load = model.ways[0]
    full = build(kernel(STREAM, grid=(608,))).ways[0]
    assert model.where.resident == 2
    assert full.clocks_per_byte / load.clocks_per_byte == pytest.approx(608 / 308)


@pytest.mark.parametrize(("total", "rounds", "last"), [(304 * 2, 1.0, 0), (304 * 5 + 10, 2.0, 1)])
def test_workgroups_at_the_same_time(total, rounds, last):
    where = Spread(total, (total, 1, 1), 2, rounds, last, 304, known=True)
    assert where.running(304) <= 608
    if last:
        assert where.running(304, last=True) == total - rounds * 608


def test_the_last_round_has_its_own_share(kernel):
    model = build(kernel(STREAM, lds=20480, grid=(304 * 3 + 1,)))
    assert model.where.last == 1
    last = ways_of(model.facts, model.machine, model.effects, model.where, model.sharing, last=True)
    assert last[0].clocks_per_byte < model.ways[0].clocks_per_byte


def test_the_infinity_cache_keeps_what_earlier_workgroups_loaded():
    # Four workgroups run together; each tile is loaded again eight workgroups later.
    corners = [n % 8 for n in range(64)]
    kept_all = sharing([access(corners)], 1, 4, size=8 * 1024)
    too_small = sharing([access(corners)], 1, 4, size=7 * 1024)
    assert kept_all.beyond_mall == pytest.approx(8 / 64)
    assert too_small.beyond_mall == 1
    assert kept_all.beyond_l2 == too_small.beyond_l2 == 1


def test_a_launch_after_its_like_finds_its_data_in_the_infinity_cache():
    cold = Sharing(0.5, 0.25, 100.0, 0.0, None, known=True)
    assert kept(cold, repeated=10.0, size=10.0).beyond_mall == 0
    assert kept(cold, repeated=11.0, size=10.0) == cold
    assert kept(cold, repeated=10.0, size=10.0).beyond_l2 == cold.beyond_l2


def test_workgroups_looked_at_follow_each_other():
    where = Spread(4000, (4000, 1, 1), 1, 14.0, 0, 304, known=True)
    programs, running = together(where, 8)
    numbers = [x for x, _, _ in programs]
    assert running == 304
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert numbers[0] % 8 == 0
