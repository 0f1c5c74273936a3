"""Occupancy as the hardware allocates."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kprof.hardware.machine import architectures, load
from kprof_analyzers.occupancy import OccupancyInput, occupancy
from kprof_analyzers.occupancy.problems import launch_problems
from tests.analyzers.occupancy.common import demands, oracle


@pytest.mark.parametrize(
    ("arch", "most"),
    [
        *[(a, {8: 64, 7: 72, 6: 80, 5: 96, 4: 128, 3: 168, 2: 256, 1: 512}) for a in ("gfx90a", "gfx942", "gfx950")],
        ("gfx908", {10: 24, 9: 28, 8: 32, 7: 36, 6: 40, 5: 48, 4: 64, 3: 84, 2: 128, 1: 256}),
        ("gfx1100", {16: 96, 12: 120, 10: 144, 9: 168, 8: 192, 7: 216, 6: 240, 5: 256}),
        ("gfx1030", {16: 64, 12: 80, 10: 96, 9: 112, 8: 128, 7: 144, 6: 160, 5: 192, 4: 256}),
    ],
)
def test_most_vgprs_for_each_occupancy(arch, most):
    """LLVM's table of VGPRs for a wave count (getMaxNumVGPRs), at the boundary and one beyond."""
    machine = load(arch)
    for waves, vgprs in most.items():
        assert occupancy(OccupancyInput(machine, vgprs, num_warps=1)).waves_per_simd == waves
        if vgprs < machine.occupancy.max_vgprs_total:
            assert occupancy(OccupancyInput(machine, vgprs + 1, num_warps=1)).waves_per_simd < waves


@pytest.mark.parametrize(("sgprs", "waves"), [(80, 8), (81, 7), (96, 7), (97, 6), (102, 6)])
def test_scalar_registers_with_the_trap_handler(sgprs, waves):
    """800 scalar registers, 16 of the trap handler for each wavefront, blocks of 16."""
    found = occupancy(OccupancyInput(load("gfx942"), 32, sgpr=sgprs, num_warps=1))
    assert found.waves_per_simd == waves
    assert found.limiter == ("wave_slots" if waves == 8 else "sgpr")


def test_scalar_registers_never_limit_on_rdna():
    """From gfx10 on each wavefront has all of them."""
    found = occupancy(OccupancyInput(load("gfx1100"), 32, sgpr=106, num_warps=4))
    assert (found.waves_per_simd, "sgpr" in found.limits) == (16, False)


@pytest.mark.parametrize(
    ("arch", "lds", "workgroups"),
    [
        ("gfx942", 32768, 2),
        ("gfx942", 32769, 1),
        ("gfx950", 68016, 2),
        ("gfx950", 81920, 2),
        ("gfx950", 81921, 1),
        ("gfx1100", 65536, 2),
        ("gfx1100", 1, 16),
        ("gfx1100", 8193, 14),
        ("gfx1250", 32768, 10),
    ],
)
def test_lds_is_counted_in_granules(arch, lds, workgroups):
    """512 bytes on CDNA 1 to 3, 1280 on gfx950, 1024 on RDNA, 2048 on gfx1250; a WGP has twice the LDS."""
    found = occupancy(OccupancyInput(load(arch), 16, lds_bytes=lds, num_warps=4))
    assert found.workgroups_per_cu == workgroups


def test_agprs_share_the_file_on_gfx90a_and_not_on_gfx908():
    """Unified: VGPRs rounded to 4, and AGPRs behind them. Separate: the larger count."""
    assert OccupancyInput(load("gfx942"), 101, agpr=30).vgpr_total == 134
    assert OccupancyInput(load("gfx942"), 101).vgpr_total == 101
    assert OccupancyInput(load("gfx908"), 101, agpr=130).vgpr_total == 130


def test_padding_by_waves_per_eu_is_what_limits():
    """128 VGPRs padded to 169 hold two wavefronts, and that is the padding's doing, not the code's."""
    found = occupancy(OccupancyInput(load("gfx942"), 128, num_warps=8, padded_vgpr=169))

    assert (found.waves_per_simd, found.limiter) == (2, "launch_bounds")
    assert found.limits["vgpr"] == 4
    assert found.next_step.resource == "vgpr_padding"


def test_padding_that_takes_nothing_away_is_not_the_limit():
    """Scalar registers padded for six wavefronts do not matter where the code's vector registers allow two."""
    found = occupancy(OccupancyInput(load("gfx942"), 228, sgpr=52, padded_vgpr=228, padded_sgpr=108))

    assert (found.waves_per_simd, found.limiter) == (2, "vgpr")
    assert (found.limits["vgpr"], found.limits["sgpr"], found.limits["launch_bounds"]) == (2, 8, 6)


