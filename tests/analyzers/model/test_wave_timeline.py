"""The wave timeline tells the same story as the simulation that it records."""

import itertools
import json
from collections import defaultdict

import pytest

from kprof.analysis import KernelFacts
from kprof.document import Resources
from kprof.hardware.machine import find_product, load
from kprof.inputs import amdgcn
from kprof_analyzers.model.kernel import build, simulate
from kprof_analyzers.model.wave_timeline import record, wave_timeline
from kprof_analyzers.occupancy import OccupancyInput, occupancy
from kprof_analyzers.scheduling.facts import loop_facts

LOOP = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
\t.text
\t.globl\tk
\t.type\tk,@function
k:
\ts_mov_b32 s0, 0
.LBB0_1:
\tbuffer_load_dwordx4 v[0:3], v20, s[4:7], 0 offen
\tds_read_b128 v[4:7], v21
\ts_waitcnt lgkmcnt(0)
\ts_barrier
\tv_mfma_f32_16x16x16_f16 a[0:3], v[4:5], v[6:7], a[0:3]
\tv_mfma_f32_16x16x16_f16 a[4:7], v[4:5], v[6:7], a[4:7]
\tv_add_f32_e32 v22, v22, v23
\ts_waitcnt vmcnt(0)
\tds_write_b128 v21, v[0:3]
\ts_add_i32 s0, s0, 1
\ts_cmp_lt_i32 s0, 64
\ts_cbranch_scc1 .LBB0_1
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr 32
\t\t.amdhsa_next_free_sgpr 16
\t.end_amdhsa_kernel
\t.text
.Lfunc_end0:
\t.size\tk, .Lfunc_end0-k
"""


@pytest.fixture(scope="module")
def facts():
    """A small loop with every kind of pipe, two wavefronts of a workgroup on each SIMD."""
    arch = load("gfx942")
    product = find_product("MI300X")
    program = amdgcn.parse(LOOP).kernels[0]
    demand = OccupancyInput(arch, vgpr=32, lds_bytes=16384, num_warps=8)
    return KernelFacts(
        name="k",
        arch=arch,
        program=program,
        resources=Resources(lds_bytes=16384, num_warps=8, vgpr_allocated=32, wavefront_size=64),
        occupancy=occupancy(demand),
        product=product,
        grid=(304,),
        loops=loop_facts(program, 64, arch),
    )


def test_a_wavefront_does_one_thing_at_a_time(facts):
    """Steps of a wavefront follow each other without gap or overlap once it has begun."""
    recorder = record(build(facts))
    by_wave = defaultdict(list)
    for step in recorder.steps:
        by_wave[step.wave].append(step)
    assert len(by_wave) == 2
    for steps in by_wave.values():
        for before, after in itertools.pairwise(steps):
            assert after.start >= before.end
        branches = sum(1 for s, t in itertools.pairwise(steps) if t.start > s.end)
        # Only the way back to a loop's first instruction lies between two steps.
        assert branches <= len(recorder.passes)


def test_pipes_are_busy_with_one_operation_at_a_time(facts):
    """Stretches of a pipe do not overlap, and the matrix unit's add up to what the simulation says."""
    model = build(facts)
    recorder = record(model)
    by_pipe = defaultdict(list)
    for busy in recorder.busy:
        by_pipe[busy.pipe].append((busy.start, busy.end))
    for stretches in by_pipe.values():
        stretches.sort()
        for (_, end), (start, _) in itertools.pairwise(stretches):
            assert start >= end - 1e-9
    matrix = sum(end - start for start, end in by_pipe[0])
    assert matrix == pytest.approx(recorder.matrix_busy)


def test_recording_changes_nothing(facts):
    """The cycles are those of the simulation without a recorder."""
    model = build(facts)
    plain = simulate(model, model.where.resident).result.cycles
    recorder = record(model)
    assert max(step.end for step in recorder.steps) == pytest.approx(plain)


def test_the_trace_is_json_that_viewers_read(facts):
    """Complete events with a name, place and length; iterations enclose their steps; every instruction has its text."""
    trace = json.loads("".join(wave_timeline([facts, facts])))
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert {e["pid"] for e in events} == {1, 2, 3, 4}
    assert all(e["dur"] >= 0 and e["name"] for e in events)
    iterations = [e for e in events if e["cat"] == "loop" and e["pid"] == 1 and e["tid"] == 0]
    steps = [e for e in events if e["cat"] in {"issue", "wait"} and e["pid"] == 1 and e["tid"] == 0]
    assert len(iterations) >= 4
    for iteration in iterations:
        inside = [s for s in steps if iteration["ts"] <= s["ts"] < iteration["ts"] + iteration["dur"]]
        assert sum(s["name"].startswith("v_mfma") for s in inside) == 2
    assert any(e["args"].get("instruction") == "s_waitcnt vmcnt(0)" and e["cat"] == "wait" for e in events)
    assert trace["otherData"]["kind"] == "modelled, not measured"
