"""Who shares what: SIMDs among small workgroups, bandwidth among CUs, the Infinity Cache between workgroups."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.condition import WARM
from kprof.hardware.machine import find_product
from kprof.inputs import mlir
from kprof_analyzers.model import Effects, fetched, predict
from kprof_analyzers.model.explain import assumptions
from kprof_analyzers.model.kernel import build, simulate
from kprof_analyzers.model.launch import Spread, together
from kprof_analyzers.model.machine import Channels
from kprof_analyzers.model.memory import memory_paths
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.traffic import Access, footprint, sharing

CHANNELS = Channels(line=128, interleave=256, short=0.5, most=2.0)
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


def access(corners, tile_bytes=1024, times=1.0, run=None):
    return Access(Load(), tile_bytes, corners, times, run=run)


def one_after_the_other(loads, products):
    """A loop of loads, a wait for all of them, then matrix products."""
    return [
        "s_mov_b32 s0, 0",
        ".LBB0_1:",
        *[f"global_load_dwordx4 v[{4 * n}:{4 * n + 3}], v[80:81], off" for n in range(loads)],
        "s_waitcnt vmcnt(0)",
        *["v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]"] * products,
        "s_add_i32 s0, s0, 1",
        "s_cmp_lt_i32 s0, 64",
        "s_cbranch_scc1 .LBB0_1",
    ]


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
    load = model.paths[0]
    full = build(kernel(STREAM, grid=(608,))).paths[0]
    assert model.where.resident == 2
    assert full.cycles_per_byte / load.cycles_per_byte == pytest.approx(608 / 308)


@pytest.mark.parametrize(("total", "rounds", "last"), [(304 * 2, 1.0, 0), (304 * 5 + 10, 2.0, 1)])
def test_workgroups_at_the_same_time(total, rounds, last):
    where = Spread(total, (total, 1, 1), 2, rounds, last, 304, known=True)
    assert where.running(304) <= 608
    if last:
        assert where.running(304, last=True) == total - rounds * 608


def test_the_last_round_has_its_own_share(kernel):
    model = build(kernel(STREAM, lds=20480, grid=(304 * 3 + 1,)))
    assert model.where.last == 1
    last = memory_paths(model.facts, model.machine, model.effects, model.where, model.sharing, last=True)
    assert last[0].cycles_per_byte < model.paths[0].cycles_per_byte


def test_the_infinity_cache_keeps_what_earlier_workgroups_loaded():
    # Four workgroups run together; each tile is loaded again eight workgroups later.
    corners = [n % 8 for n in range(64)]
    kept_all = sharing([access(corners)], 1, 4, CHANNELS, size=8 * 1024)
    too_small = sharing([access(corners)], 1, 4, CHANNELS, size=7 * 1024)
    assert kept_all.beyond_mall == pytest.approx(8 / 64)
    assert too_small.beyond_mall == 1
    assert kept_all.beyond_l2 == too_small.beyond_l2 == 1


def test_experts_weights_come_from_memory_once_however_rounds_cut_them():
    """Nine rows of blocks share 16 tiles: 48 workgroups run together, and what the cache holds goes on with them."""
    corners = [n // 144 * 16 + n % 16 for n in range(1008)]
    found = sharing([access(corners)], 1, 48, CHANNELS, size=24 * 1024)
    assert found.beyond_mall == pytest.approx(16 / 144, rel=0.1)


@given(
    corners=st.lists(st.integers(0, 12), min_size=30, max_size=120),
    together=st.integers(1, 8),
    held=st.integers(1, 12),
)
def test_what_is_loaded_again_soon_comes_from_the_infinity_cache(corners, together, held):
    """Against a search through what the workgroups before have loaded."""
    window = max(n for n in range(len(corners) + 1) if len(set(corners[:n])) <= held)
    window = max(window, together)
    steady = [corners[n] not in corners[n - window : n] for n in range(window, len(corners))]
    first = len(set(corners[:window])) / window
    expected = sum(steady) / len(steady) if len(corners) >= 1.5 * window else first
    assert sharing([access(corners)], 1, together, CHANNELS, size=held * 1024).beyond_mall == pytest.approx(expected)


@pytest.mark.parametrize(("loads", "products"), [(4, 24), (8, 24), (16, 24), (16, 60)])
def test_cus_out_of_step_share_the_memory(kernel, loads, products):
    """An iteration takes no less than its bytes at the CU's share of the bandwidth, nor than with the memory idle."""
    model = build(kernel(one_after_the_other(loads, products), lds=65536, grid=(304,)))
    run, private = (simulate(m, 1) for m in (model, replace(model, l2_paths=None)))
    (loop,) = run.length
    idle = simulate(replace(model, paths=model.l2_paths, l2_paths=None), 1).length[loop]
    share = 4 * 64 * 16 * loads * model.paths[0].cycles_per_byte
    assert model.l2_paths[0].cycles_per_byte < model.paths[0].cycles_per_byte
    assert run.length == private.length
    assert max(idle, share) <= run.powered[loop] <= private.powered[loop]
    if max(idle, share) < 0.9 * private.length[loop]:
        assert run.powered[loop] < 0.95 * private.powered[loop]


