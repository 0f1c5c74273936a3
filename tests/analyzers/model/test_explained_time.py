"""What a simulation means for a launch, worked out by hand for an MI300X.

304 CUs at 2100 MHz; memory sustains 4000 GB/s of 5300, the Infinity Cache 11900; an empty launch takes 1.3 µs, two
events around it 4.8 (``kprof/hardware/gfx942.toml``).
"""

from dataclasses import replace

import msgspec
import pytest

from kprof.condition import FLUSHED, FLUSHED_DIRTY
from kprof.inputs import mlir
from kprof_analyzers.model import Effects
from kprof_analyzers.model.explain import assumptions, explain, loop_predictions, unknown_strides
from kprof_analyzers.model.kernel import build, simulate
from kprof_analyzers.model.traffic import Sharing
from kprof_analyzers.registers.scratch import KEPT

CYCLES = 21_000.0
"""10 µs."""
ADD = ["v_add_u32_e32 v0, v1, v2"]
NOTHING = Sharing(1.0, 1.0, 0.0, 0.0, None, known=True)
MFMA = "v_mfma_f32_16x16x16_bf16 v[0:3], v[4:5], v[6:7], v[0:3]"


@pytest.fixture
def launch(kernel):
    """``launch(lines)``: the prediction of a launch of 10 µs; ``shared`` is what it moves."""

    def made(lines=ADD, cycles=CYCLES, shared=NOTHING, effects=None, condition=None, loops=(), **named):
        facts = kernel(lines, **named)
        if condition is not None:
            facts = replace(facts, condition=condition)
        model = build(facts, effects or Effects())
        model = replace(model, sharing=shared)
        return explain(model, simulate(model, model.where.resident), cycles, list(loops))

    return made


def test_a_launch_takes_its_cycles_and_what_a_launch_takes(launch):
    """Of 10 µs half go to an addition of 4 cycles and half to the end of the program; 1.3 µs are the launch's."""
    found = launch()
    assert found.time_us == pytest.approx(11.3)
    assert (found.low_us, found.high_us) == (pytest.approx(0.76 * 11.3), pytest.approx(1.41 * 11.3))
    assert found.shares == {"vector": round(5 / 11.3, 4), "issue": round(5 / 11.3, 4), "launch": round(1.3 / 11.3, 4)}
    assert (found.bound, found.cycles, found.clock_mhz, found.condition) == ("vector", CYCLES, 2100, "warm")
    assert (found.workgroups, found.workgroups_per_cu, found.waves_per_simd, found.rounds) == (304, 1, 1, 1)
    assert (found.speed_of_light_us, found.speed_of_light_percent, found.events_us) == (None, None, 0)
    assert (found.assumptions, found.notes, found.loops) == ([], [], [])


def test_the_cause_with_the_largest_share_comes_first(launch):
    """Of 1 µs an addition and an exponential take 20 of 24 cycles; the launch takes longer."""
    found = launch([*ADD, "v_exp_f32_e32 v0, v1"], cycles=2100.0)
    assert list(found.shares) == ["launch", "vector", "issue"]
    assert found.bound == "launch"
    assert found.shares == {"launch": round(1.3 / 2.3, 4), "vector": round(20 / 24 / 2.3, 4),
                            "issue": round(4 / 24 / 2.3, 4)}  # fmt: skip


def test_events_and_the_launch_itself_are_added(launch):
    """Events add the same to both ends of the range; what an empty launch takes is as unsure as the rest."""
    found = launch(condition=FLUSHED)
    assert (found.time_us, found.events_us) == (pytest.approx(11.3 + 4.8), 4.8)
    assert (found.low_us, found.high_us) == (pytest.approx(0.76 * 11.3 + 4.8), pytest.approx(1.41 * 11.3 + 4.8))
    assert found.shares["launch"] == round(6.1 / 16.1, 4)
    without = launch(condition=FLUSHED, effects=Effects(launch_overhead=False))
    assert (without.time_us, without.events_us) == (pytest.approx(10), 0)
    assert without.shares == {"vector": 0.5, "issue": 0.5}


def test_a_launch_without_cycles_is_the_launch(launch):
    found = launch(cycles=0.0)
    assert found.time_us == pytest.approx(1.3)
    assert found.shares == {"vector": 0, "issue": 0, "launch": 1}


