"""The tuning guide's formula, and where it is not the hardware."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.hardware.machine import load
from kprof_analyzers.occupancy import OccupancyInput, guide, occupancy


def test_the_guides_own_example():
    """The guide's text: 170 VGPRs are 176 in blocks of 16, and 176 x 3 is more than 512."""
    assert occupancy(OccupancyInput(load("gfx942"), 170, num_warps=4), "guide").waves_per_simd == 2


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950"])
def test_exactly_sixteen_counts_differ(arch):
    """65 to 72 and 161 to 168 VGPRs, and nothing else."""
    assert guide.vgpr_differences(load(arch)) == [(65, 72, 7, 6), (161, 168, 3, 2)]


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 512), st.integers(0, 65536), st.sampled_from((1, 2, 4, 8)))
def test_it_is_the_published_formula(vgpr, lds, warps):
    """Restated literally from the guide's text, for MI300X."""
    by_vgpr = min(8, 512 // (-(-vgpr // 16) * 16))
    expected = by_vgpr * 4 // warps
    if lds:
        expected = min(expected, 65536 // lds)
    found = occupancy(OccupancyInput(load("gfx942"), vgpr, lds_bytes=lds, num_warps=warps), "guide")

    assert found.waves_per_simd == expected * warps / 4
    assert found.method == "guide"


def test_the_differences_are_put_into_words():
    """Granules of registers and LDS, and resources that the formula leaves out."""
    machine = load("gfx942")
    registers = guide.differences(OccupancyInput(machine, 168))
    lds = guide.differences(OccupancyInput(machine, 16, lds_bytes=21840))
    scalars = guide.differences(OccupancyInput(machine, 32, sgpr=102))
    whole = guide.differences(OccupancyInput(machine, 168, lds_bytes=1024))

    assert registers == ["168 VGPRs are 168 in blocks of 8, not 176"]
    assert lds == ["21,840 B of LDS take 22,016: blocks of 512 B"]
    assert scalars == ["the limit is sgpr, which the guide ignores"]
    assert whole == registers
    assert guide.differences(OccupancyInput(machine, 128)) == []


@pytest.mark.parametrize("arch", ["gfx908", "gfx1100", "gfx1250"])
def test_other_architectures_are_not_covered(arch):
    """The formula is about unified register files of 512."""
    with pytest.raises(KprofError, match=f"^the tuning guide's formula does not cover {arch}\\n") as caught:
        occupancy(OccupancyInput(load(arch), 64), "guide")
    assert caught.value.hint == "It covers gfx90a, gfx942, gfx950; --method hardware works for all."
    with pytest.raises(KprofError, match="does not cover"):
        guide.vgpr_differences(load(arch))


@pytest.mark.parametrize(
    ("given_", "workgroups", "waves", "limiter", "limits"),
    [
        ({"vgpr": 64}, 8, 8, "wave_slots", {"vgpr": 8}),
        ({"vgpr": 65}, 6, 6, "vgpr", {"vgpr": 6}),
        ({"vgpr": 170, "lds_bytes": 16384}, 2, 2, "vgpr", {"vgpr": 2, "lds": 4}),
        ({"vgpr": 64, "lds_bytes": 32768}, 2, 2, "lds", {"vgpr": 8, "lds": 2}),
        ({"vgpr": 64, "lds_bytes": 1000, "num_warps": 16}, 2, 8, "wave_slots", {"vgpr": 8, "lds": 8}),
        ({"vgpr": 100, "padded_vgpr": 170}, 2, 2, "vgpr", {"vgpr": 2}),
        ({"vgpr": 64, "lds_bytes": 65536, "num_warps": 2}, 1, 0.5, "lds", {"vgpr": 8, "lds": 0.5}),
    ],
)
def test_limits_by_hand(given_, workgroups, waves, limiter, limits):
    """Each resource alone, none above eight wavefronts; a SIMD that is full is limited by its slots."""
    found = occupancy(OccupancyInput(load("gfx942"), **given_), "guide")
    assert (found.workgroups_per_cu, found.waves_per_simd, found.limiter) == (workgroups, waves, limiter)
    assert (found.limits, found.max_waves_per_simd) == (limits, 8)
