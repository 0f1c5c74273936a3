"""Classes, kinds, widths and counters of mnemonics."""

import subprocess

import pytest

from kprof.inputs.amdgcn import Generation, InstructionClass, InstructionKind, MemorySpace, generation_of, lookup
from kprof.inputs.amdgcn.opcodes import known_mnemonics

C, K, M = InstructionClass, InstructionKind, MemorySpace

CLASSES = {
    "v_add_f32_e32": (C.VALU, K.PLAIN),
    "v_exp_f32_e32": (C.VALU, K.TRANSCENDENTAL),
    "v_s_rcp_f32": (C.VALU, K.TRANSCENDENTAL),
    "v_frexp_exp_i32_f32_e32": (C.VALU, K.PLAIN),
    "v_cvt_pkrtz_f16_f32": (C.VALU, K.CONVERSION),
    "v_pk_fma_f32": (C.VALU, K.PACKED),
    "v_pk_mov_b32": (C.VALU, K.MOVE),
    "v_mov_b32_dpp": (C.VALU, K.MOVE),
    "v_cmp_gt_i32_e64": (C.VALU, K.COMPARE),
    "v_cmpx_class_f32_e32": (C.VALU, K.COMPARE),
    "v_accvgpr_read_b32": (C.VALU, K.ACC_COPY),
    "v_readfirstlane_b32": (C.VALU, K.LANE),
    "v_permlane32_swap_b32_e32": (C.VALU, K.LANE),
    "v_dual_fmac_f32": (C.VALU, K.DUAL),
    "v_dot2_f32_f16": (C.VALU, K.DOT),
    "v_mfma_f32_32x32x8_f16": (C.MATRIX, K.DENSE),
    "v_mfma_f32_32x32x8f16": (C.MATRIX, K.DENSE),
    "v_smfmac_f32_16x16x32_f16": (C.MATRIX, K.SPARSE),
    "v_wmma_f32_16x16x16_f16": (C.MATRIX, K.DENSE),
    "v_swmmac_f32_16x16x32_f16": (C.MATRIX, K.SPARSE),
    "s_add_u32": (C.SALU, K.PLAIN),
    "s_and_saveexec_b64": (C.SALU, K.PLAIN),
    "s_cmp_eq_u32": (C.SALU, K.COMPARE),
    "s_load_dwordx4": (C.SMEM, K.LOAD),
    "s_buffer_load_b128": (C.SMEM, K.LOAD),
    "s_dcache_inv": (C.SMEM, K.CACHE),
    "s_waitcnt": (C.WAIT, K.PLAIN),
    "s_wait_loadcnt_dscnt": (C.WAIT, K.PLAIN),
    "s_wait_alu": (C.WAIT, K.PLAIN),
    "s_barrier": (C.BARRIER, K.PLAIN),
    "s_barrier_signal": (C.BARRIER, K.PLAIN),
    "s_branch": (C.BRANCH, K.JUMP),
    "s_cbranch_execz": (C.BRANCH, K.CONDITIONAL),
    "s_swappc_b64": (C.BRANCH, K.CALL),
    "s_setpc_b64": (C.BRANCH, K.INDIRECT),
    "s_endpgm": (C.BRANCH, K.END),
    "s_nop": (C.OTHER, K.NOP),
    "s_setprio": (C.OTHER, K.PRIORITY),
    "s_delay_alu": (C.OTHER, K.SCHEDULE),
    "s_sendmsg": (C.OTHER, K.MESSAGE),
    "s_setreg_imm32_b32": (C.OTHER, K.MODE),
    "s_set_vgpr_msb": (C.OTHER, K.MODE),
    "s_sleep": (C.OTHER, K.SLEEP),
    "exp": (C.EXPORT, K.PLAIN),
    "buffer_wbl2": (C.VMEM, K.CACHE),
    "global_inv": (C.VMEM, K.CACHE),
    "global_prefetch_b8": (C.VMEM, K.PREFETCH),
    "tensor_load_to_lds": (C.VMEM, K.TENSOR),
    "image_bvh_intersect_ray": (C.VMEM, K.RAY),
    "ds_bpermute_b32": (C.LDS, K.PERMUTE),
    "ds_gws_barrier": (C.GDS, K.MESSAGE),
}

