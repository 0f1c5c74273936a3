"""The wave timeline tells the same story as the simulation that it records."""

import itertools
import json
from collections import defaultdict
from dataclasses import replace

import pytest

from kprof.analysis import KernelFacts
from kprof.document import Resources
from kprof.hardware.machine import find_product, load
from kprof.inputs import amdgcn
from kprof_analyzers.kernel_facts import loop_facts
from kprof_analyzers.model.kernel import build, simulate
from kprof_analyzers.model.wave_timeline import is_wait, record, wave_timeline
from kprof_analyzers.occupancy import OccupancyInput, occupancy

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


# On gfx942 an instruction is issued every 4 cycles, and an exponential keeps its pipe for 16.
TWO = ['.file 1 "/user/here" "k.py"', ".loc 1 7 0", "v_add_u32_e32 v0, v1, v2", "v_exp_f32_e32 v0, v1"]
PIPE_NAMES = ["matrix", "vector", "LDS (of the CU)", "vector cache (of the CU)", "memory (the CU's share)"]


def events_of(*kernels):
    """The trace's events: names of processes and threads, and what happened."""
    trace = json.loads("".join(wave_timeline(kernels)))
    assert trace["displayTimeUnit"] == "ns"
    assert trace["otherData"] == {"unit": "1 ns is 1 cycle of the CU", "kind": "modelled, not measured"}
    events = trace["traceEvents"]
    return [e for e in events if e["ph"] == "M"], [e for e in events if e["ph"] == "X"]


def event(name, category, track, when, **arguments):
    """A complete event as the Trace Event Format has it: microseconds, of which a cycle is a thousandth."""
    (process, thread), (start, end) = track, when
    return {
        "ph": "X", "name": name, "cat": category, "pid": process, "tid": thread,
        "ts": start / 1000, "dur": (end - start) / 1000, "args": arguments,
    }  # fmt: skip


def test_two_instructions_are_the_events_that_their_cycles_say(kernel):
    """The addition takes cycles 0 to 4, the exponential 4 to 20, the end of the program 20 to 24."""
    names, happened = events_of(kernel(TWO))
    said = [(e["name"], e["pid"], e["tid"], e["args"]["name"]) for e in names]
    assert said == [
        ("process_name", 1, 0, "k gfx942: wavefronts of one SIMD, 4 alike"),
        ("process_name", 2, 0, "k gfx942: pipes"),
        ("thread_name", 1, 0, "workgroup 0 wavefront 0"),
        *[("thread_name", 2, number, name) for number, name in enumerate(PIPE_NAMES)],
    ]
    line = "k.py:7"
    add = {"instruction": "v_add_u32_e32 v0, v1, v2", "cause": "vector", "line": line}
    exponential = {"instruction": "v_exp_f32_e32 v0, v1", "cause": "vector", "line": line}
    assert happened == [
        event("v_add_u32", "issue", (1, 0), (0, 4), **add),
        event("v_exp_f32", "issue", (1, 0), (4, 20), **exponential),
        event("s_endpgm", "issue", (1, 0), (20, 24), instruction="s_endpgm", cause="issue", line=line),
        event("v_add_u32", "vector", (2, 1), (0, 4), line=line),
        event("v_exp_f32", "vector", (2, 1), (4, 20), line=line),
    ]


def test_kernels_have_processes_of_their_own(kernel):
    """Two each: wavefronts and pipes. Without debug information a line is empty, not made up."""
    names, happened = events_of(kernel(TWO), kernel(TWO[2:]), kernel(TWO))
    assert sorted({e["pid"] for e in names}) == sorted({e["pid"] for e in happened}) == [1, 2, 3, 4, 5, 6]
    lines = {(e["pid"], e["args"]["line"]) for e in happened}
    assert lines == {(1, "k.py:7"), (2, "k.py:7"), (3, ""), (4, ""), (5, "k.py:7"), (6, "k.py:7")}


def test_a_wavefront_that_is_held_at_a_barrier_waits(kernel):
    """Two wavefronts of a SIMD: the second adds in cycles 4 to 8, and the barrier takes two issues more.

    The first one has waited from cycle 4 on. Both end their program afterwards, one after the other.
    """
    names, happened = events_of(kernel(["v_add_u32_e32 v0, v1, v2", "s_barrier"], warps=8))
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in names if e["name"] == "thread_name"}
    assert [threads[1, wave] for wave in (0, 1)] == ["workgroup 0 wavefront 0", "workgroup 0 wavefront 1"]
    short = {
        (e["tid"], e["name"], e["cat"], e["args"]["cause"], round(1e3 * e["ts"]), round(1e3 * (e["ts"] + e["dur"])))
        for e in happened
        if e["pid"] == 1
    }
    assert short == {
        (0, "v_add_u32", "issue", "vector", 0, 4),
        (0, "barrier", "wait", "barrier", 4, 16),
        (0, "s_endpgm", "issue", "issue", 16, 24),
        (1, "v_add_u32", "issue", "vector", 0, 8),
        (1, "s_barrier", "wait", "barrier", 8, 16),
        (1, "s_endpgm", "issue", "issue", 16, 20),
    }
    held = next(e for e in happened if e["name"] == "barrier")
    assert held["args"]["instruction"] == "s_barrier"