SHARED = Sharing(0.5, 0.25, 1e6, 2e5, 3e7, known=True, stored_beyond=0.5)
"""A workgroup loads 1 MB, of which half miss L2 and a quarter the Infinity Cache, and stores 0.2 MB."""


def test_bytes_are_counted_at_each_level(launch):
    """L2 is asked for everything, the Infinity Cache for what misses and is stored, memory for the rest."""
    assert launch(shared=SHARED).traffic == {
        "l2": 304 * 1.2e6, "mall": 304 * (0.5e6 + 0.2e6), "hbm": 304 * (0.25e6 + 0.1e6)
    }  # fmt: skip
    whole = launch(shared=SHARED, effects=Effects(l2_traffic=False)).traffic
    assert whole == {"l2": 304 * 1.2e6, "mall": 304 * 1.2e6, "hbm": 304 * 1.1e6}


def test_a_gpu_without_an_infinity_cache_has_memory_behind_l2(launch):
    """On the MI250X whatever misses L2, and all that is stored."""
    found = launch(shared=SHARED, product="MI250X", grid=(100,))
    assert found.traffic == {"l2": 100 * 1.2e6, "hbm": 100 * (0.5e6 + 0.2e6)}


@pytest.mark.parametrize(
    ("stored_beyond", "beyond_mall", "moved", "gbs"),
    [(0.5, 0.25, 0.35e6, 4000), (0.0, 0.25, 0.25e6, 4000), (0.0, 0.0, 0.7e6, 11900)],
)
def test_a_launch_takes_no_less_than_its_bytes_at_the_bandwidth_that_is_sustained(
    launch, stored_beyond, beyond_mall, moved, gbs
):
    """Memory's 350 kB of each of 3040 workgroups; 250 kB where it takes no store; else the Infinity Cache's 700 kB.

    What is beyond the cycles is waiting for bandwidth.
    """
    found = launch(shared=replace(SHARED, stored_beyond=stored_beyond, beyond_mall=beyond_mall), grid=(3040,))
    us = 3040 * moved / (gbs * 1e3)
    assert found.cycles == pytest.approx(2100 * us)
    assert found.time_us == pytest.approx(us + 1.3)
    assert found.shares["memory bandwidth"] == pytest.approx((us - 10) / (us + 1.3), abs=1e-4)
    assert sum(found.shares.values()) == pytest.approx(1, abs=3e-4)
    assert found.bound == "memory bandwidth"
    # A launch that takes longer anyway has the memory for itself.
    assert launch(shared=SHARED, grid=(3040,), cycles=1e7).cycles == 1e7
    assert launch(shared=SHARED, grid=(3040,), effects=Effects(vector_memory=False)).cycles == CYCLES


def test_lines_of_others_have_to_leave_first(launch):
    """As many bytes as come in, on top of what the launch takes, and part of its speed of light."""
    shared = replace(SHARED, loaded=1e5, stored=0.0, footprint=None, beyond_mall=1.0)
    moved = 304 * 1e5
    clean, dirty = (launch(shared=shared, condition=condition) for condition in (FLUSHED, FLUSHED_DIRTY))
    assert "written_back" not in clean.traffic
    assert dirty.traffic["written_back"] == moved
    assert dirty.cycles - clean.cycles == pytest.approx(2100 * moved / 4e6)
    assert dirty.speed_of_light_us == pytest.approx(moved / 5.3e6)
    unlimited = launch(shared=shared, condition=FLUSHED_DIRTY, effects=Effects(vector_memory=False))
    assert unlimited.cycles == CYCLES


def test_modifiers_keep_bytes_out_of_the_last_cache(kernel):
    """A quarter of the loads and half of the stores, of what memory has of them."""
    model = build(kernel(ADD))
    model = replace(model, sharing=SHARED, passing=model.passing._replace(loaded=0.25, stored=0.5))
    found = explain(model, simulate(model, 1), CYCLES, []).traffic
    kept_out = 304 * (0.25 * 0.25e6 + 0.5 * 0.5 * 0.2e6)
    assert found["passing"] == kept_out
    # Only what takes a line there makes a line of others leave.
    dirty = replace(model, facts=replace(model.facts, condition=FLUSHED_DIRTY))
    assert explain(dirty, simulate(model, 1), CYCLES, []).traffic["written_back"] == found["hbm"] - kept_out


