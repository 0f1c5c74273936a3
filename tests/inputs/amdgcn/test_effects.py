"""Registers read and written."""

import pytest

from kprof.inputs.amdgcn import Instruction, lookup

CASES = [
    # instruction, architecture, reads, writes
    ("v_add_f32_e32 v0, v1, v2", "gfx942", "v1 v2", "v0"),
    ("v_fmac_f32_e32 v0, v1, v2", "gfx942", "v0 v1 v2", "v0"),
    ("v_fmamk_f32 v0, v1, 0x3f800000, v2", "gfx942", "v1 v2", "v0"),
    ("v_add_co_u32_e32 v0, vcc, v1, v2", "gfx942", "v1 v2", "v0 vcc_lo vcc_hi"),
    ("v_addc_co_u32_e32 v0, vcc, v1, v2, vcc", "gfx942", "v1 v2 vcc_lo vcc_hi", "v0 vcc_lo vcc_hi"),
    ("v_add_u32_e32 v0, s1, v2", "gfx942", "s1 v2", "v0"),
    ("v_mad_u64_u32 v[0:1], s[2:3], v4, v5, v[6:7]", "gfx942", "v4 v5 v6 v7", "v0 v1 s2 s3"),
    ("v_div_scale_f32 v0, vcc, v1, v2, v1", "gfx942", "v1 v2", "v0 vcc_lo vcc_hi"),
    ("v_div_fmas_f32 v0, v1, v2, v3", "gfx942", "v1 v2 v3 vcc_lo vcc_hi", "v0"),
    ("v_cndmask_b32_e32 v0, v1, v2, vcc_lo", "gfx1100", "v1 v2 vcc_lo", "v0"),
    ("v_cmp_gt_i32_e32 vcc, s8, v8", "gfx942", "s8 v8", "vcc_lo vcc_hi"),
    ("v_cmpx_gt_i32_e32 vcc, s8, v8", "gfx942", "s8 v8", "vcc_lo vcc_hi exec_lo exec_hi"),
    ("v_cmpx_gt_i32_e32 v1, v2", "gfx1100", "v1 v2", "exec_lo exec_hi"),
    ("v_readlane_b32 s0, v1, 3", "gfx942", "v1", "s0"),
    ("v_writelane_b32 v1, s0, 3", "gfx942", "s0 v1", "v1"),
    ("v_swap_b32 v0, v1", "gfx942", "v0 v1", "v0 v1"),
    ("v_permlane32_swap_b32_e32 v0, v1", "gfx950", "v0 v1", "v0 v1"),
    ("v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf", "gfx942", "v0 v1", "v0"),
    ("v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", "gfx942", "v1", "v0"),
    ("v_add_f16_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD", "gfx908", "v0 v1 v2", "v0"),
    ("v_mov_b16_e32 v1.l, v2.h", "gfx1201", "v1 v2", "v1"),
    ("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", "gfx942",
     " ".join([f"a{n}" for n in range(16)] + ["v0", "v1", "v2", "v3"]), " ".join(f"a{n}" for n in range(16))),
    ("v_mfma_f32_4x4x4_16b_f16 v[0:3], v[4:5], v[6:7], 0", "gfx942", "v4 v5 v6 v7", "v0 v1 v2 v3"),
    ("v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10", "gfx942",
     "v0 v1 v2 v3 v4 v5 v6 v7 v8 v9 v10", "v0 v1 v2 v3"),
    ("v_dual_fmac_f32 v0, v1, v2 :: v_dual_cndmask_b32 v3, v4, v5", "gfx1100", "v0 v1 v2 v4 v5 vcc_lo", "v0 v3"),
    ("v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[4:5] op_sel_hi:[0,1,1]", "gfx942", "v6 v8 v9 v4 v5", "v4 v5"),
    ("v_pk_mul_f32 v[0:1], v[2:3], s[4:5] op_sel:[1,0] op_sel_hi:[1,0]", "gfx942", "v3 s4", "v0 v1"),
    ("v_pk_add_f32 v[0:1], v[2:3], v[4:5]", "gfx942", "v2 v3 v4 v5", "v0 v1"),
    ("s_add_u32 s0, s1, s2", "gfx942", "s1 s2", "s0 scc"),
    ("s_addc_u32 s0, s1, 0", "gfx942", "s1 scc", "s0 scc"),
    ("s_mul_i32 s0, s1, s2", "gfx942", "s1 s2", "s0"),
    ("s_cselect_b32 s0, s1, s2", "gfx942", "s1 s2 scc", "s0"),
    ("s_cmp_lt_i32 s0, 4", "gfx942", "s0", "scc"),
    ("s_addk_i32 s0, 4", "gfx942", "s0", "s0 scc"),
    ("s_and_saveexec_b64 s[0:1], vcc", "gfx942", "vcc_lo vcc_hi exec_lo exec_hi", "s0 s1 exec_lo exec_hi scc"),
    ("s_and_saveexec_b32 s0, vcc_lo", "gfx1100", "vcc_lo exec_lo", "s0 exec_lo scc"),
    ("s_or_b64 exec, exec, s[0:1]", "gfx942", "exec_lo exec_hi s0 s1", "exec_lo exec_hi scc"),
    ("s_cbranch_scc0 .L1", "gfx942", "scc", ""),
    ("s_cbranch_vccnz .L1", "gfx942", "vcc_lo vcc_hi", ""),
    ("s_swappc_b64 s[30:31], s[4:5]", "gfx942", "s4 s5", "s30 s31"),
    ("s_load_dwordx2 s[0:1], s[4:5], 0x10", "gfx942", "s4 s5", "s0 s1"),
    ("s_store_dword s0, s[4:5], 0x10", "gfx908", "s0 s4 s5", ""),
    ("s_waitcnt vmcnt(0)", "gfx942", "", ""),
    ("global_load_dwordx2 v[0:1], v[2:3], off", "gfx942", "v2 v3", "v0 v1"),
    ("global_load_short_d16_hi v0, v[2:3], off", "gfx942", "v0 v2 v3", "v0"),
    ("global_store_dword v[0:1], v2, off", "gfx942", "v0 v1 v2", ""),
    ("global_atomic_add_f32 v[0:1], v2, off", "gfx942", "v0 v1 v2", ""),
    ("global_atomic_add v4, v[0:1], v2, off sc0", "gfx942", "v0 v1 v2", "v4"),
    ("global_atomic_add_u32 v4, v[0:1], v2, off th:TH_ATOMIC_RETURN", "gfx1201", "v0 v1 v2", "v4"),
    ("global_load_lds_dword v[0:1], off", "gfx942", "v0 v1 m0", ""),
    ("buffer_load_dword v0, v1, s[4:7], 0 offen", "gfx942", "v1 s4 s5 s6 s7", "v0"),
    ("buffer_load_dword v1, s[4:7], 0 offen lds", "gfx942", "v1 s4 s5 s6 s7 m0", ""),
    ("buffer_atomic_add v0, v1, s[4:7], 0 offen glc", "gfx908", "v0 v1 s4 s5 s6 s7", "v0"),
    ("buffer_atomic_cmpswap v[0:1], v2, s[4:7], 0 offen glc", "gfx908", "v0 v1 v2 s4 s5 s6 s7", "v0"),
    ("scratch_store_dwordx2 off, v[0:1], s32", "gfx942", "v0 v1 s32", ""),
    ("ds_read2_b32 v[0:1], v2 offset1:1", "gfx942", "v2", "v0 v1"),
    ("ds_read_u16_d16 v0, v1", "gfx942", "v0 v1", "v0"),
    ("ds_write_b64 v0, v[2:3]", "gfx942", "v0 v2 v3", ""),
    ("ds_add_rtn_u32 v0, v1, v2", "gfx942", "v1 v2", "v0"),
    ("ds_add_u32 v1, v2", "gfx942", "v1 v2", ""),
    ("ds_bpermute_b32 v0, v1, v2", "gfx942", "v1 v2", "v0"),
    ("v_nop", "gfx942", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "arch", "reads", "writes"), CASES, ids=[case[0].split()[0] for case in CASES])