def test_an_access_keeps_the_pipes_that_it_goes_through(kernel):
    """Four SIMDs load 256 bytes each: 16 cycles of addresses each, then the CU's share of the memory's bandwidth.

    The LDS takes three cycles at least for each of the four.
    """
    facts = kernel(["buffer_load_dword v0, v1, s[4:7], 0 offen", "ds_read_b32 v4, v5", "s_waitcnt vmcnt(0)"])
    model = build(facts)
    path, recorder = model.paths[0], record(model)
    served = 4 * 256 * path.cycles_per_byte
    assert sorted((b.pipe, b.position, b.start, b.end) for b in recorder.busy) == [
        (2, 1, 4, 16),
        (3, 0, 0, 64),
        (4, 0, pytest.approx(0, abs=1e-9), served),
    ]
    wait = next(s for s in recorder.steps if s.position == 2)
    assert (wait.start, wait.cause) == (8, "memory latency")
    assert wait.end == pytest.approx(served + path.latency)
    # A trace has tenths of a cycle: 163.4304 of them are 0.1634 µs.
    (moved,) = (e for e in events_of(facts)[1] if e["cat"] == PIPE_NAMES[4])
    assert (moved["dur"], round(served, 4)) == (0.1634, 163.4304)
    # Without a share of the bandwidth there is no stretch, rather than one of no length.
    free = replace(model, paths=[replace(one, cycles_per_byte=0.0) for one in model.paths])
    assert sorted({b.pipe for b in record(free).busy}) == [2, 3]


def test_matrix_instructions_keep_their_unit_longer_than_they_issue(kernel):
    """16 cycles of the unit, of which the wavefront sees the first four."""
    recorder = record(build(kernel(["v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]"])))
    assert [(b.pipe, b.start, b.end) for b in recorder.busy] == [(0, 0, 16)]
    assert [(s.start, s.end, s.cause) for s in recorder.steps] == [(0, 4, "matrix"), (4, 8, "issue")]


def test_iterations_are_counted_from_none_and_follow_each_other(kernel):
    """An iteration issues three times, and a branch that is taken costs 16 more: 12, then 28 cycles each."""
    loop = [".LBB0_1:", "v_add_u32_e32 v0, v1, v2", "s_cmp_lt_i32 s0, 64", "s_cbranch_scc1 .LBB0_1"]
    facts = kernel(["s_mov_b32 s0, 0", *loop], warps=1)
    recorder = record(build(facts))
    count = len(recorder.passes)
    ends = [16 + 28 * n for n in range(count)]
    assert count >= 4
    assert [(p.number, p.start, p.end) for p in recorder.passes] == list(
        zip(range(count), [4, *ends], ends, strict=False)
    )
    names, happened = events_of(facts)
    # One wavefront leaves three SIMDs idle: all of them are simulated.
    assert names[0]["args"]["name"] == "k gfx942: wavefronts of all SIMDs"
    loops = [e for e in happened if e["cat"] == "loop"]
    assert loops[:2] == [
        event(".LBB0_1 iteration 0", "loop", (1, 0), (4, 16)), event(".LBB0_1 iteration 1", "loop", (1, 0), (16, 44))
    ]  # fmt: skip


def test_a_loop_that_is_entered_again_counts_from_none_again(kernel):
    """Each entry of the inner loop has iterations 0, 1 and so on; none of them begins before its entry."""
    inner = [".LBB0_2:", "v_add_u32_e32 v0, v1, v2", "s_cmp_lt_i32 s1, 64", "s_cbranch_scc1 .LBB0_2"]
    lines = ["s_mov_b32 s0, 0", ".LBB0_1:", "s_nop 0", *inner, "s_cmp_lt_i32 s0, 8", "s_cbranch_scc1 .LBB0_1"]
    recorder = record(build(kernel(lines)))
    for numbers in (
        [p.number for p in recorder.passes if p.loop == loop] for loop in {p.loop for p in recorder.passes}
    ):
        entries = numbers.count(0)
        assert numbers == list(range(len(numbers) // entries)) * entries
    for wave in {p.wave for p in recorder.passes}:
        mine = sorted((p.start, p.end) for p in recorder.passes if p.wave == wave)
        assert all(start < end for start, end in mine)


def test_half_of_the_wavefronts_run_a_barrier_ahead(kernel):
    """The second half stops at a barrier that the first one goes round, and meets it there at its next one.

    Wavefront 1 comes to it in cycle 8, as its branch issues behind that of wavefront 0, which has added in cycles 4 to
    8 and then waits; both go on two issues later.
    """
    lines = ["s_cbranch_execz .LBB0_9", "s_barrier", ".LBB0_9:", "v_add_u32_e32 v0, v1, v2", "s_barrier"]
    steps = record(build(kernel(lines, warps=8))).steps
    first, second = ([(s.position, s.start, s.end, is_wait(s)) for s in steps if s.wave == wave] for wave in (0, 1))
    assert first == [(0, 0, 4, False), (2, 4, 8, False), (3, 8, 16, True), (4, 16, 20, False)]
    assert second == [(0, 0, 8, False), (1, 8, 16, True), (2, 16, 20, False)]
    assert [s.cause for s in steps if is_wait(s)] == ["barrier", "barrier"]
