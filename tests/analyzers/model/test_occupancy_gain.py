"""What one more workgroup a CU is worth, on kernels where the answer is known beforehand."""

from dataclasses import replace

import msgspec
import pytest

from kprof.analysis import KernelFacts
from kprof.document import Resources
from kprof.hardware.machine import find_product, load
from kprof.inputs import amdgcn
from kprof_analyzers.model.occupancy_gain import explained
from kprof_analyzers.occupancy import OccupancyInput, occupancy
from kprof_analyzers.scheduling.facts import loop_facts

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
