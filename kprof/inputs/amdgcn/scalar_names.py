"""Class, kind, memory space and bytes of ``s_...`` mnemonics."""

from kprof.inputs.amdgcn.isa import InstructionClass, InstructionKind, MemorySpace

Answer = tuple[InstructionClass, InstructionKind, MemorySpace | None, int | None]

_OTHER: dict[str, InstructionKind] = {
    "s_nop": InstructionKind.NOP,
    "s_code_end": InstructionKind.NOP,
    "s_version": InstructionKind.NOP,
    "s_sleep": InstructionKind.SLEEP,
    "s_sleep_var": InstructionKind.SLEEP,
    "s_monitor_sleep": InstructionKind.SLEEP,
    "s_sethalt": InstructionKind.TRAP,
    "s_setkill": InstructionKind.TRAP,
    "s_trap": InstructionKind.TRAP,
    "s_setprio": InstructionKind.PRIORITY,
    "s_setprio_inc_wg": InstructionKind.PRIORITY,
    "s_delay_alu": InstructionKind.SCHEDULE,
    "s_clause": InstructionKind.SCHEDULE,
    "s_singleuse_vdst": InstructionKind.SCHEDULE,
    "s_inst_prefetch": InstructionKind.SCHEDULE,
    "s_set_inst_prefetch_distance": InstructionKind.SCHEDULE,
    "s_wakeup": InstructionKind.MESSAGE,
    "s_sendmsg": InstructionKind.MESSAGE,
    "s_sendmsghalt": InstructionKind.MESSAGE,
    "s_sendmsg_rtn_b32": InstructionKind.MESSAGE,
    "s_sendmsg_rtn_b64": InstructionKind.MESSAGE,
    "s_getreg_b32": InstructionKind.MODE,
    "s_setreg_b32": InstructionKind.MODE,
    "s_setreg_imm32_b32": InstructionKind.MODE,
    "s_round_mode": InstructionKind.MODE,
    "s_denorm_mode": InstructionKind.MODE,
    "s_setvskip": InstructionKind.MODE,
    "s_set_vgpr_msb": InstructionKind.MODE,
    "s_alloc_vgpr": InstructionKind.MODE,
    "s_set_gpr_idx_on": InstructionKind.MODE,
    "s_set_gpr_idx_off": InstructionKind.MODE,
    "s_set_gpr_idx_idx": InstructionKind.MODE,
    "s_set_gpr_idx_mode": InstructionKind.MODE,
    "s_icache_inv": InstructionKind.CACHE,
    "s_incperflevel": InstructionKind.TRACE,
    "s_decperflevel": InstructionKind.TRACE,
    "s_ttracedata": InstructionKind.TRACE,
    "s_ttracedata_imm": InstructionKind.TRACE,
    "s_get_shader_cycles_u64": InstructionKind.CLOCK,
}

_BRANCHES: dict[str, InstructionKind] = {
    "s_branch": InstructionKind.JUMP,
    "s_setpc_b64": InstructionKind.INDIRECT,
    "s_set_pc_i64": InstructionKind.INDIRECT,
    "s_add_pc_i64": InstructionKind.INDIRECT,
    "s_swappc_b64": InstructionKind.CALL,
    "s_swap_pc_i64": InstructionKind.CALL,
    "s_call_b64": InstructionKind.CALL,
    "s_call_i64": InstructionKind.CALL,
    "s_endpgm": InstructionKind.END,
    "s_endpgm_saved": InstructionKind.END,
    "s_endpgm_ordered_ps_done": InstructionKind.END,
    "s_rfe_b64": InstructionKind.INDIRECT,
    "s_rfe_i64": InstructionKind.INDIRECT,
    "s_rfe_restore_b64": InstructionKind.INDIRECT,
    "s_subvector_loop_begin": InstructionKind.CONDITIONAL,
    "s_subvector_loop_end": InstructionKind.CONDITIONAL,
    "s_cbranch_join": InstructionKind.INDIRECT,
    "s_cbranch_g_fork": InstructionKind.INDIRECT,
}

_SMEM_PREFIXES = ("s_load_", "s_buffer_load_", "s_store_", "s_buffer_store_", "s_scratch_", "s_atomic_")
_SIZES = {
    "dword": 4, "dwordx2": 8, "dwordx4": 16, "dwordx8": 32, "dwordx16": 64,
    "b32": 4, "b64": 8, "b96": 12, "b128": 16, "b256": 32, "b512": 64,
    "i8": 1, "u8": 1, "i16": 2, "u16": 2,
}  # fmt: skip


def _memory(name: str) -> Answer | None:
    cls, space = InstructionClass.SMEM, MemorySpace.SCALAR
    if name.startswith(("s_atomic_", "s_buffer_atomic_")):
        return cls, InstructionKind.ATOMIC, space, 8 if name.endswith("_x2") else 4
    if name.startswith(_SMEM_PREFIXES):
        kind = InstructionKind.LOAD if "_load_" in name else InstructionKind.STORE
        return cls, kind, space, _SIZES.get(name.rpartition("_")[2])
    if name.startswith(("s_prefetch_", "s_buffer_prefetch_")):
        return cls, InstructionKind.PREFETCH, space, None
    if name.startswith(("s_dcache_", "s_gl1_inv")):
        return cls, InstructionKind.CACHE, space, None
    if name.startswith(("s_memtime", "s_memrealtime", "s_get_waveid_in_workgroup")):
        return cls, InstructionKind.CLOCK, space, None
    if name.startswith("s_atc_probe"):
        return cls, InstructionKind.PREFETCH, space, None
    return None


def classify(name: str) -> Answer:
    """Class, kind, memory space and bytes of one scalar mnemonic."""
    if name.startswith(("s_waitcnt", "s_wait_")):
        return InstructionClass.WAIT, InstructionKind.PLAIN, None, None
    if "barrier" in name:
        return InstructionClass.BARRIER, InstructionKind.PLAIN, None, None
    if name in _BRANCHES or name.startswith("s_cbranch_"):
        return InstructionClass.BRANCH, _BRANCHES.get(name, InstructionKind.CONDITIONAL), None, None
    if name in _OTHER:
        return InstructionClass.OTHER, _OTHER[name], None, None
    memory = _memory(name)
    if memory is not None:
        return memory
    kind = InstructionKind.PLAIN
    if name.startswith(("s_mov", "s_cmov", "s_getpc", "s_get_pc", "s_cselect")):
        kind = InstructionKind.MOVE
    elif name.startswith(("s_cmp", "s_bitcmp")):
        kind = InstructionKind.COMPARE
    elif name.startswith("s_cvt_"):
        kind = InstructionKind.CONVERSION
    return InstructionClass.SALU, kind, None, None
