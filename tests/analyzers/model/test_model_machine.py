"""The hardware in cycles and bytes a cycle, against sums done by hand from figures in round numbers."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.hardware.code import IssueRules
from kprof.hardware.machine import load
from kprof.hardware.model import MemoryLevel
from kprof_analyzers.model.machine import Channels, machine_of

FIGURES = {
    "clock_mhz": 800,
    "vector_memory_share": 0.5,
    "l2_unit_bytes": 30.0,
    "l1_unit_bytes": 64.0,
    "hbm_sustained": 0.75,
    "l1_latency": 111.0,
    "l2_latency": 222.0,
    "mall_latency": 333.0,
    "hbm_latency": 444.0,
    "lds_access": 3.0,
    "lds_latency": 60.0,
    "loaded_latency": 1.5,
    "branch": 16.0,
    "matrix_sustained": 0.8,
    "matrix_large": 0.9,
    "matrix_fp16": 0.7,
    "streaming": 0.6,
    "dispatch_ns": 1300.0,
    "line_bytes": 128.0,
    "interleave_bytes": 256.0,
    "short_run": 0.5,
    "short_run_most": 2.0,
}
LEVELS = {
    "l1": MemoryLevel("l1", size_bytes=32768, latency_cycles=120, latency_clock_mhz=2000),
    "l2": MemoryLevel("l2", size_bytes=4000, latency_ns=100.0, sustained_gbs=8000.0, line_bytes=64),
    "mall": MemoryLevel("mall", size_bytes=90000, latency_cycles=500, sustained_gbs=1000.0),
    "hbm": MemoryLevel("hbm", bandwidth_gbs=800.0),
    "scalar": MemoryLevel("scalar", size_bytes=16384, sustained_gbs=5.0),
}
"""Of the product; the architecture itself knows an L2 with channels, and nothing else."""
OWN = {"l2": MemoryLevel("l2", size_bytes=3000, interleave_bytes=512)}
BASE = load("gfx942")
PRODUCT = replace(
    BASE.products["MI300X"],
    name="X1",
    clock_mhz=1000,
    compute_units=100,
    xcds=4,
    memory=LEVELS,
    launch_overhead_ns=3000.0,
)
ARCH = replace(
    BASE,
    model=FIGURES,
    memory=OWN,
    products={"X1": PRODUCT, "X2": replace(PRODUCT, name="X2")},
    issue=IssueRules(cycles=4, valu_lanes=16, matrix_unit=True),
    rates={"lds_read_bytes": 96},
)
RDNA = replace(ARCH, occupancy=replace(load("gfx1100").occupancy, simds_per_cu=2, simds_per_wgp=5))


def test_shares_and_latencies_of_a_unit():
    """A hundred units at 1 GHz: 8,000, 1,000 and three quarters of 800 GB/s are 80, 10 and 6 bytes a cycle and unit."""
    machine = machine_of(ARCH, PRODUCT, 64)
    assert (machine.units, machine.xcds, machine.clock_mhz) == (100, 4, 1000)
    assert machine.vector_bytes == pytest.approx(0.5 * 80)
    assert machine.level_bytes == pytest.approx({"mall": 10.0, "hbm": 6.0})
    # 120 cycles at 2 GHz are 60 ns; 500 cycles of no named clock are cycles of this one.
    assert machine.latency == pytest.approx({"l1": 60.0, "l2": 100.0, "mall": 500.0, "hbm": 444.0})
    assert machine.assumptions == (
        "75 % of the peak bandwidth of memory are reached",
        "the latency of memory is not known: 444 cycles are assumed",
    )


def test_the_architecture_s_figures_and_rules_come_through():
    machine = machine_of(ARCH, PRODUCT, 64)
    assert (machine.simds, machine.lanes, machine.issue, machine.valu) == (4, 64, 4, 64 // 16)
    assert (machine.lds_bytes, machine.lds_access, machine.lds_latency) == (96, 3, 60)
    assert (machine.l1_bytes, machine.loaded, machine.branch, machine.streaming) == (64, 1.5, 16, 0.6)
    assert (machine.matrix_sustained, machine.matrix_large, machine.matrix_fp16) == (0.8, 0.9, 0.7)
    assert machine.matrix_unit is True
    assert machine.figures is FIGURES
    plain = {name: value for name, value in FIGURES.items() if name not in {"matrix_large", "matrix_fp16"}}
    unmeasured = machine_of(replace(ARCH, model=plain, rates={}), PRODUCT, 64)
    assert (unmeasured.matrix_large, unmeasured.matrix_fp16) == (1, 1)
    # An LDS of 32 banks of four bytes, as all of these GPUs have.
    assert unmeasured.lds_bytes == 32 * 4


@pytest.mark.parametrize(("wgp", "pair", "simds"), [(None, 2, 5), (True, 2, 5), (False, 1, 2)])
def test_a_wgp_is_two_cus(wgp, pair, simds):
    machine = machine_of(RDNA, PRODUCT, 32, wgp=wgp)
    assert (machine.units, machine.simds, machine.valu) == (100 // pair, simds, 2)
    assert (machine.lds_bytes, machine.l1_bytes) == (96 * pair, 64 * pair)
    assert machine.level_bytes["mall"] == pytest.approx(10 * pair)


def test_a_gpu_without_wgps_has_cus_whatever_is_asked():
    assert machine_of(ARCH, PRODUCT, 64, wgp=True).units == 100


def test_the_first_product_is_taken_where_none_is_named():
    machine = machine_of(ARCH, None, 64)
    assert machine.product is PRODUCT
    assert machine.assumptions[0] == "no product was named: X1 is assumed"
    assert machine_of(ARCH, PRODUCT, 64).assumptions[0] != machine.assumptions[0]


def test_an_architecture_without_products_is_taken_at_the_model_s_figures():
    """No clock, no units and so no share of anything: L2's bytes for a unit are those of the model."""
    machine = machine_of(replace(ARCH, products={}), None, 64)
    assert (machine.product, machine.units, machine.xcds, machine.clock_mhz) == (None, None, 1, 800)
    assert (machine.vector_bytes, machine.level_bytes) == (0.5 * 30, {})
    assert machine.latency == {"l2": 222}
    assert machine.assumptions == (
        "the clock is not known: 800 MHz is assumed",
        "the latency of L2 is not known: 222 cycles are assumed",
    )
    assert (machine.cache_bytes("l2"), machine.cache_bytes("mall"), machine.last_level_bytes) == (3000, 0, 3000)
    assert machine.channels == Channels(line=128, interleave=512, short=0.5, most=2.0)