def test_atomics_on_one_address_wait_for_each_other(launch):
    """218 ns each on a GPU of several dies: 1000 of them take 218 µs."""
    found = launch(shared=replace(NOTHING, contended=1000.0))
    assert found.time_us == pytest.approx(218 + 1.3)
    assert found.shares["memory latency"] == pytest.approx(208 / 219.3, abs=1e-4)
    assert launch(shared=replace(NOTHING, contended=10.0)).time_us == pytest.approx(11.3)


@pytest.mark.parametrize(
    ("footprint", "once"),
    [(2e8, 2e8), (None, 0.0), (1e12, 304 * 1e6)],
)
def test_no_launch_is_faster_than_its_bytes_once_at_memorys_peak(launch, footprint, once):
    """What differs, no more than is loaded, and what is stored."""
    found = launch(shared=replace(SHARED, footprint=footprint), cycles=210.0, effects=Effects(vector_memory=False))
    light = (once + 304 * 2e5) / 5.3e6
    assert found.speed_of_light_us == pytest.approx(light)
    assert found.time_us == pytest.approx(max(light, 0.1 + 1.3))
    assert found.low_us == pytest.approx(found.time_us if light > 1.4 else 1.4 * 0.76, rel=0.4)
    assert found.speed_of_light_percent == pytest.approx(100 * light / found.time_us)
    assert found.shares["memory bandwidth"] == pytest.approx(1 - 1.4 / light, abs=1e-4)


def test_bytes_of_unknown_number_are_no_light(launch):
    """Nothing stored, and nobody knows how much of what is loaded differs."""
    assert launch(shared=replace(SHARED, stored=0.0, footprint=None)).speed_of_light_us is None
    assert launch(shared=SHARED, cycles=0.0, effects=Effects(vector_memory=False)).cycles == 0


def test_products_of_a_workgroup_of_unknown_size_are_those_of_four_wavefronts(kernel):
    facts = kernel([MFMA] * 100)
    unknown = replace(facts, resources=msgspec.structs.replace(facts.resources, num_warps=None))
    lights = [explain(m, simulate(m, 1), CYCLES, []).speed_of_light_us for m in map(build, (facts, unknown))]
    assert lights == [pytest.approx(100 * 16 / 2100)] * 2


def test_an_architecture_without_products_has_shares_and_no_time(kernel):
    facts = kernel([*ADD, MFMA])
    model = build(replace(facts, product=None, arch=replace(facts.arch, products={})))
    found = explain(model, simulate(model, 1), CYCLES, [])
    assert (found.time_us, found.speed_of_light_us) == (None, None)
    assert sum(found.shares.values()) == pytest.approx(1, abs=3e-4)


def test_what_is_all_in_the_infinity_cache_has_that_ones_peak(launch):
    """17200 GB/s."""
    found = launch(shared=replace(SHARED, stored_beyond=0.0, footprint=2e8))
    assert found.speed_of_light_us == pytest.approx((2e8 + 304 * 2e5) / 17.2e6)


def test_no_launch_is_faster_than_its_products_on_all_matrix_units(launch):
    """100 products of 16 cycles, of eight wavefronts on four SIMDs, on 304 CUs, ten times."""
    found = launch([MFMA] * 100, grid=(3040,), warps=8, lds=65536, cycles=1e6)
    assert found.speed_of_light_us == pytest.approx(100 * 16 * 8 * 3040 / (304 * 4) / 2100)
    assert found.rounds == 10
    # That share of the time at least is the matrix unit's, at the cost of all others.
    assert found.shares["matrix"] >= 100 * 16 * 2 * 10 / 1e6 * (1e6 / 2100) / found.time_us - 1e-4


def test_the_matrix_units_share_is_its_cycles_at_least(launch):
    """A product issues in 4 cycles and keeps its unit for 16: with the end of the program half would be the matrix's.

    Of 20 cycles 16 are; all of a launch that takes no longer than its products; half of one of 32.
    """
    shares = [launch([MFMA], cycles=each, effects=Effects(launch_overhead=False)).shares for each in (20.0, 16.0, 32.0)]
    assert shares == [{"matrix": 0.8, "issue": 0.2}, {"matrix": 1.0, "issue": 0.0}, {"matrix": 0.5, "issue": 0.5}]
    # Ten rounds of two wavefronts a SIMD keep it 20 times as long.
    found = launch([MFMA], warps=8, lds=65536, grid=(3040,), cycles=400.0, effects=Effects(launch_overhead=False))
    assert found.shares["matrix"] == pytest.approx(20 * 16 / 400)
    # Of 64 cycles it would be a quarter: what was simulated stays.
    assert launch([MFMA], cycles=64.0, effects=Effects(launch_overhead=False)).shares == {"matrix": 0.5, "issue": 0.5}