def test_a_loop_of_loads_alone_gains_nothing_from_others_out_of_step(kernel):
    model = build(kernel(STREAM, grid=(304 * 2,)))
    assert simulate(model, 2).powered == pytest.approx(simulate(replace(model, l2_paths=None), 2).powered, rel=0.05)


@pytest.mark.parametrize(
    ("run", "near", "far"), [(None, 1, 1), (256, 1, 1), (1024, 1, 1), (128, 1.5, 1.5), (32, 2, 1.5)]
)
def test_short_runs_cost_more_and_whole_lines_beyond_l2(run, near, far):
    found = sharing([access(list(range(64)), run=run)], 8, 64, CHANNELS)
    assert (found.effort, found.effort_beyond) == (near, far)


def test_short_runs_of_what_l2_holds_cost_nothing_beyond_it():
    held, missed = access(0, run=64), access(list(range(64)), run=256)
    found = sharing([held, missed], 1, 64, CHANNELS)
    assert found.effort == pytest.approx(1.25, abs=0.01)
    assert found.effort_beyond == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(("run", "hit", "missed"), [(256, 1, 1), (128, 1, 1.5), (64, 1.5, 2), (16, 2, 2)])
def test_what_l2_has_goes_out_in_lines_and_the_rest_is_fetched_from_channels(run, hit, missed):
    assert (CHANNELS.effort(run, 0.0), CHANNELS.effort(run, 1.0)) == (hit, missed)
    assert CHANNELS.effort(run, 0.25) == pytest.approx(0.75 * hit + 0.25 * missed)
    # One of eight workgroups of an XCD fetches the tile, seven find it there.
    found = sharing([access([n // 8 for n in range(64)], run=run)], 1, 64, CHANNELS)
    assert found.effort == pytest.approx((7 * hit + missed) / 8)


def test_short_runs_of_what_comes_from_memory_take_longer(kernel):
    model = build(kernel(STREAM, grid=(608,)))
    short = replace(model.sharing, effort_beyond=1.5)
    long, slow = (
        memory_paths(model.facts, model.machine, Effects(), model.where, shared)[0] for shared in (model.sharing, short)
    )
    assert slow.cycles_per_byte == pytest.approx(1.5 * long.cycles_per_byte)
    assert slow.latency == long.latency


@pytest.mark.parametrize(("unknown", "found"), [(1, 64 * 20 * 1024), (10, None)])
def test_a_little_of_unknown_address_leaves_the_footprint_known(unknown, found):
    loads = [access(list(range(64)), times=20), access(None, times=unknown)]
    assert footprint(loads, 64, 64) == found


def test_workgroups_looked_at_follow_each_other():
    where = Spread(4000, (4000, 1, 1), 1, 14.0, 0, 304, known=True)
    programs, running = together(where, 8)
    numbers = [x for x, _, _ in programs]
    assert running == 304
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert numbers[0] % 8 == 0


MODULE = """
#blocked = #ttg.blocked<{{sizePerThread = [{vector}], threadsPerWarp = [64], warpsPerCTA = [{warps}], order = [0]}}>
module attributes {{"ttg.num-warps" = {warps} : i32, "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func public @k(%p: !tt.ptr<f32>, %row: i32) {{
    %r = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #blocked>
    %s = tt.splat %row : i32 -> tensor<64xi32, #blocked>
    %o = arith.muli %r, %s : tensor<64xi32, #blocked>
    %b = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #blocked>
    %a = tt.addptr %b, %o : tensor<64x!tt.ptr<f32>, #blocked>, tensor<64xi32, #blocked>
    %v = tt.load %a : tensor<64x!tt.ptr<f32>, #blocked> loc(#here)
    tt.return
  }}
}}
#here = loc("k.py":7:0)
"""


@pytest.mark.parametrize(
    ("warps", "row", "bytes_a_lane"),
    [
        (1, 1, 4.0),  # side by side: what is asked for
        (4, 1, 1.0),  # four wavefronts ask for the same
        (1, 56, 64.0),  # each row lies in a line of its own: half a line each
        (4, 56, 16.0),
    ],
)
def test_lanes_that_repeat_each_other_fetch_once(warps, row, bytes_a_lane):
    module = mlir.parse(MODULE.format(vector=1, warps=warps))
    (load,) = [op for op in module.operations if op.name == "tt.load"]
    needed, asked = fetched._bytes(load, {"row": row}, 64)
    assert asked == 64 * warps * 4
    assert needed / (64 * warps) == bytes_a_lane


def test_known_indices_tell_which_memory_is_the_same():
    text = """
module {
  tt.func public @k(%owners: !tt.ptr<i32>, %w: !tt.ptr<f32>) {
    %pid = tt.get_program_id x : i32
    %at = tt.addptr %owners, %pid : !tt.ptr<i32>, i32
    %owner = tt.load %at : !tt.ptr<i32>
    %where = tt.addptr %w, %owner : !tt.ptr<f32>, i32
    %v = tt.load %where : !tt.ptr<f32>
    tt.return
  }
}
"""
    module = mlir.parse(text)
    last = [op for op in module.operations if op.name == "tt.load"][-1]
    programs = [(n, 0, 0) for n in range(4)]
    unknown = Evaluator(module, {}, programs, (4, 1, 1)).corner(last)
    known = Evaluator(module, {}, programs, (4, 1, 1), {"owners": [5, 5, 6, 6]}).corner(last)
    assert len(set(unknown)) == 4
    assert len(set(known)) == 2
    assert known[0] == known[1]
    # Beyond what is known each address has a number of its own again.
    short = Evaluator(module, {}, programs, (4, 1, 1), {"owners": [5, 5]}).corner(last)
    assert len(set(short)) == 3


def test_the_assumption_says_where_loads_were_taken_to_come_from(kernel):
    """Without TTGIR nothing is known of the tiles; a launch after its like finds its data in the Infinity Cache."""
    taken = "which tiles workgroups share is not known: every load is assumed to come from"
    said = [f"{taken} memory", f"{taken} the Infinity Cache, where the launch before left it"]
    facts = kernel(STREAM, grid=(608,))
    assert [a for a in predict(facts).assumptions if "tiles" in a] == said[:1]
    assert [
        a for a in predict(replace(facts, condition=replace(WARM, between=1024.0))).assumptions if "tiles" in a
    ] == said[1:]
    assert not [a for a in predict(kernel(["s_nop 0"])).assumptions if "tiles" in a]


def test_loads_of_unknown_addresses_among_others_are_told_apart(kernel):
    """They count with the share of those that are known, and the sentence says no more than that."""
    found = sharing([access(list(range(64))), access(None), access(0)], 1, 64, CHANNELS)
    assert (found.known, found.loads) == (False, (3, 1))
    model = replace(build(kernel(STREAM, grid=(608,))), sharing=found)
    (said,) = (a for a in assumptions(model, []) if "tiles" in a)
    assert said.startswith("which tiles workgroups share is not known of 1 of 3 loads: ")
    assert "memory" not in said


def test_neighbours_on_one_die_load_what_they_share_once():
    """Pairs that share a tile: dealt out in turn they are on two dies, in blocks on one."""
    pairs = [1024 * (n // 2) for n in range(64)]
    in_turn = sharing([access(pairs)], 8, 64, CHANNELS)
    in_blocks = sharing([access(pairs)], 8, 64, CHANNELS, in_blocks=True)
    assert (in_turn.beyond_l2, in_blocks.beyond_l2) == (1.0, 0.5)
    assert in_turn.beyond_mall == in_blocks.beyond_mall == 0.5