def test_what_a_product_does_not_say_is_assumed():
    unknown = replace(PRODUCT, clock_mhz=None, compute_units=None, xcds=None)
    machine = machine_of(ARCH, unknown, 64)
    assert (machine.clock_mhz, machine.units, machine.xcds, machine.level_bytes) == (800, None, 1, {})
    assert machine.assumptions[0] == "the clock is not known: 800 MHz is assumed"


def test_an_architecture_that_does_not_say_how_it_issues():
    """One instruction a cycle, 32 lanes of it, and no unit for matrix instructions: as on RDNA."""
    machine = machine_of(replace(ARCH, issue=None), PRODUCT, 64)
    assert (machine.issue, machine.valu, machine.matrix_unit) == (1, 2, False)
    assert machine.assumptions[0] == "how instructions are issued is not known: one per cycle is assumed"


def test_peaks_of_the_infinity_cache_count_for_what_is_sustained_and_l2_s_do_not():
    """Three quarters of 2,000 GB/s; an L2 of which only the peak is known has the model's bytes."""
    memory = LEVELS | {
        "mall": MemoryLevel("mall", latency_ns=1.0, bandwidth_gbs=2000.0),
        "l2": MemoryLevel("l2", latency_ns=1.0, bandwidth_gbs=9000.0),
    }
    machine = machine_of(ARCH, replace(PRODUCT, memory=memory), 64)
    assert machine.level_bytes == pytest.approx({"mall": 15.0, "hbm": 6.0})
    assert machine.vector_bytes == 0.5 * 30
    assert machine.assumptions[0] == "75 % of the peak bandwidth of the Infinity Cache are reached"