def test_a_last_round_counts_as_far_as_it_fills_a_cu(launch):
    """Three workgroups fit a CU; the busiest one has one in the last of two rounds."""
    found = launch(lds=20480, grid=(304 * 3 + 1,))
    assert (found.workgroups_per_cu, found.rounds) == (3, pytest.approx(1 + 1 / 3))
    assert (found.waves_per_simd, found.workgroups) == (3, 913)
    assert launch(lds=20480, grid=(304 * 3,)).rounds == 1


def test_without_a_grid_there_are_shares_and_no_time(launch):
    """Unknown is not zero."""
    found = launch(grid=None, shared=SHARED)
    gone = ("time_us", "low_us", "high_us", "speed_of_light_us", "speed_of_light_percent", "workgroups", "events_us")
    assert {name: getattr(found, name) for name in gone} == dict.fromkeys(gone)
    assert found.cycles is not None
    assert found.notes == []


LOOP = [
    '.file 1 "/user/here" "k.py"', ".loc 1 7 0", "s_mov_b32 s0, 0", ".LBB0_1:", "v_add_u32_e32 v0, v1, v2",
    ".loc 1 8 0", "s_cmp_lt_i32 s0, 64", "s_cbranch_scc1 .LBB0_1",
]  # fmt: skip


@pytest.fixture
def looped(kernel):
    """``looped(lines)``: a model, and what is said of its loops."""

    def made(lines=LOOP, trips=None, **named):
        model = build(kernel(lines, **named))
        if trips is not None:
            headers = {loop.index: loop.header for loop in model.facts.program.loops}
            known = {n: replace(t, mean=trips[headers[n]], known=True) for n, t in model.trips.items()}
            model = replace(model, trips=known)
        run = simulate(model, model.where.resident)
        return model, run, loop_predictions(model, run)

    return made


def test_an_iteration_is_told_apart_by_cause_and_by_line(looped):
    """An addition of 4 cycles, two scalar instructions of 4, and 16 of the branch, which stand at the loop's first."""
    _, _, (found,) = looped(trips={".LBB0_1": 100.0})
    assert (found.header, found.trips, found.trips_known, found.entries) == (".LBB0_1", 100, True, 1)
    assert found.causes == {"issue": 24, "vector": 4}
    assert list(found.causes) == ["issue", "vector"]
    assert found.by_line == {"k.py:7": 20, "k.py:8": 8}
    assert list(found.by_line) == ["k.py:7", "k.py:8"]
    assert found.cycles_per_iteration == 28
    assert (found.lines, found.matrix_share, found.steady) == ({"/user/here/k.py": (7, 8)}, 0, True)
    # Without debug information a line is unknown.
    _, _, (bare,) = looped([line for line in LOOP if not line.startswith(".loc")])
    assert bare.by_line == {"?": 28}


def test_the_wavefronts_of_a_simd_share_an_iteration(looped):
    """Two of them: each waits for the other's addition and scalar instructions, and both have the mean."""
    _, run, (found,) = looped(warps=8, trips={".LBB0_1": 100.0})
    assert run.simulated == 2
    assert sum(found.causes.values()) == pytest.approx(found.cycles_per_iteration, abs=0.2)
    assert sum(found.by_line.values()) == pytest.approx(found.cycles_per_iteration, abs=0.2)


def test_a_loop_in_a_loop_has_its_own_cycles(looped):
    """The outer one's are those outside the inner one, which is entered in each of its 10 iterations."""
    inner = [".LBB0_2:", "v_exp_f32_e32 v0, v1", "s_cmp_lt_i32 s1, 64", "s_cbranch_scc1 .LBB0_2"]
    lines = ["s_mov_b32 s0, 0", ".LBB0_1:", *ADD, *inner, "s_cmp_lt_i32 s0, 8", "s_cbranch_scc1 .LBB0_1"]
    _, _, found = looped(lines, trips={".LBB0_1": 10.0, ".LBB0_2": 5.0})
    assert [(f.header, f.trips, f.entries) for f in found] == [(".LBB0_1", 10, 1), (".LBB0_2", 5, 10)]
    outer, within = found
    assert within.causes == {"issue": 24, "vector": 16}
    assert within.cycles_per_iteration == 40
    # One iteration of it was simulated, which takes no branch back.
    assert outer.causes == {"issue": 8, "vector": 4}
    assert outer.cycles_per_iteration == 12


