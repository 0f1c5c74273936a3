"""The report's peaks: where, how many, and which lines the values come from."""

from kprof.hardware.machine import load
from kprof.inputs import amdgcn
from kprof_analyzers.occupancy import OccupancyInput, occupancy
from kprof_analyzers.registers.pressure import peaks

KERNEL = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
\t.text
\t.type\tk,@function
k:
\t.file\t1 "/user" "k.py"
\t.loc\t1 3 0                   ; k.py:3:0
\tv_mov_b32_e32 v1, 1
\tv_mov_b32_e32 v2, 2
\t.loc\t1 4 0                   ; k.py:4:0
\tv_mov_b32_e32 v3, 3
\t.loc\t1 5 0                   ; k.py:5:0
\tv_add_f32_e32 v4, v1, v2
\tv_add_f32_e32 v4, v4, v3
\tv_add_f32_e32 v4, v4, v0
\tglobal_store_dword v[6:7], v4, off
\ts_endpgm
.Lfunc_end0:
\t.size\tk, .Lfunc_end0-k
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr 32
\t\t.amdhsa_next_free_sgpr 16
\t.end_amdhsa_kernel
"""


def program():
    """A kernel with lines."""
    return amdgcn.parse(KERNEL).kernels[0]


def test_the_peak_and_what_is_held_there():
    """At the third move three values are live with the argument v0 and the address v[6:7]."""
    found = peaks(program())
    assert set(found) == {"vgpr"}
    peak = found["vgpr"]
    assert peak.live == 6
    assert (peak.location.file, peak.location.line) == ("/user/k.py", 4)
    assert peak.held == {"before": 3, "/user/k.py:3": 2, "/user/k.py:4": 1}
    assert next(iter(peak.lines.values())) == 6
    assert peak.to_next_step is None


def test_the_next_step_is_that_of_the_occupancy():
    """Only the file that limits has one."""
    limits = occupancy(OccupancyInput(load("gfx942"), vgpr=136, lds_bytes=0, num_warps=4))
    step = limits.next_step
    assert peaks(program(), limits)["vgpr"].to_next_step == step.reduce_by == 8


LINED = """\t.loc\t1 {0} 0                   ; k.py:{0}:0
"""


def lined(*lines):
    """A kernel of instructions with their lines of k.py; None leaves an instruction to the line before."""
    text = KERNEL[: KERNEL.index("\t.loc")]
    for line, instruction in lines:
        text += (LINED.format(line) if line is not None else "") + f"\t{instruction}\n"
    return amdgcn.parse(text + "\ts_endpgm\n" + KERNEL[KERNEL.index(".Lfunc_end0:\n") :]).kernels[0]


STORE = "global_store_dwordx4 v[20:21], v[0:3], off"


def test_five_lines_are_listed_the_fullest_first():
    """Six values are made on six lines, one more being live after each of them, and all are stored on a seventh."""
    values = [(10 + n, f"v_mov_b32_e32 v{n}, {n}") for n in range(6)]
    stores = [(20, "global_store_dwordx4 v[20:21], v[0:3], off"), (20, "global_store_dwordx2 v[20:21], v[4:5], off")]
    peak = peaks(lined(*values, *stores))["vgpr"]
    # v20 and v21 are live from the start; behind the first store 4 are, as behind line 11, which comes first.
    assert peak.live == 8
    assert list(peak.lines.items()) == [
        ("/user/k.py:15", 8),
        ("/user/k.py:14", 7),
        ("/user/k.py:13", 6),
        ("/user/k.py:12", 5),
        ("/user/k.py:11", 4),
    ]
    # Two lines of one value each are beyond the five.
    assert list(peak.held.items()) == [("before", 2), *((f"/user/k.py:{line}", 1) for line in (15, 14, 13, 12))]


def test_what_an_instruction_without_a_line_makes_is_held_by_nobody():
    """No line is above the first one; what is written twice counts where it was written last."""
    code = lined(
        (None, "v_mov_b32_e32 v0, 0"),
        (3, "v_mov_b32_e32 v1, 1"),
        (4, "v_mov_b32_e32 v1, 2"),
        (4, "v_mov_b32_e32 v2, 2"),
        (5, "v_mov_b32_e32 v3, 2"),
        (6, STORE),
    )
    peak = peaks(code)["vgpr"]
    assert peak.held == {"before": 2, "/user/k.py:4": 2, "/user/k.py:5": 1, "?": 1}
    # Behind line 3 v0, v20 and v21 are live, and v1 is written there; behind the store nothing is.
    assert peak.lines == {"/user/k.py:5": 6, "/user/k.py:4": 5, "/user/k.py:3": 4}
    assert peak.instruction.startswith("v_mov_b32_e32 v3")


def test_lines_without_live_registers_are_not_listed():
    """Scalars are another file."""
    peak = peaks(lined((3, "v_mov_b32_e32 v0, v1"), (4, "s_mov_b32 s0, s1"), (5, "s_mov_b32 s2, s0")))
    assert peak["vgpr"].lines == {"/user/k.py:3": 1}
    assert peak["sgpr"].lines == {"/user/k.py:3": 1, "/user/k.py:4": 1, "/user/k.py:5": 1}
    assert set(peak) == {"vgpr", "sgpr"}