def test_workgroups_are_whole():
    """Seven wavefronts a SIMD are 28 slots: three workgroups of eight, that is six."""
    found = occupancy(OccupancyInput(load("gfx942"), 72, num_warps=8))
    assert (found.waves_per_simd, found.workgroups_per_cu) == (6, 3)


def test_small_workgroups_spread_over_the_simds():
    """One wavefront and a lot of LDS: a quarter of a wavefront a SIMD."""
    found = occupancy(OccupancyInput(load("gfx942"), 64, lds_bytes=65536, num_warps=1))
    assert (found.waves_per_simd, found.limiter) == (0.25, "lds")


def test_barriers_limit_small_workgroups():
    """16 workgroups of two wavefronts use 32 of 40 slots on gfx908; single wavefronts need no barrier."""
    machine = load("gfx908")
    two = occupancy(OccupancyInput(machine, 16, num_warps=2))
    one = occupancy(OccupancyInput(machine, 16, num_warps=1))

    assert (two.waves_per_simd, two.limiter) == (8, "workgroup_slots")
    assert (one.waves_per_simd, one.limiter) == (10, "wave_slots")
    assert two.next_step.resource == "num_warps"


def test_wave64_has_half_the_registers_on_rdna():
    """120 VGPRs: 12 wavefronts of 32 lanes, 6 of 64."""
    machine = load("gfx1100")
    assert occupancy(OccupancyInput(machine, 120, num_warps=4)).waves_per_simd == 12
    assert occupancy(OccupancyInput(machine, 120, num_warps=4, wavefront_size=64)).waves_per_simd == 6


def test_cu_mode_halves_what_a_workgroup_sees():
    """A WGP holds 128 KiB, a CU 64; per SIMD that is the same unless the workgroup does not divide evenly."""
    machine = load("gfx1100")
    wgp = occupancy(OccupancyInput(machine, 32, lds_bytes=40960, num_warps=4))
    cu = occupancy(OccupancyInput(machine, 32, lds_bytes=40960, num_warps=4, mode="cu"))

    assert (wgp.workgroups_per_cu, wgp.waves_per_simd) == (3, 3)
    assert (cu.workgroups_per_cu, cu.waves_per_simd) == (1, 2)


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"vgpr": 64, "lds_bytes": 65537}, "65,537 B of LDS"),
        ({"vgpr": 64, "num_warps": 17}, "1,088 work-items"),
        ({"vgpr": 300, "num_warps": 8}, "304 VGPRs each"),
        ({"vgpr": 64, "num_warps": 10**9, "lds_bytes": 10**18}, "64,000,000,000 work-items"),
    ],
)
def test_what_cannot_be_launched_is_zero_with_a_reason(given_, words):
    """Too much LDS, too many work-items, too many registers: occupancy 0 and words, no exception."""
    demand = OccupancyInput(load("gfx942"), **given_)
    found = occupancy(demand)

    assert (found.waves_per_simd, found.workgroups_per_cu) == (0, 0)
    assert words in " ".join(launch_problems(demand))


@settings(max_examples=400, deadline=None)
@given(demands())
def test_placing_workgroups_one_by_one_agrees(demand):
    """Filling an empty CU wavefront by wavefront, with tables typed in apart from kprof's, gives the same."""
    # An architecture that is new is not in those tables yet.
    assume(demand.arch.name in oracle().MACHINES)
    found = occupancy(demand)
    theirs = oracle().resident_workgroups(
        demand.arch.name,
        vgprs=max(demand.vgpr_total, demand.padded_vgpr or 0),
        sgprs=max(demand.sgpr, demand.padded_sgpr or 0),
        lds=demand.lds_bytes,
        wavefronts=demand.num_warps,
        size=demand.size,
        wgp=demand.block == "wgp",
    )
    assert (found.workgroups_per_cu, found.waves_per_simd) == theirs


@settings(max_examples=300, deadline=None)
@given(demands())
def test_the_limiter_is_the_lowest_limit(demand):
    """The answer is the smallest limit, the limiter has it, and none is above the slots."""
    found = occupancy(demand)

    assert found.waves_per_simd == min(found.limits.values()) == found.limits[found.limiter]
    assert max(found.limits.values()) <= found.max_waves_per_simd
    assert bool(launch_problems(demand)) == (found.waves_per_simd == 0)


@settings(max_examples=200, deadline=None)
@given(demands(), st.integers(1, 64), st.integers(1, 4096))
def test_asking_for_less_never_lowers_occupancy(demand, registers, lds):
    """Occupancy falls with every resource."""
    from dataclasses import replace

    less = replace(
        demand,
        vgpr=max(0, demand.vgpr - registers),
        sgpr=max(0, demand.sgpr - registers),
        lds_bytes=max(0, demand.lds_bytes - lds),
        padded_vgpr=None,
        padded_sgpr=None,
    )
    assert occupancy(less).waves_per_simd >= occupancy(demand).waves_per_simd


