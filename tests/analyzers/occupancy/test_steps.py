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
