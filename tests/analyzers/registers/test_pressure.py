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