def test_a_loop_without_iterations_has_no_cycles(looped):
    _, _, (found,) = looped(trips={".LBB0_1": 0.0})
    assert (found.trips, found.cycles_per_iteration, found.causes, found.by_line) == (0, 0, {}, {})
    assert found.matrix_share == 0


def test_iterations_weigh_in_the_shares_of_the_launch(looped):
    """1000 iterations of 24 and 4 cycles, and a few instructions around them."""
    model, run, _ = looped(trips={".LBB0_1": 1000.0})
    found = explain(model, run, CYCLES, [])
    issue, vector = 1000 * (8 + 16 * 7 / 8) + 8, 1000 * 4
    share = 10 / 11.3
    assert found.shares["vector"] == pytest.approx(share * vector / (issue + vector), abs=1e-4)
    assert found.shares["issue"] == pytest.approx(share * issue / (issue + vector), abs=1e-4)


def test_a_loop_of_products_fills_its_matrix_unit(looped):
    """Eight of 16 cycles: between the middle and the end of the simulation nothing else takes as long."""
    products = [MFMA.replace("v[0:3]", f"v[{n}:{n + 3}]") for n in range(40, 72, 4)]
    lines = [LOOP[2], LOOP[3], *products, *LOOP[-2:]]
    _, run, (found,) = looped(lines, trips={".LBB0_1": 100.0})
    assert found.matrix_share == round(8 * 16 / next(iter(run.length.values())), 4)
    assert 0.8 < found.matrix_share <= 1


def test_what_power_adds_is_the_matrix_units(looped):
    """An iteration that takes a cycle more, or 3 less with CUs out of step; nothing falls below none."""
    model, run, (before,) = looped(trips={".LBB0_1": 100.0})
    (number,) = run.length
    for more, cause in ((1.0, "matrix"), (-3.0, "memory bandwidth")):
        other = replace(run, powered={number: run.length[number] + more})
        (found,) = loop_predictions(model, other)
        assert found.causes == {**before.causes, **({cause: more} if more > 0 else {})}
        assert found.cycles_per_iteration == 28 + more
        taken, shares = explain(model, other, CYCLES, []).shares, explain(model, run, CYCLES, []).shares
        assert (cause in taken) is (more > 0)
        if more > 0:
            # 100 iterations of a cycle beside those of 22 + 4 and what is around them.
            whole = 100 * (4 + 8 + 14) + 8
            assert taken["matrix"] == pytest.approx(10 / 11.3 * 100 / (whole + 100), abs=1e-4)
            assert taken["vector"] == pytest.approx(shares["vector"] * whole / (whole + 100), abs=1e-4)


def test_the_power_limit_is_said_where_it_counts(looped):
    """From 5 % of an iteration on; fp16 sustains 0.5 x 0.95 of the peak, bf16 half of it."""
    for kind, share in (("bf16", "50 %"), ("f16", "48 %")):
        lines = [LOOP[2], LOOP[3], MFMA.replace("bf16", kind), *LOOP[-2:]]
        model, run, _ = looped(lines, trips={".LBB0_1": 100.0})
        (number,) = run.length
        for factor, said in ((1.04, False), (1.06, True)):
            other = replace(run, powered={number: factor * run.length[number]})
            power = f"the matrix units are assumed to sustain {share} of their peak when all of them are busy"
            assert explain(model, other, CYCLES, []).notes == ([f"power limit: {power}"] if said else [])


def test_iterations_that_are_not_known_are_said_and_make_the_range_wide(looped):
    model, run, loops = looped()
    found = explain(model, run, CYCLES, loops)
    assert found.assumptions == ["loop .LBB0_1: 16 iterations assumed: no TTGIR"]
    assert found.notes == ["wide range: the number of iterations of a loop is not known"]
    assert (found.low_us, found.high_us) == (pytest.approx(0.25 * 11.3), pytest.approx(4.23 * 11.3))
    known = [msgspec.structs.replace(loop, trips_known=True) for loop in loops]
    assert explain(model, run, CYCLES, known).assumptions == []


