"""What rules are about: instructions by what AMD's documents say of them, on one body of assembly."""

import pytest

from kprof.inputs.amdgcn import Instruction, lookup
from kprof_analyzers.rules import about, rules

BODY = """
global_load_dwordx4 v[0:3], v[4:5], off
buffer_store_dwordx4 v[0:3], v4, s[0:3], 0 offen
s_load_dwordx2 s[0:1], s[2:3], 0x0
ds_read_b128 v[0:3], v4
ds_write_b64 v4, v[0:1]
scratch_load_dword v0, off, off
scratch_store_dword off, v0, off
s_waitcnt vmcnt(0)
s_barrier
v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]
v_accvgpr_read_b32 v0, a0
v_exp_f32_e32 v0, v1
v_cvt_f32_f16_e32 v0, v1
v_div_scale_f32 v0, vcc, v1, v2, v1
v_div_fmas_f32 v0, v1, v2, v3
v_add_f32_e32 v0, v1, v2
""".strip().splitlines()

MEANT = {
    "GLOBAL_ACCESSES": ["global_load_dwordx4", "buffer_store_dwordx4"],
    "GLOBAL_STORES": ["buffer_store_dwordx4"],
    "LDS_ACCESSES": ["ds_read_b128", "ds_write_b64"],
    "SCRATCH_ACCESSES": ["scratch_load_dword", "scratch_store_dword"],
    "WAITS": ["s_waitcnt"],
    "BARRIERS": ["s_barrier"],
    "MATRIX_INSTRUCTIONS": ["v_mfma_f32_32x32x8_f16"],
    "AGPR_COPIES": ["v_accvgpr_read_b32"],
    "TRANSCENDENTALS": ["v_exp_f32_e32"],
    "CONVERSIONS": ["v_cvt_f32_f16_e32"],
    "DIVISIONS": ["v_div_scale_f32", "v_div_fmas_f32"],
    "VALU_INSTRUCTIONS": [
        "v_accvgpr_read_b32", "v_exp_f32_e32", "v_cvt_f32_f16_e32", "v_div_scale_f32", "v_div_fmas_f32",
        "v_add_f32_e32",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", MEANT)
def test_instructions_of_a_kind(name):
    """Those of the kind, and no others."""
    subject = getattr(about, name)
    found = [line.partition(" ")[0] for line in BODY if subject.is_meant(instruction(line))]
    assert found == MEANT[name]
    assert not subject.whole_kernel


def instruction(line):
    """One instruction of a gfx942 kernel."""
    return Instruction(0, 1, line, "", lookup(line.partition(" ")[0], "gfx942"), None)


def test_a_kernel_as_a_whole_and_a_line():
    """Neither is a kind of instruction."""
    assert (about.KERNEL.is_meant, about.KERNEL.whole_kernel) == (None, True)
    assert (about.LINE.is_meant, about.LINE.whole_kernel) == (None, False)


def test_each_subject_is_some_rules():
    """What no rule is about would be tested for nothing."""
    subjects = [value for value in vars(about).values() if isinstance(value, about.About)]
    used = [rule.about for rule in rules()]
    assert [one for one in subjects if one not in used and one is not about.VALU_INSTRUCTIONS] == []