@pytest.mark.parametrize("name", architectures())
def test_nothing_used_fills_the_simd(name):
    """With hardly any registers the slots are full, whatever the architecture."""
    found = occupancy(OccupancyInput(load(name), 1, num_warps=4))
    assert (found.waves_per_simd, found.limiter) == (load(name).occupancy.max_waves_per_simd, "wave_slots")


@pytest.mark.parametrize("warps", [17, 40])
def test_a_workgroup_that_is_too_large_is_limited_by_its_size(warps):
    """Not by the slots, of which 40 wavefronts need more than a CU has."""
    found = occupancy(OccupancyInput(load("gfx942"), 32, num_warps=warps))
    assert (found.waves_per_simd, found.limiter, found.limits["launch_bounds"]) == (0, "launch_bounds", 0)


def test_launch_bounds_that_allow_one_are_not_the_limit_where_another_allows_none():
    """Padding leaves one workgroup of 16 wavefronts, LDS none."""
    demand = OccupancyInput(load("gfx942"), 64, num_warps=16, padded_vgpr=128, lds_bytes=65537)
    found = occupancy(demand)
    assert (found.waves_per_simd, found.limiter, found.limits["launch_bounds"]) == (0, "lds", 4)


def test_the_harder_padding_is_the_launch_bound():
    """Vector registers padded for three wavefronts, scalar ones for six; and the other way round."""
    machine = load("gfx942")
    vector = occupancy(OccupancyInput(machine, 32, sgpr=10, num_warps=1, padded_vgpr=129, padded_sgpr=97))
    scalar = occupancy(OccupancyInput(machine, 32, sgpr=10, num_warps=1, padded_vgpr=65, padded_sgpr=97))
    assert (vector.limits["launch_bounds"], scalar.limits["launch_bounds"]) == (3, 6)


@pytest.mark.parametrize(
    ("arch", "given_", "words"),
    [
        (
            "gfx942",
            {"vgpr": 64, "num_warps": 17},
            [
                (
                    "17 wavefronts of 64 lanes are 1,088 work-items; "
                    "a workgroup on gfx942 has at most 1,024 (16 wavefronts)"
                )
            ],
        ),
        ("gfx942", {"vgpr": 64, "lds_bytes": 65537}, ["65,537 B of LDS; a workgroup on gfx942 can have 65,536"]),
        (
            "gfx942",
            {"vgpr": 300, "num_warps": 8},
            ["8 wavefronts with 304 VGPRs each are more than a CU of gfx942 holds"],
        ),
        (
            "gfx942",
            {"vgpr": 64, "num_warps": 8, "padded_vgpr": 512},
            ["8 wavefronts with 512 VGPRs each are more than a CU of gfx942 holds"],
        ),
        (
            "gfx1100",
            {"vgpr": 256, "num_warps": 32},
            ["32 wavefronts with 264 VGPRs each are more than a WGP of gfx1100 holds"],
        ),
        (
            "gfx1100",
            {"vgpr": 256, "num_warps": 16, "mode": "cu"},
            ["16 wavefronts with 264 VGPRs each are more than a CU of gfx1100 holds"],
        ),
        (
            "gfx1100",
            {"vgpr": 8, "num_warps": 33, "lds_bytes": 70000},
            [
                (
                    "33 wavefronts of 32 lanes are 1,056 work-items; "
                    "a workgroup on gfx1100 has at most 1,024 (32 wavefronts)"
                ),
                "70,000 B of LDS; a workgroup on gfx1100 can have 65,536",
            ],
        ),
        ("gfx942", {"vgpr": 128, "num_warps": 16, "lds_bytes": 65536}, []),
    ],
)
def test_problems_in_words(arch, given_, words):
    """All that are wrong with the launch; registers only where nothing else is."""
    assert launch_problems(OccupancyInput(load(arch), **given_)) == words


@pytest.mark.parametrize("arch", architectures())
def test_scalar_registers_never_prevent_a_launch(arch):
    """The largest workgroup fits with as many as a wavefront can have: no message has to name them."""
    machine = load(arch)
    for mode in machine.occupancy.modes:
        for size in machine.occupancy.vgprs:
            most = machine.occupancy.max_waves_per_workgroup(size)
            demand = OccupancyInput(
                machine, vgpr=1, sgpr=machine.occupancy.max_sgprs + 6, padded_sgpr=112, num_warps=most,
                wavefront_size=size, mode=mode,
            )  # fmt: skip
            assert launch_problems(demand) == []