def test_spilled_registers_move_bytes_of_their_own(kernel):
    """A reload of 4 bytes a lane in 10 iterations and a store of 16 outside, of four wavefronts of 304 workgroups."""
    reload = "scratch_load_dword v0, off, off offset:16"
    lines = ["scratch_store_dwordx4 off, v[4:7], off", *LOOP[2:4], reload, *LOOP[-2:]]
    model = build(kernel(lines))
    trips = {n: replace(t, mean=10.0) for n, t in model.trips.items()}
    model = replace(model, trips=trips)
    run = simulate(model, 1)
    assert explain(model, run, CYCLES, []).traffic["scratch"] == (16 + 10 * 4) * 64 * 4 * 304
    # Of a workgroup of unknown size, that of four wavefronts.
    unknown = replace(model.facts, resources=msgspec.structs.replace(model.facts.resources, num_warps=None))
    assert explain(replace(model, facts=unknown), run, CYCLES, []).traffic["scratch"] == (16 + 10 * 4) * 64 * 4 * 304
    assert "scratch" not in explain(build(kernel(ADD)), simulate(build(kernel(ADD)), 1), CYCLES, []).traffic


def assumed(facts, **fields):
    """What is assumed of a kernel."""
    return assumptions(replace(build(facts), **fields), [])


def test_atomics_are_said_to_wait_or_not(kernel):
    """218 ns each on the MI300X, where there are several."""
    facts = kernel(["buffer_atomic_add_f32 v0, v1, s[4:7], 0 offen"])
    alone = "atomics on one address are assumed not to wait for each other"
    for contended, said in (
        (1234.0, "the 1,234 atomics on one address wait for each other, 218 ns each"),
        (2.0, "the 2 atomics on one address wait for each other, 218 ns each"),
        (1.0, alone),
        (0.0, alone),
    ):
        assert assumed(facts, sharing=replace(NOTHING, contended=contended)) == [said]
    two, machine = (replace(build(facts).machine, xcds=dies) for dies in (2, 1))
    assert assumed(facts, machine=two, sharing=replace(NOTHING, contended=2.0)) != [alone]
    assert assumed(facts, machine=machine, sharing=replace(NOTHING, contended=1234.0)) == [alone]
    assert assumed(kernel(["ds_add_f32 v0, v1"])) == []


@pytest.mark.parametrize(("lane", "said"), [(None, False), (0, False), (16, False), (224, False), (240, True)])
def test_much_scratch_stays_assigned(kernel, lane, said):
    """1,024 bytes of each 16 of a lane, for 32 wavefronts on each of 304 CUs, against ROCr's 140 MiB."""
    facts = kernel(ADD)
    facts = replace(facts, resources=msgspec.structs.replace(facts.resources, scratch_bytes=lane))
    held = (lane or 0) * 64 * 32 * 304
    kept = f"{held / 2**20:,.0f} MiB of scratch stay assigned between launches (HSA_NO_SCRATCH_RECLAIM=1 keeps it)"
    sentence = f"{kept}; otherwise each launch may wait about 180 µs for the host"
    assert (held > KEPT) is said
    assert assumed(facts) == ([sentence] if said else [])
    machine = replace(build(facts).machine, product=None)
    assert assumed(facts, machine=machine) == []


def test_loads_of_unknown_tiles_are_said(kernel):
    load = kernel(["global_load_dword v0, v[2:3], off"])
    guess = "which tiles workgroups share is not known"
    unknown = replace(NOTHING, known=False)
    assert assumed(load, sharing=NOTHING) == []
    assert assumed(load, sharing=unknown) == [f"{guess}: every load is assumed to come from memory"]
    assert assumed(load, sharing=replace(unknown, beyond_mall=0.0)) == [
        f"{guess}: every load is assumed to come from the Infinity Cache, where the launch before left it"
    ]
    assert assumed(load, sharing=replace(unknown, loads=(3, 3))) == [
        f"{guess}: every load is assumed to come from memory"
    ]
    assert assumed(load, sharing=replace(unknown, loads=(3, 1))) == [
        f"{guess} of 1 of 3 loads: they are assumed to come from the same levels as the others"
    ]
    # A stream is a load, too; a store is none.
    assert len(assumed(kernel(["global_load_dword v0, v[2:3], off nt"]), sharing=unknown)) == 1
    assert assumed(kernel(["global_store_dword v[2:3], v0, off"]), sharing=unknown) == []