def test_levels_of_unknown_latency_are_named_in_the_assumption():
    memory = {name: MemoryLevel(name) for name in ("l1", "l2", "mall", "hbm")}
    machine = machine_of(ARCH, replace(PRODUCT, memory=memory), 64)
    names = {"the vector cache": 111, "L2": 222, "the Infinity Cache": 333, "memory": 444}
    assert list(machine.assumptions) == [
        f"the latency of {name} is not known: {cycles} cycles are assumed" for name, cycles in names.items()
    ]
    assert (machine.level_bytes, machine.last_level_bytes) == ({}, 0)


def test_the_first_level_that_a_gpu_has_answers():
    machine = machine_of(ARCH, PRODUCT, 64)
    assert machine.latency_of("mall", "hbm") == 500
    without = replace(machine, latency={"l1": 60.0})
    assert without.latency_of("mall", "l1") == 60
    # Of none the last one's figure.
    assert without.latency_of("l2", "hbm") == 444


def test_caches_and_channels_are_the_product_s():
    machine = machine_of(ARCH, PRODUCT, 64)
    assert (machine.cache_bytes("l2"), machine.cache_bytes("hbm"), machine.cache_bytes("l3")) == (4000, 0, 0)
    assert machine.last_level_bytes == 90000
    assert machine.channels == Channels(line=64, interleave=256, short=0.5, most=2.0)
    few = {name: level for name, level in LEVELS.items() if name not in {"mall", "l2"}}
    assert machine_of(ARCH, replace(PRODUCT, memory=few), 64).channels == Channels(128, 256, 0.5, 2.0)
    no_mall = {name: level for name, level in LEVELS.items() if name != "mall"}
    assert machine_of(ARCH, replace(PRODUCT, memory=no_mall), 64).last_level_bytes == 4 * 4000


@pytest.mark.parametrize(
    ("figure", "overhead", "expected"), [(1300.0, 3000.0, 1.3), (0.0, 3000.0, 3.0), (0.0, None, 0.0)]
)
def test_an_empty_launch_takes_what_the_gpu_itself_needs_else_what_a_stream_does(figure, overhead, expected):
    arch = replace(ARCH, model=FIGURES | {"dispatch_ns": figure}, products={})
    assert machine_of(arch, replace(PRODUCT, launch_overhead_ns=overhead), 64).dispatch_us == pytest.approx(expected)
    assert machine_of(arch, None, 64).dispatch_us == pytest.approx(figure / 1e3)


@given(
    run=st.integers(1, 1024),
    missing=st.floats(0, 1),
    line=st.sampled_from([64, 128]),
    interleave=st.sampled_from([128, 256]),
    short=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_a_run_costs_half_as_much_again_for_each_time_it_would_fit_once_more(run, missing, line, interleave, short):
    """No less than a long one, no more than twice."""
    channels = Channels(line, interleave, short, 2.0)
    work = {full: 1.0 if run >= full else min(2.0, 1 + short * (full - run) / run) for full in (line, interleave)}
    assert channels.effort(run, missing) == pytest.approx((1 - missing) * work[line] + missing * work[interleave])
    assert channels.effort(run) == pytest.approx(work[interleave])
    whole_lines = max(run, line)
    behind = 1.0 if whole_lines >= interleave else min(2.0, 1 + short * (interleave - whole_lines) / whole_lines)
    assert channels.effort_beyond(run) == pytest.approx(behind)
    assert channels.effort(None, missing) == channels.effort_beyond(None) == 1
