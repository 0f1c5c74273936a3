"""The next step: what to give up for more wavefronts."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from kprof.hardware.machine import load
from kprof_analyzers.occupancy import OccupancyInput, occupancy
from kprof_analyzers.occupancy.steps import apply, next_step
from tests.analyzers.occupancy.common import demands


@pytest.mark.parametrize(
    ("given_", "step"),
    [
        ({"vgpr": 170}, ("vgpr", 2, 3, {})),
        ({"vgpr": 64, "lds_bytes": 32768}, ("lds", 32768 - 21504, 3, {})),
        ({"vgpr": 168, "lds_bytes": 21504}, ("vgpr", 40, 4, {"lds": 21504 - 16384})),
        ({"vgpr": 128, "num_warps": 8, "padded_vgpr": 169}, ("vgpr_padding", 41, 4, {})),
        ({"vgpr": 64, "lds_bytes": 70000}, ("lds", 70000 - 65536, 1, {})),
        ({"vgpr": 32, "sgpr": 100}, ("sgpr", 4, 7, {})),
        ({"vgpr": 100, "agpr": 100}, ("vgpr", 32, 3, {})),
        ({"vgpr": 8, "agpr": 255}, ("agpr", 7, 2, {})),
        ({"vgpr": 32, "num_warps": 32}, ("num_warps", 16, 8, {})),
        ({"vgpr": 65}, ("vgpr", 1, 8, {})),
        ({"vgpr": 170, "padded_vgpr": 170}, ("vgpr", 2, 3, {})),
        ({"vgpr": 32, "num_warps": 32, "lds_bytes": 70000}, ("num_warps", 16, 4, {"lds": 70000 - 65536})),
        ({"vgpr": 200, "agpr": 200, "num_warps": 16}, ("vgpr", 72, 4, {"agpr": 200})),
        ({"vgpr": 128, "agpr": 200, "num_warps": 16}, ("agpr", 200, 4, {})),
        ({"vgpr": 100, "agpr": 130, "num_warps": 16}, ("agpr", 102, 4, {})),
    ],
)
def test_published_boundaries(given_, step):
    """Steps that follow from the table of registers by occupancy, checked by hand."""
    found = next_step(OccupancyInput(load("gfx942"), **given_))
    assert found is not None
    assert (found.resource, found.reduce_by, found.waves_per_simd, found.also) == step


def test_a_full_simd_has_no_next_step():
    """At the maximum there is nothing to gain."""
    assert occupancy(OccupancyInput(load("gfx942"), 64)).next_step is UNSET


@settings(max_examples=500, deadline=None)
@given(demands())
def test_the_step_gives_what_it_says(demand):
    """Giving up exactly the step's amounts reaches the step's occupancy, which is more than now."""
    step = next_step(demand)
    assume(step is not None)

    after = apply(demand, {step.resource: step.reduce_by, **step.also})
    assert occupancy(after).waves_per_simd == step.waves_per_simd > occupancy(demand).waves_per_simd


@settings(max_examples=500, deadline=None)
@given(demands(), st.data())
def test_one_less_is_not_enough(demand, data):
    """Each amount is the least: with any one of them smaller by one, nothing is gained."""
    step = next_step(demand)
    assume(step is not None)
    assume(step.resource != "num_warps")
    amounts = {step.resource: step.reduce_by, **step.also}
    short = data.draw(st.sampled_from(sorted(amounts)))

    after = apply(demand, {**amounts, short: amounts[short] - 1})
    assert occupancy(after).waves_per_simd <= occupancy(demand).waves_per_simd


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(demands())
def test_no_step_means_full_or_out_of_slots(demand):
    """Where kprof names no step, even a kernel that uses next to nothing would not fit once more."""
    assume(next_step(demand) is None)
    bare = OccupancyInput(demand.arch, 1, num_warps=demand.num_warps, wavefront_size=demand.size, mode=demand.block)
    assert occupancy(bare).waves_per_simd == occupancy(demand).waves_per_simd


@pytest.mark.parametrize(
    ("warps", "less", "waves"), [(2, 1, 10), (3, 2, 10), (6, 1, 10), (12, 2, 10), (16, 8, 10), (11, 1, 10), (7, 1, 9)]
)
def test_smaller_workgroups_fill_the_slots_better(warps, less, waves):
    """40 slots and 16 barriers of gfx908: the next smaller size that is better; powers of two stay powers of two."""
    found = next_step(OccupancyInput(load("gfx908"), 16, num_warps=warps))
    assert (found.resource, found.reduce_by, found.waves_per_simd, found.also) == ("num_warps", less, waves, {})


def test_giving_up_nothing_changes_nothing():
    """And each amount is taken from its own resource."""
    demand = OccupancyInput(
        load("gfx942"), 100, 50, sgpr=40, lds_bytes=1000, num_warps=8, padded_vgpr=200, padded_sgpr=60
    )
    assert apply(demand, {}) == demand
    amounts = {"vgpr": 1, "agpr": 2, "sgpr": 3, "lds": 4, "num_warps": 5, "vgpr_padding": 6, "sgpr_padding": 7}
    after = apply(demand, amounts)
    assert (after.vgpr, after.agpr, after.sgpr, after.lds_bytes, after.num_warps) == (99, 48, 37, 996, 3)
    assert (after.padded_vgpr, after.padded_sgpr) == (194, 53)
