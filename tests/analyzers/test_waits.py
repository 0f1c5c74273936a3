"""Waits and what they wait for, by hand."""

from kprof.hardware.machine import load
from kprof.inputs import amdgcn
from kprof_analyzers.scheduling.waits import follow, issue_cycles

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
    """A 32x32x8 MFMA keeps gfx942's matrix unit for 32 clocks, a vector instruction takes four passes."""
    machine = load("gfx942")
    matrix, vector = body("\tv_mfma_f32_32x32x8_f16 a[0:15], v[8:9], v[10:11], a[0:15]\n\tv_add_f32_e32 v0, v0, v1")
    assert (issue_cycles(matrix, machine), issue_cycles(vector, machine)) == (32, 4)