MEMORY = {
    # mnemonic: (class, space, load, store, atomic, bytes for each lane, parts)
    "global_load_dwordx4": (C.VMEM, M.GLOBAL, 1, 0, 0, 16, 1),
    "global_load_b128": (C.VMEM, M.GLOBAL, 1, 0, 0, 16, 1),
    "global_load_ushort": (C.VMEM, M.GLOBAL, 1, 0, 0, 2, 1),
    "global_load_u16": (C.VMEM, M.GLOBAL, 1, 0, 0, 2, 1),
    "global_load_sbyte_d16_hi": (C.VMEM, M.GLOBAL, 1, 0, 0, 1, 1),
    "global_load_d16_hi_b16": (C.VMEM, M.GLOBAL, 1, 0, 0, 2, 1),
    "global_load_tr4_b64": (C.VMEM, M.GLOBAL, 1, 0, 0, 8, 1),
    "global_load_lds_dwordx4": (C.VMEM, M.GLOBAL, 1, 0, 0, 16, 1),
    "global_load_async_to_lds_b128": (C.VMEM, M.GLOBAL, 1, 0, 0, 16, 1),
    "global_store_short": (C.VMEM, M.GLOBAL, 0, 1, 0, 2, 1),
    "global_store_d16_hi_b8": (C.VMEM, M.GLOBAL, 0, 1, 0, 1, 1),
    "global_atomic_add_f32": (C.VMEM, M.GLOBAL, 0, 0, 1, 4, 1),
    "global_atomic_pk_add_bf16": (C.VMEM, M.GLOBAL, 0, 0, 1, 4, 1),
    "global_atomic_cmpswap_x2": (C.VMEM, M.GLOBAL, 0, 0, 1, 8, 1),
    "buffer_load_dwordx3": (C.VMEM, M.BUFFER, 1, 0, 0, 12, 1),
    "buffer_store_b96": (C.VMEM, M.BUFFER, 0, 1, 0, 12, 1),
    "buffer_load_format_xyzw": (C.VMEM, M.BUFFER, 1, 0, 0, None, 1),
    "buffer_atomic_swap": (C.VMEM, M.BUFFER, 0, 0, 1, 4, 1),
    "flat_load_dword": (C.VMEM, M.FLAT, 1, 0, 0, 4, 1),
    "image_load": (C.VMEM, M.IMAGE, 1, 0, 0, None, 1),
    "scratch_load_dwordx2": (C.SCRATCH, M.SCRATCH, 1, 0, 0, 8, 1),
    "scratch_store_b128": (C.SCRATCH, M.SCRATCH, 0, 1, 0, 16, 1),
    "ds_read_b128": (C.LDS, M.LDS, 1, 0, 0, 16, 1),
    "ds_load_b128": (C.LDS, M.LDS, 1, 0, 0, 16, 1),
    "ds_read2_b32": (C.LDS, M.LDS, 1, 0, 0, 8, 2),
    "ds_load_2addr_stride64_b64": (C.LDS, M.LDS, 1, 0, 0, 16, 2),
    "ds_write2st64_b64": (C.LDS, M.LDS, 0, 1, 0, 16, 2),
    "ds_read_u16_d16_hi": (C.LDS, M.LDS, 1, 0, 0, 2, 1),
    "ds_read_b64_tr_b16": (C.LDS, M.LDS, 1, 0, 0, 8, 1),
    "ds_read_b96_tr_b6": (C.LDS, M.LDS, 1, 0, 0, 12, 1),
    "ds_load_tr16_b128": (C.LDS, M.LDS, 1, 0, 0, 16, 1),
    "ds_add_rtn_u32": (C.LDS, M.LDS, 0, 0, 1, 4, 1),
    "ds_wrxchg2_rtn_b64": (C.LDS, M.LDS, 0, 0, 1, 16, 2),
    "s_load_dwordx16": (C.SMEM, M.SCALAR, 1, 0, 0, 64, 1),
    "s_load_b96": (C.SMEM, M.SCALAR, 1, 0, 0, 12, 1),
}

COUNTERS = {
    ("global_load_dword", "gfx942"): ("vmcnt",),
    ("global_store_dword", "gfx942"): ("vmcnt",),
    ("global_store_dword", "gfx1030"): ("vscnt",),
    ("global_atomic_add", "gfx1100"): ("vscnt",),
    ("flat_load_dword", "gfx90a"): ("vmcnt", "lgkmcnt"),
    ("flat_store_b32", "gfx1201"): ("storecnt", "dscnt"),
    ("scratch_load_b32", "gfx1200"): ("loadcnt",),
    ("image_sample", "gfx1201"): ("samplecnt",),
    ("image_bvh_intersect_ray", "gfx1201"): ("bvhcnt",),
    ("ds_read_b64", "gfx950"): ("lgkmcnt",),
    ("ds_load_b64", "gfx1201"): ("dscnt",),
    ("s_load_dwordx2", "gfx1030"): ("lgkmcnt",),
    ("s_load_b64", "gfx1201"): ("kmcnt",),
    ("s_load_b64", "gfx1250"): ("kmcnt", "xcnt"),
    ("global_load_b128", "gfx1250"): ("loadcnt", "xcnt"),
    ("global_load_async_to_lds_b128", "gfx1250"): ("asynccnt", "xcnt"),
    ("tensor_load_to_lds", "gfx1250"): ("tensorcnt", "xcnt"),
    ("buffer_load_dword", "gfx908"): ("vmcnt",),
    ("exp", "gfx908"): ("expcnt",),
    ("v_add_f32", "gfx908"): (),
    ("s_nop", "gfx908"): (),
}


