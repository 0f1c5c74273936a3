"""What one more workgroup a CU is worth, on kernels where the answer is known beforehand."""

from dataclasses import replace

import msgspec
import pytest

from kprof.analysis import KernelFacts
from kprof.document import LoopPrediction, OccupancyWorth, Prediction, Resources
from kprof.hardware.machine import find_product, load
from kprof.inputs import amdgcn
from kprof.roofline import Roofline
from kprof_analyzers.kernel_facts import loop_facts
from kprof_analyzers.model import Effects
from kprof_analyzers.model.kernel import build, predict
from kprof_analyzers.model.occupancy_gain import explained, trips_known, without_guesses
from kprof_analyzers.model.trips import RETRY
from kprof_analyzers.occupancy import OccupancyInput, occupancy

KERNEL = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
\t.text
\t.globl\tk
\t.type\tk,@function
k:
\ts_mov_b32 s0, 0
.LBB0_1:
{body}
\ts_add_i32 s0, s0, 1
\ts_cmp_lt_i32 s0, 64
\ts_cbranch_scc1 .LBB0_1
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr 256
\t\t.amdhsa_next_free_sgpr 16
\t.end_amdhsa_kernel
\t.text
.Lfunc_end0:
\t.size\tk, .Lfunc_end0-k
"""
LATENCY = "\tbuffer_load_dword v0, v20, s[4:7], 0 offen\n\ts_waitcnt vmcnt(0)"
MATRIX = "\n".join(
    f"\tv_mfma_f32_32x32x8_f16 a[{n}:{n + 15}], v[4:5], v[6:7], a[{n}:{n + 15}]" for n in (0, 16, 32, 48)
)


def worth(body, grid):
    """Time now and with one workgroup more, of a kernel that allows one workgroup a CU."""
    arch = load("gfx942")
    program = amdgcn.parse(KERNEL.format(body=body)).kernels[0]
    facts = KernelFacts(
        name="k",
        arch=arch,
        program=program,
        resources=Resources(lds_bytes=65536, num_warps=4, vgpr_allocated=256, wavefront_size=64),
        occupancy=occupancy(OccupancyInput(arch, vgpr=256, lds_bytes=65536, num_warps=4)),
        product=find_product("MI300X"),
        grid=(grid,),
        loops=loop_facts(program, 64, arch),
    )
    found = explained(facts)
    assert found.occupancy_worth.workgroups_per_cu == 2
    return found.time_us, found.occupancy_worth.time_us, facts


def test_a_kernel_that_only_waits_gets_twice_as_fast():
    """Waiting for memory one load at a time: a second workgroup waits at the same time."""
    now, more, _ = worth(LATENCY, 304 * 20)
    assert more / now == pytest.approx(0.5, abs=0.1)


def test_a_kernel_that_keeps_the_matrix_unit_busy_gains_nothing():
    """The matrix unit has no cycle left."""
    now, more, _ = worth(MATRIX, 304 * 20)
    assert more / now == pytest.approx(1.0, abs=0.05)


def test_a_grid_of_one_workgroup_a_cu_has_nothing_to_add():
    """No more workgroups, no worth."""
    _, more, _ = worth(LATENCY, 304)
    assert more is None


def test_without_occupancy_or_grid_no_worth_is_told():
    """Unknown is not zero."""
    _, _, facts = worth(LATENCY, 304)
    assert explained(replace(facts, occupancy=None)).occupancy_worth is msgspec.UNSET
    assert explained(replace(facts, grid=None)).occupancy_worth is msgspec.UNSET


@pytest.mark.parametrize(
    ("workgroups", "allowed", "more"),
    [
        (304, 1.0, False),  # each of 304 CUs has one: there is no other
        (305, 1.0, True),
        (608, 2.0, False),
        (609, 2.0, True),
        (305, 1.9, True),  # what is allowed is whole workgroups
        (305, 0.5, True),  # one runs all the same
    ],
)
def test_there_have_to_be_workgroups_left_over(kernel, workgroups, allowed, more):
    """Of what the CUs hold now, on the MI300X's 304."""
    facts = kernel(["v_add_u32_e32 v0, v1, v2"], grid=(workgroups,))
    held = msgspec.structs.replace(facts.occupancy, workgroups_per_cu=allowed)
    found = explained(replace(facts, occupancy=held)).occupancy_worth
    assert found.workgroups_per_cu == max(1, int(allowed)) + 1
    assert (found.time_us is not None) is more


def test_the_time_with_one_more_is_the_prediction_for_that_occupancy():
    """The same kernel, of which two workgroups fit a CU."""
    _, more, facts = worth(LATENCY, 304 * 20)
    two = msgspec.structs.replace(facts.occupancy, workgroups_per_cu=2)
    assert predict(replace(facts, occupancy=two)).time_us == more


def test_a_model_that_is_given_is_the_one_that_is_explained():
    """Made without memory's latency, which is all that this kernel waits for."""
    now, _, facts = worth(LATENCY, 304 * 20)
    assert explained(facts, build(facts)).time_us == now
    assert explained(facts, build(facts, Effects(memory_latency=False))).time_us < now


def test_the_roofline_comes_with_the_time():
    """With the bytes that the prediction itself has beyond L2; without a grid there is neither."""
    _, _, facts = worth(LATENCY, 304 * 20)
    found = explained(facts)
    beyond = {level.name: level.bytes for level in found.roofline.levels if level.name in {"l2", "hbm"}}
    assert beyond == {name: moved for name, moved in found.traffic.items() if name in {"l2", "hbm"} and moved}
    assert explained(replace(facts, grid=None)).roofline is msgspec.UNSET


def loops(*known):
    """A prediction of 100 µs with loops of 5 cycles an iteration, whose iterations are known or not."""
    made = [
        LoopPrediction(f"L{n}", 4.0, trips_known=one is True, trips_from="" if one is True else one,
                       cycles_per_iteration=5.0)
        for n, one in enumerate(known)
    ]  # fmt: skip
    return Prediction(
        100.0, 80.0, 140.0, 1e5, "matrix", {"matrix": 1.0}, made, 50.0, 50.0, {"hbm": 1e6}, workgroups=304,
        events_us=4.0, occupancy_worth=OccupancyWorth(2, 90.0), roofline=Roofline({}, {}, []),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("known", "sure"),
    [
        ((), True),
        ((True, True), True),
        ((True, RETRY), True),  # a compare-and-swap that succeeds at once
        (("assumed",), False),
        ((True, "assumed", True), False),
        ((RETRY, "assumed"), False),
    ],
)
def test_a_guess_at_the_iterations_gives_no_time(known, sure):
    """What rests on the number of iterations goes: times, cycles, bytes. An iteration's cycles and causes stay."""
    before = loops(*known)
    assert trips_known(before) is sure
    after = without_guesses(before)
    if sure:
        assert after == before
        return
    gone = ("time_us", "events_us", "low_us", "high_us", "cycles", "speed_of_light_us", "speed_of_light_percent")
    assert {name: getattr(after, name) for name in gone} == dict.fromkeys(gone)
    assert after.traffic == {}
    assert (after.occupancy_worth, after.roofline) == (msgspec.UNSET, msgspec.UNSET)
    kept = ("bound", "shares", "loops", "workgroups")
    assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]
