"""Waits and what they wait for: by hand, and against bodies written out many times over."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.hardware.machine import load
from kprof.inputs import amdgcn
from kprof_analyzers.scheduling.waits import Wait, follow, issue_cycles, waits_of

HEAD = '\t.amdgcn_target "amdgcn-amd-amdhsa--{arch}"\n\t.text\n\t.type\tk,@function\nk:\n'


def body(text, arch="gfx942"):
    """The instructions of a snippet."""
    return list(amdgcn.parse(HEAD.format(arch=arch) + text + "\n\ts_endpgm\n").functions[0].instructions)[:-1]


def told(text, arch="gfx942"):
    """Counter, count, line of the load, instructions and matrix instructions in between."""
    waits = follow(body(text, arch), load(arch))
    return [
        (w.counter, w.count, w.waits_for.text.split()[1].strip(",") if w.waits_for else None, w.instructions, w.matrix)
        for w in waits
    ]


def test_a_wait_takes_from_the_front_of_the_queue():
    """vmcnt(1) waits for the older of two loads, vmcnt(0) for the younger."""
    text = """
    global_load_dword v0, v[4:5], off
    global_load_dword v1, v[4:5], off offset:4
    s_waitcnt vmcnt(1)
    v_add_f32_e32 v2, v2, v0
    s_waitcnt vmcnt(0)"""
    assert told(text) == [("vmcnt", 1, "v0", 1, 0), ("vmcnt", 0, "v1", 2, 0)]


def test_a_pipelined_loop_waits_for_the_iteration_before():
    """The load at the end of the body is waited for at its start."""
    text = """
    s_waitcnt vmcnt(0)
    v_mfma_f32_32x32x8_f16 a[0:15], v[8:9], v[10:11], a[0:15]
    global_load_dword v0, v[4:5], off
    v_mfma_f32_32x32x8_f16 a[0:15], v[8:9], v[10:11], a[0:15]"""
    assert told(text) == [("vmcnt", 0, "v0", 1, 1)]


def test_stores_count_where_the_generation_counts_them():
    """On gfx9 a store holds up vmcnt; on gfx11 it has a counter of its own."""
    gfx9 = "\tglobal_load_dword v0, v[4:5], off\n\tglobal_store_dword v[4:5], v1, off\n\ts_waitcnt vmcnt(0)"
    assert told(gfx9) == [("vmcnt", 0, "v[4:5]", 0, 0)]
    gfx11 = "\tglobal_load_b32 v0, v[4:5], off\n\tglobal_store_b32 v[4:5], v1, off\n\ts_waitcnt vmcnt(0)"
    assert told(gfx11, "gfx1100") == [("vmcnt", 0, "v0", 1, 0)]


def test_a_wait_with_nothing_outstanding_waits_for_nothing():
    """The compiler is careful now and then."""
    assert told("\ts_waitcnt lgkmcnt(0)") == [("lgkmcnt", 0, None, 0, 0)]


def test_issue_cycles_are_those_of_the_hardware_file():
    """A 32x32x8 MFMA keeps gfx942's matrix unit for 32 cycles, a vector instruction takes four passes."""
    machine = load("gfx942")
    matrix, vector = body("\tv_mfma_f32_32x32x8_f16 a[0:15], v[8:9], v[10:11], a[0:15]\n\tv_add_f32_e32 v0, v0, v1")
    assert (issue_cycles(matrix, machine), issue_cycles(vector, machine)) == (32, 4)


def test_a_loop_that_loads_two_iterations_ahead_waits_for_those_loads():
    """Two loads an iteration, two iterations' worth may stay: the older two are waited for, six instructions back."""
    text = """
    s_waitcnt vmcnt(2)
    ds_write_b64 v20, v[0:1]
    global_load_dwordx2 v[0:1], v[4:5], off
    global_load_dwordx2 v[2:3], v[4:5], off offset:8"""
    assert told(text) == [("vmcnt", 2, "v[2:3]", 4, 0)]
    assert told(text.replace("vmcnt(2)", "vmcnt(3)")) == [("vmcnt", 3, "v[0:1]", 5, 0)]
    assert told(text.replace("vmcnt(2)", "vmcnt(6)")) == [("vmcnt", 6, "v[2:3]", 12, 0)]


PIECES = {
    "vmcnt": "global_load_dword v0, v[4:5], off",
    "lgkmcnt": "ds_read_b32 v1, v2",
    "plain": "v_add_f32_e32 v2, v2, v0",
    "matrix": "v_mfma_f32_32x32x8_f16 a[0:15], v[8:9], v[10:11], a[0:15]",
}
COSTS = {"vmcnt": 4, "lgkmcnt": 4, "plain": 4, "matrix": 32, "wait": 4}
"""Cycles on gfx942 by hand: an instruction of a wavefront every four, a 32x32x8 MFMA every 32."""
STEPS = st.sampled_from(sorted(PIECES)) | st.tuples(st.sampled_from(("vmcnt", "lgkmcnt")), st.integers(0, 9))