def test_bank_conflicts_that_no_hardware_file_tells_are_said(kernel):
    """Of a kernel with TTGIR and accesses to LDS, on an architecture whose phases are not known."""
    module = mlir.parse("module {\n  tt.func public @k(%p: i32) {\n    tt.return\n  }\n}\n")
    facts = kernel(["ds_read_b32 v3, v4"])
    arch = replace(facts.arch, lds=replace(facts.arch.lds, phases=()))
    said = ["bank conflicts are not known on gfx942: none are assumed"]

    def of(facts, arch):
        model = build(facts)
        model = replace(model, sharing=NOTHING, machine=replace(model.machine, arch=arch))
        return assumptions(replace(model, facts=replace(facts, ttgir=module)), [])

    assert of(facts, arch) == said
    assert of(facts, facts.arch) == []
    assert of(kernel(ADD), arch) == []
    assert assumptions(replace(build(facts), machine=replace(build(facts).machine, arch=arch)), []) == []


STRIDED = """\
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %sx: i32, %sy: i32) {
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #b>
    %a = tt.splat %sx : i32 -> tensor<256xi32, #b>
    %b = tt.splat %sy : i32 -> tensor<256xi32, #b>
    %ax = arith.muli %r, %a : tensor<256xi32, #b>
    %ay = arith.muli %r, %b : tensor<256xi32, #b>
    %v = amdg.buffer_load %x[%ax] : !tt.ptr<f16> -> tensor<256xf16, #b>
    amdg.buffer_store %v, %y[%ay] : !tt.ptr<f16>, tensor<256xf16, #b>
    tt.return
  }
}
"""


@pytest.mark.parametrize(
    ("arguments", "names"),
    [({}, "strides sx, sy are"), ({"sx": 64}, "stride sy is"), ({"sy": 1}, "stride sx is"), ({"sx": 2, "sy": 1}, None)],
)
def test_strides_that_are_not_known_are_named(kernel, arguments, names):
    """Of the load and of the store; elements at distance -1 lie side by side, too."""
    facts = replace(kernel(ADD), ttgir=mlir.parse(STRIDED), arguments=arguments)
    said = [f"the {names} not known: elements are assumed to be adjacent"] if names else []
    assert unknown_strides(facts) == said
    assert unknown_strides(replace(facts, ttgir=None)) == []


TILE = """\
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64], warpsPerCTA = [4, 1], order = [1, 0]}>
#r = #ttg.slice<{dim = 1, parent = #b}>
#c = #ttg.slice<{dim = 0, parent = #b}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%x: !tt.ptr<f16>, %row: i32, %column: i32) {
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #r>
    %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #c>
    %i2 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32, #r> -> tensor<64x1xi32, #b>
    %j2 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #c> -> tensor<1x64xi32, #b>
    %rs = tt.splat %row : i32 -> tensor<64x1xi32, #b>
    %cs = tt.splat %column : i32 -> tensor<1x64xi32, #b>
    %ri = arith.muli %i2, %rs : tensor<64x1xi32, #b>
    %cj = arith.muli %j2, %cs : tensor<1x64xi32, #b>
    %rb = tt.broadcast %ri : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
    %cb = tt.broadcast %cj : tensor<1x64xi32, #b> -> tensor<64x64xi32, #b>
    %at = arith.addi %rb, %cb : tensor<64x64xi32, #b>
    %v = amdg.buffer_load %x[%at] : !tt.ptr<f16> -> tensor<64x64xf16, #b>
    tt.return
  }
}
"""


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({}, "strides column, row are"),
        ({"column": 64}, "stride row is"),
        ({"column": 1}, None),
        ({"column": -1}, None),
        ({"row": 1}, None),
        ({"row": 64, "column": 3}, None),
    ],
)
def test_where_one_axis_is_contiguous_the_others_stride_changes_little(kernel, arguments, names):
    facts = replace(kernel(ADD), ttgir=mlir.parse(TILE), arguments=arguments)
    said = [f"the {names} not known: elements are assumed to be adjacent"] if names else []
    assert unknown_strides(facts) == said