def test_effects(text: str, arch: str, reads: str, writes: str) -> None:
    """Registers as the ISA guides describe each instruction, implicit ones included."""
    mnemonic = text.split(maxsplit=1)[0]
    effects = Instruction(0, 1, text, "", lookup(mnemonic, arch), None).effects
    assert set(effects.reads) == set(reads.split())
    assert set(effects.writes) == set(writes.split())


def test_a_returning_atomic_is_waited_for_like_a_load() -> None:
    """Modifiers decide the counter on gfx10 and later."""

    def counters(text: str, arch: str) -> tuple[str, ...]:
        return Instruction(0, 1, text, "", lookup(text.split(maxsplit=1)[0], arch), None).counters

    assert counters("global_atomic_add v4, v[0:1], v2, off glc", "gfx1030") == ("vmcnt",)
    assert counters("global_atomic_add v[0:1], v2, off", "gfx1030") == ("vscnt",)
    assert counters("global_atomic_add_u32 v4, v[0:1], v2, off th:TH_ATOMIC_RETURN", "gfx1201") == ("loadcnt",)
    assert counters("ds_add_u32 v1, v2 gds", "gfx908") == ("lgkmcnt", "expcnt")


def test_halves_of_a_dual_instruction() -> None:
    """Both halves with their own operands."""
    text = "v_dual_mul_f32 v0, v1, v2 :: v_dual_add_f32 v3, v4, v5"
    instruction = Instruction(0, 1, text, "", lookup("v_dual_mul_f32", "gfx1100"), None)
    assert instruction.halves == (("v_dual_mul_f32", ("v0", "v1", "v2")), ("v_dual_add_f32", ("v3", "v4", "v5")))
    assert instruction.operands == ("v0", "v1", "v2", "v3", "v4", "v5")
