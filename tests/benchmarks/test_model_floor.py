"""The least time of compiled code, and which published times lie below it."""

import pytest

from kprof.analysis import KernelFacts
from kprof.document import Resources
from kprof.hardware.machine import find_product, load
from kprof.inputs import amdgcn
from validation.benchmarks.model import floor, least

_HEAD = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n\t.text\n\t.globl\tk\n\t.type\tk,@function\nk:\n'
_TAIL = """\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr 128
\t\t.amdhsa_next_free_sgpr 16
\t.end_amdhsa_kernel
\t.text
.Lfunc_end0:
\t.size\tk, .Lfunc_end0-k
"""


def facts(*lines):
    """A kernel of these instructions, four wavefronts on each CU of an MI300X."""
    machine = find_product("MI300X")
    assert machine is not None
    body = "".join(f"{line}\n" if line.endswith(":") else f"\t{line}\n" for line in lines)
    resources = Resources(num_warps=4, wavefront_size=64, vgpr_allocated=128)
    program = amdgcn.parse(_HEAD + body + _TAIL).kernels[0]
    return KernelFacts("k", load(machine.arch), program, resources, None, (), product=machine, grid=(304,))


def chain(count):
    """Loads of which each waits for the one before."""
    return [line for _ in range(count) for line in ("global_load_dwordx4 v[0:3], v4, s[0:1]", "s_waitcnt vmcnt(0)")]


def test_loads_one_after_the_other_take_a_latency_each():
    few, many = least.least_us(facts(*chain(2))), least.least_us(facts(*chain(22)))
    assert (many - few) / 20 == pytest.approx(0.0853 + 64 / 2100, rel=0.03)  # an L2 hit; addresses of 4 x 64 lanes
    assert few > 2 * 0.0853


def test_reloads_of_spilled_registers_come_from_the_vector_cache():
    loads = least.least_us(facts(*chain(20)))
    reload = [line.replace("global_load_dwordx4 v[0:3], v4, s[0:1]", "scratch_load_dwordx4 v[0:3], off, off")
              for line in chain(20)]  # fmt: skip
    assert least.least_us(facts(*reload)) < loads


def test_a_floor_is_asked_for_where_the_published_time_may_be_below_it():
    """Only of the measured kernels, and of predictions that are longer than what was measured."""
    known = facts(*chain(20))
    floor_us = least.least_us(known)
    assert least.floor_of("streamk", [known], 9.0, 1.0) == floor_us
    assert least.floor_of("streamk", [known], 9.0, 9.0) == 0
    assert least.floor_of("streamk", [known, known], 9.0, 1.0) == 0
    assert least.floor_of("retunes", [known], 9.0, 1.0) == 0
    assert least.floor_of("streamk", [None], 9.0, 1.0) == 0


@pytest.mark.parametrize(
    ("line", "measured", "name"),
    [
        ("v_mov_b32_e32 v1, v2", 1.0, "under the floor of our code"),
        ("scratch_load_dword v0, off, off", 9.0, "spilled registers in a loop"),
        ("global_load_ushort v0, v4, s[0:1]", 9.0, "loads of two bytes"),
        ("global_load_dwordx4 v[0:3], v4, s[0:1]", 9.0, "others"),
    ],
)
def test_rows_are_sorted_by_what_is_in_their_loops(line, measured, name):
    found = facts(".LBB0_1:", line, "s_cbranch_scc0 .LBB0_1")
    assert floor.group(found, 5.0, measured) == name
