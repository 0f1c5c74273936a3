"""Predictions as a whole: bounds, assumptions, odd input, and published measurements."""

import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kprof.hardware.machine import architectures, load
from kprof_analyzers.model import Effects, predict
from kprof_analyzers.registers.scratch import assigned

ROOT = Path(__file__).resolve().parents[3]
LOOP = ["s_mov_b32 s0, 0", ".LBB0_1:"]
BACK = ["s_cmp_lt_i32 s0, 64", "s_cbranch_scc1 .LBB0_1"]
MFMA = "v_mfma_f32_32x32x8_f16 v[16:31], v[100:101], v[102:103], v[16:31]"


def test_the_shares_add_up_and_name_the_bound(kernel):
    """A loop of matrix instructions is bound by them."""
    found = predict(kernel([*LOOP, *[MFMA] * 8, *BACK]))

    assert found.bound == "matrix"
    assert sum(found.shares.values()) == pytest.approx(1, abs=0.01)
    assert found.low_us < found.time_us < found.high_us
    assert msgspec.json.decode(msgspec.json.encode(found))["bound"] == "matrix"


def test_what_is_not_known_is_said(kernel):
    """No TTGIR: the iterations of the loop and what the loads share are assumed, in words."""
    found = predict(kernel([*LOOP, "buffer_load_dword v0, v1, s[4:7], 0 offen", "s_waitcnt vmcnt(0)", *BACK]))

    assert any("iterations assumed" in line for line in found.assumptions)
    assert any("tiles" in line for line in found.assumptions)
    assert not found.loops[0].trips_known


@pytest.mark.parametrize(("lane", "told"), [(0, ""), (224, ""), (225, "142 MiB"), (772, "466 MiB")])
def test_scratch_that_may_be_assigned_anew_is_told(kernel, lane, told):
    """ROCr keeps 140 MiB: 235 bytes for each lane of 304 CUs with 32 wavefronts of 64, in steps of 16."""
    facts = kernel([*LOOP, MFMA, *BACK])
    facts = replace(facts, resources=msgspec.structs.replace(facts.resources, scratch_bytes=lane))
    predicted = predict(facts)
    (found,) = [line for line in predicted.assumptions if "of scratch stay" in line] or [""]
    assert found.startswith(told)
    assert bool(told) == ("HSA_NO_SCRATCH_RECLAIM=1 keeps it" in found)


@pytest.mark.parametrize(("lane", "wait"), [(224, 0), (225, 180)])
def test_a_launch_may_wait_until_its_scratch_is_assigned(kernel, lane, wait):
    """Only the upper end of the range has it: newer drivers leave scratch assigned."""
    facts = kernel([MFMA], grid=(304,))
    few, much = (
        predict(replace(facts, resources=msgspec.structs.replace(facts.resources, scratch_bytes=bytes_)))
        for bytes_ in (0, lane)
    )
    assert (much.time_us, much.low_us) == (few.time_us, few.low_us)
    assert much.high_us == pytest.approx(few.high_us + wait)


def test_scratch_of_a_gpu_that_is_not_known_is_not_told(kernel):
    """Neither without a number of CUs, nor on RDNA, whose drivers' figure is not published."""
    facts = kernel([*LOOP, MFMA, *BACK])
    facts = replace(facts, resources=msgspec.structs.replace(facts.resources, scratch_bytes=4096))
    assert assigned(facts, None) is None
    assert assigned(replace(facts, arch=load("gfx1100")), 96) is None
    assert assigned(facts, 304) == 4096 * 64 * 32 * 304


def test_without_a_grid_there_is_no_time_but_a_bound(kernel):
    """Cycles of one round, no microseconds."""
    found = predict(kernel([*LOOP, MFMA, *BACK], grid=None))

    assert found.time_us is None
    assert found.cycles > 0
    assert any("grid" in line for line in found.assumptions)


def test_workgroups_come_in_rounds(kernel):
    """One workgroup more than the GPU holds makes another round; without that effect the grid is spread evenly."""
    body = [*LOOP, *[MFMA] * 8, *BACK]
    held = 304 * predict(kernel(body)).workgroups_per_cu
    facts = kernel(body, grid=(304 * 4,))
    full = predict(facts)
    more = predict(replace(facts, grid=(304 * 4 + 1,)))

    assert held == 304
    assert more.time_us > full.time_us
    assert more.rounds > full.rounds


