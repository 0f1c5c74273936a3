"""Occupancy over one resource."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.hardware.machine import load
from kprof_analyzers.occupancy import OccupancyInput, occupancy
from kprof_analyzers.occupancy.curve import RESOURCES, curve
from tests.analyzers.occupancy.common import demands


def test_registers_make_the_known_plateaus():
    """The boundaries of gfx942, and the kernel's own place."""
    found = curve(OccupancyInput(load("gfx942"), 100, num_warps=1), "vgpr")

    assert [(p.last, p.waves_per_simd) for p in found] == [
        (64, 8), (72, 7), (80, 6), (96, 5), (128, 4), (168, 3), (256, 2), (512, 1),
    ]  # fmt: skip
    assert [p.current for p in found] == [False, False, False, False, True, False, False, False]


def test_lds_ends_where_nothing_can_be_launched():
    """The last plateau lies beyond the limit of a workgroup and is 0."""
    found = curve(OccupancyInput(load("gfx950"), 64, num_warps=4, lds_bytes=10**9), "lds")

    assert (found[0].first, found[0].waves_per_simd) == (0, 8)
    assert (found[-1].first, found[-1].waves_per_simd, found[-1].current) == (163841, 0, True)
    assert all(a.last + 1 == b.first for a, b in pairwise(found))


def test_workgroup_sizes_are_powers_of_two_and_the_kernels_own():
    """Three wavefronts are not skipped when the kernel has three."""
    found = curve(OccupancyInput(load("gfx942"), 64, num_warps=3), "num-warps")
    assert [p.first for p in found] == [1, 2, 3, 4, 8, 16]


def test_unknown_resource_is_an_error():
    """The message lists what there is."""
    assert RESOURCES == ("vgpr", "lds", "num-warps")
    with pytest.raises(KprofError, match=r"^no curve over 'time'; there are vgpr, lds, num-warps$"):
        curve(OccupancyInput(load("gfx942"), 64), "time")


@settings(max_examples=60, deadline=None)
@given(demands(), st.sampled_from(("vgpr", "lds")), st.data())
def test_each_point_is_the_plain_answer(demand, resource, data):
    """Any amount inside a plateau has the plateau's occupancy, ends included."""
    plateau = data.draw(st.sampled_from(curve(demand, resource)))
    amount = data.draw(st.sampled_from((plateau.first, plateau.last)) | st.integers(plateau.first, plateau.last))
    if resource == "vgpr":
        point = replace(demand, vgpr=amount, padded_vgpr=None, padded_sgpr=None)
    else:
        point = replace(demand, lds_bytes=amount)

    assert occupancy(point).waves_per_simd == plateau.waves_per_simd


@pytest.mark.parametrize(
    ("arch", "given_", "most"),
    [
        ("gfx942", {"vgpr": 8}, 512),
        ("gfx942", {"vgpr": 8, "agpr": 8}, 256),
        ("gfx908", {"vgpr": 8}, 256),
        ("gfx908", {"vgpr": 8, "agpr": 8}, 256),
        ("gfx1250", {"vgpr": 8}, 1024),
    ],
)
def test_registers_run_from_one_to_what_a_wavefront_can_have(arch, given_, most):
    """With AGPRs in the same file only the architectural ones are left to vary."""
    found = curve(OccupancyInput(load(arch), num_warps=1, **given_), "vgpr")
    assert (found[0].first, found[-1].last) == (1, most)
    assert all(a.last + 1 == b.first for a, b in pairwise(found))


def test_a_kernel_without_registers_is_on_the_first_plateau():
    """As if it had one."""
    found = curve(OccupancyInput(load("gfx942"), 0, num_warps=1), "vgpr")
    assert [p.current for p in found] == [True] + [False] * (len(found) - 1)


def test_lds_in_granules():
    """No LDS is a step of its own; then 512 bytes at a time up to one granule more than there may be."""
    found = curve(OccupancyInput(load("gfx942"), 64, num_warps=4, lds_bytes=21504), "lds")
    assert [(p.first, p.last, p.waves_per_simd, p.limiter) for p in found] == [
        (0, 8192, 8, "wave_slots"),
        (8193, 9216, 7, "lds"),
        (9217, 10752, 6, "lds"),
        (10753, 12800, 5, "lds"),
        (12801, 16384, 4, "lds"),
        (16385, 21504, 3, "lds"),
        (21505, 32768, 2, "lds"),
        (32769, 65536, 1, "lds"),
        (65537, 66048, 0, "lds"),
    ]
    assert [p.current for p in found].index(True) == 5
    none = curve(OccupancyInput(load("gfx942"), 64, num_warps=16), "lds")
    assert (none[0].first, none[0].current) == (0, True)