def written_out(steps, times=24):
    """What the waits of the last of many copies of a body wait for, in one long list and without queues."""
    long = [(place, step) for _ in range(times) for place, step in enumerate(steps)]
    issued = {"vmcnt": [], "lgkmcnt": []}
    finished = {"vmcnt": 0, "lgkmcnt": 0}
    found = []
    for at, (_, step) in enumerate(long):
        if step in issued:
            issued[step].append(at)
        if isinstance(step, str):
            continue
        counter, count = step
        must = max(0, len(issued[counter]) - count)
        load_at = issued[counter][must - 1] if must > finished[counter] else None
        finished[counter] = max(finished[counter], must)
        if at >= len(long) - len(steps):
            between = [s if isinstance(s, str) else "wait" for _, s in long[load_at + 1 : at]] if load_at else []
            cycles, matrix = sum(COSTS[s] for s in between), between.count("matrix")
            where = None if load_at is None else long[load_at][0]
            found.append((counter, count, where, len(between), cycles, matrix))
    return found


@given(st.lists(STEPS, min_size=1, max_size=12))
def test_the_steady_state_is_that_of_a_body_written_out_many_times(steps):
    """Which load, how many instructions, cycles and matrix instructions back: for any order of loads and waits."""
    lines = [PIECES[s] if isinstance(s, str) else f"s_waitcnt {s[0]}({s[1]})" for s in steps]
    instructions = body("\t" + "\n\t".join(lines))
    places = {instruction.index: place for place, instruction in enumerate(instructions)}
    waits = follow(instructions, load("gfx942"))
    assert [steps[places[w.instruction.index]] for w in waits] == [(w.counter, w.count) for w in waits]
    found = [
        (w.counter, w.count, w.waits_for and places[w.waits_for.index], w.instructions, w.cycles, w.matrix)
        for w in waits
    ]
    assert found == written_out(steps)


def test_cycles_are_not_known_where_the_issue_rate_is_not():
    """Unless nothing but matrix instructions lies between, whose time is known."""
    unknown = replace(load("gfx942"), issue=None)
    matrix, vector = body(f"\t{PIECES['matrix']}\n\t{PIECES['plain']}")
    assert (issue_cycles(matrix, unknown), issue_cycles(vector, unknown)) == (32, None)
    lines = [PIECES["vmcnt"], PIECES["matrix"], "s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(0)"]
    waits = follow(body("\t" + "\n\t".join(lines)), unknown)
    assert [(w.instructions, w.cycles, w.matrix) for w in waits] == [(1, 32, 1), (0, 0, 0)]
    waits = follow(body("\t" + "\n\t".join([*lines[:2], PIECES["plain"], *lines[2:]])), unknown)
    assert [(w.instructions, w.cycles, w.matrix) for w in waits] == [(2, None, 1), (0, 0, 0)]


LOOPS = """\tglobal_load_dword v0, v[4:5], off
.LBB0_1:
\tglobal_load_dword v6, v[4:5], off
.LBB0_2:
\tglobal_load_dword v1, v[4:5], off
\ts_waitcnt vmcnt(0)
\ts_cbranch_scc1 .LBB0_2
\tv_add_f32_e32 v2, v2, v0
\ts_waitcnt vmcnt(0)
\ts_cbranch_scc0 .LBB0_1"""


@pytest.fixture
def nested():
    """A kernel with a loop in a loop, each with a load and a wait of its own."""
    text = HEAD.format(arch="gfx942") + LOOPS + "\n\ts_endpgm\n"
    return amdgcn.parse(text).functions[0]


def test_each_loop_has_its_own_waits(nested):
    """Those of the inner loop are left out of the outer one, loads included."""
    inner, outer = sorted(nested.loops, key=lambda loop: -loop.depth)
    machine = load("gfx942")
    assert [(w.waits_for.text.split()[1], w.instructions) for w in waits_of(nested, inner, machine)] == [("v1,", 0)]
    assert [(w.waits_for.text.split()[1], w.instructions) for w in waits_of(nested, outer, machine)] == [("v6,", 1)]


def test_waits_are_worked_out_once_for_each_architecture(nested):
    """The same list for whoever asks again, and another where the cycles may be others."""
    (loop,) = (each for each in nested.loops if each.depth == 2)
    machine, another = load("gfx942"), replace(load("gfx942"), issue=None)
    first = waits_of(nested, loop, machine)
    assert waits_of(nested, loop, machine) is first
    other = waits_of(nested, loop, another)
    assert other is not first
    assert waits_of(nested, loop, another) is other
    assert isinstance(other[0], Wait)