def test_a_grid_below_the_number_of_cus_runs_alone(kernel):
    """A persistent kernel has a CU to itself, whatever its registers would allow."""
    facts = kernel([*LOOP, MFMA, *BACK], grid=(304,))

    assert predict(facts).workgroups_per_cu == 1
    assert predict(facts, effects=Effects(persistent=False)).workgroups_per_cu > 1


@pytest.mark.parametrize("arch", architectures())
def test_every_architecture_has_a_prediction(kernel, arch):
    """With whatever its file knows; what is missing is assumed in words."""
    facts = kernel([*LOOP, "v_add_u32_e32 v0, v1, v2", "s_barrier", *BACK], grid=(64,))
    found = predict(replace(facts, arch=load(arch), product=None))

    assert found.cycles > 0
    assert found.assumptions


def test_a_kernel_without_a_loop_and_one_without_anything(kernel):
    """Copies have no loop; an empty program takes no time to speak of."""
    copy = ["buffer_load_dwordx4 v[0:3], v4, s[4:7], 0 offen", "s_waitcnt vmcnt(0)"]
    copy.append("buffer_store_dwordx4 v[0:3], v4, s[4:7], 0 offen")
    found, empty = predict(kernel(copy, grid=(30400,))), predict(kernel([]))

    assert not found.loops
    assert found.bound in {"memory bandwidth", "memory latency"}
    assert empty.cycles < 100


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    matrix=st.integers(0, 12),
    vector=st.integers(0, 30),
    loads=st.integers(0, 6),
    warps=st.sampled_from([1, 2, 4, 8, 16]),
    grid=st.integers(1, 4000),
)
def test_never_faster_than_the_roofline(kernel, matrix, vector, loads, warps, grid):
    """Whatever the mix of instructions, wavefronts and workgroups."""
    body = [MFMA] * matrix + ["v_add_u32_e32 v0, v1, v2"] * vector
    body += ["buffer_load_dwordx4 v[4:7], v4, s[4:7], 0 offen"] * loads + ["s_waitcnt vmcnt(0)"]
    found = predict(kernel([*LOOP, *body, *BACK], warps=warps, grid=(grid,)))

    assert found.speed_of_light_us is None or found.time_us >= found.speed_of_light_us * 0.999
    assert matrix == 0 or found.speed_of_light_us > 0


def test_leaving_out_what_costs_never_costs(kernel):
    """Each of these effects only adds time."""
    body = [*LOOP, "scratch_load_dword v0, off, off offset:16", "buffer_load_dwordx4 v[4:7], v4, s[4:7], 0 offen nt"]
    body += ["s_waitcnt vmcnt(0)", "ds_read_b128 v[8:11], v40", "s_waitcnt lgkmcnt(0)", MFMA, "s_barrier", *BACK]
    facts = kernel(body, warps=8, grid=(3000,))
    whole = predict(facts).time_us

    for name in ("vector_memory", "memory_latency", "scratch", "lds", "launch_overhead", "cache_modifiers"):
        assert predict(facts, effects=Effects(**{name: False})).time_us <= whole * 1.01, name


def test_the_thread_trace_is_met_within_a_tenth(shared):
    """Cycles of a loop iteration of a traced fp4 GEMM on gfx950, and the intervals of its matrix instructions."""
    sys.path.insert(0, str(ROOT))
    try:
        from validation.benchmarks.model.att import compare

        found = compare(shared / "samples" / "att" / "rocprofv3_triton_gemm_afp4")
    finally:
        sys.path.remove(str(ROOT))
    traced, simulated = found.kinds["v_mfma_scale_f32_16x16x128_f8f6f4"]

    assert found.simulated == pytest.approx(found.traced, rel=0.1)
    assert simulated == pytest.approx(traced, rel=0.1)
    assert found.kinds["s_waitcnt"][1] == pytest.approx(found.kinds["s_waitcnt"][0], rel=0.25)