@pytest.mark.parametrize("mnemonic", CLASSES)
def test_class_and_kind(mnemonic: str) -> None:
    """The class and kind of a mnemonic, as the ISA guides group them."""
    opcode = lookup(mnemonic, "gfx942")
    assert (opcode.cls, opcode.kind) == CLASSES[mnemonic]
    assert opcode.known


@pytest.mark.parametrize("mnemonic", MEMORY)
def test_memory_access(mnemonic: str) -> None:
    """Space, direction, bytes for each lane and number of addresses."""
    opcode = lookup(mnemonic, "gfx942")
    found = (
        opcode.cls,
        opcode.space,
        opcode.is_load,
        opcode.is_store,
        opcode.is_atomic,
        opcode.bytes_per_lane,
        opcode.parts,
    )
    assert found == MEMORY[mnemonic]


@pytest.mark.parametrize(("mnemonic", "arch"), COUNTERS)
def test_wait_counters(mnemonic: str, arch: str) -> None:
    """Which counters an instruction increments on each generation."""
    assert lookup(mnemonic, arch).counters == COUNTERS[mnemonic, arch]


def test_direct_to_lds() -> None:
    """Loads into LDS and stores out of it are told apart from ordinary ones."""
    for mnemonic in (
        "global_load_lds_dword",
        "global_load_async_to_lds_b8",
        "buffer_load_lds_b32",
        "tensor_load_to_lds",
    ):
        assert lookup(mnemonic, "gfx950").to_lds
    assert not lookup("global_load_dword", "gfx950").to_lds


@pytest.mark.parametrize(
    "mnemonic", ["v_foo_bar", "s_frobnicate_b32", "global_load_b1024", "ds_read3_b32", "hello", "v_"]
)
def test_an_invented_mnemonic_is_unknown(mnemonic: str) -> None:
    """The shape of a name is not enough; the guess is kept apart."""
    opcode = lookup(mnemonic, "gfx942")
    assert opcode.cls is C.UNKNOWN
    assert not opcode.known
    assert opcode.bytes_per_lane is None
    assert opcode.counters == ()
    expected = {"v_foo_bar": C.VALU, "global_load_b1024": C.VMEM, "ds_read3_b32": C.LDS}
    assert opcode.likely is expected.get(mnemonic, opcode.likely)


def test_every_known_mnemonic_has_a_class() -> None:
    """No mnemonic of the list falls through, and every load or store knows its space."""
    for generation in ("gfx908", "gfx1030", "gfx1100", "gfx1201", "gfx1250"):
        for mnemonic in known_mnemonics():
            opcode = lookup(mnemonic, generation)
            assert opcode.cls is not C.UNKNOWN, mnemonic
            assert opcode.cls is opcode.likely
            if opcode.is_load or opcode.is_store or opcode.is_atomic:
                assert opcode.space is not None, mnemonic
                assert opcode.counters, mnemonic


def test_generations() -> None:
    """Names of architectures to generations."""
    names = {
        "gfx803": Generation.GFX8, "gfx900": Generation.GFX9, "gfx90a": Generation.GFX9, "gfx950": Generation.GFX9,
        "gfx9-4-generic": Generation.GFX9, "gfx1030": Generation.GFX10, "gfx10-3-generic": Generation.GFX10,
        "gfx1151": Generation.GFX11, "gfx11-generic": Generation.GFX11, "gfx1201": Generation.GFX12,
        "gfx12-generic": Generation.GFX12, "gfx1250": Generation.GFX1250, "gfx1251": Generation.GFX1250,
        "": Generation.GFX9,
    }  # fmt: skip
    assert {name: generation_of(name) for name in names} == names


@pytest.mark.llvm
def test_the_assembler_knows_what_is_known(llvm_mc: str) -> None:
    """llvm-mc calls no listed mnemonic invalid on all architectures, except those newer than itself."""
    names = sorted(known_mnemonics())
    text = "\n".join([*names, "v_foo_bar", "s_frobnicate_b32"])
    refused: set[str] | None = None
    for arch in ("gfx704", "gfx803", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"):
        command = [llvm_mc, "-triple=amdgcn", f"-mcpu={arch}", "-filetype=null"]
        complaints = subprocess.run(command, input=text, capture_output=True, text=True, check=False).stderr.split("\n")
        invalid = {complaints[n + 1].strip() for n, line in enumerate(complaints[:-1]) if "invalid instruction" in line}
        refused = invalid if refused is None else refused & invalid
    assert refused is not None
    assert {"v_foo_bar", "s_frobnicate_b32"} <= refused
    # What an older assembler lacks came with gfx950, gfx1250 and gfx13.
    assert len(set(names) - refused) > 2000
