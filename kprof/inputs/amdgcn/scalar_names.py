"""Class, kind, memory space and bytes of ``s_...`` mnemonics."""

from kprof.inputs.amdgcn.isa import InstructionClass, Kind, MemorySpace

Answer = tuple[InstructionClass, Kind, MemorySpace | None, int | None]

_OTHER: dict[str, Kind] = {
    "s_nop": Kind.NOP,
    "s_code_end": Kind.NOP,
    "s_version": Kind.NOP,
    "s_sleep": Kind.SLEEP,
    "s_sleep_var": Kind.SLEEP,
    "s_monitor_sleep": Kind.SLEEP,
    "s_sethalt": Kind.TRAP,
    "s_setkill": Kind.TRAP,
    "s_trap": Kind.TRAP,
    "s_setprio": Kind.PRIORITY,
    "s_setprio_inc_wg": Kind.PRIORITY,
    "s_delay_alu": Kind.SCHEDULE,
    "s_clause": Kind.SCHEDULE,
    "s_singleuse_vdst": Kind.SCHEDULE,
    "s_inst_prefetch": Kind.SCHEDULE,
    "s_set_inst_prefetch_distance": Kind.SCHEDULE,
    "s_wakeup": Kind.MESSAGE,
    "s_sendmsg": Kind.MESSAGE,
    "s_sendmsghalt": Kind.MESSAGE,
    "s_sendmsg_rtn_b32": Kind.MESSAGE,
    "s_sendmsg_rtn_b64": Kind.MESSAGE,
    "s_getreg_b32": Kind.MODE,
    "s_setreg_b32": Kind.MODE,
    "s_setreg_imm32_b32": Kind.MODE,
    "s_round_mode": Kind.MODE,
    "s_denorm_mode": Kind.MODE,
    "s_setvskip": Kind.MODE,
    "s_set_vgpr_msb": Kind.MODE,
    "s_alloc_vgpr": Kind.MODE,
    "s_set_gpr_idx_on": Kind.MODE,
    "s_set_gpr_idx_off": Kind.MODE,
    "s_set_gpr_idx_idx": Kind.MODE,
    "s_set_gpr_idx_mode": Kind.MODE,
    "s_icache_inv": Kind.CACHE,
    "s_incperflevel": Kind.TRACE,
    "s_decperflevel": Kind.TRACE,
    "s_ttracedata": Kind.TRACE,
    "s_ttracedata_imm": Kind.TRACE,
    "s_get_shader_cycles_u64": Kind.CLOCK,
}

_BRANCHES: dict[str, Kind] = {
    "s_branch": Kind.JUMP,
    "s_setpc_b64": Kind.INDIRECT,
    "s_set_pc_i64": Kind.INDIRECT,
    "s_add_pc_i64": Kind.INDIRECT,
    "s_swappc_b64": Kind.CALL,
    "s_swap_pc_i64": Kind.CALL,
    "s_call_b64": Kind.CALL,
    "s_call_i64": Kind.CALL,
    "s_endpgm": Kind.END,
    "s_endpgm_saved": Kind.END,
    "s_endpgm_ordered_ps_done": Kind.END,
    "s_rfe_b64": Kind.INDIRECT,
    "s_rfe_i64": Kind.INDIRECT,
    "s_rfe_restore_b64": Kind.INDIRECT,
    "s_subvector_loop_begin": Kind.CONDITIONAL,
    "s_subvector_loop_end": Kind.CONDITIONAL,
    "s_cbranch_join": Kind.INDIRECT,
    "s_cbranch_g_fork": Kind.INDIRECT,
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
        return cls, Kind.ATOMIC, space, 8 if name.endswith("_x2") else 4
    if name.startswith(_SMEM_PREFIXES):
        kind = Kind.LOAD if "_load_" in name else Kind.STORE
        return cls, kind, space, _SIZES.get(name.rpartition("_")[2])
    if name.startswith(("s_prefetch_", "s_buffer_prefetch_")):
        return cls, Kind.PREFETCH, space, None
    if name.startswith(("s_dcache_", "s_gl1_inv")):
        return cls, Kind.CACHE, space, None
    if name.startswith(("s_memtime", "s_memrealtime", "s_get_waveid_in_workgroup")):
        return cls, Kind.CLOCK, space, None
    if name.startswith("s_atc_probe"):
        return cls, Kind.PREFETCH, space, None
    return None


def classify(name: str) -> Answer:
    """Class, kind, memory space and bytes of one scalar mnemonic."""
    if name.startswith(("s_waitcnt", "s_wait_")):
        return InstructionClass.WAIT, Kind.PLAIN, None, None
    if "barrier" in name:
        return InstructionClass.BARRIER, Kind.PLAIN, None, None
    if name in _BRANCHES or name.startswith("s_cbranch_"):
        return InstructionClass.BRANCH, _BRANCHES.get(name, Kind.CONDITIONAL), None, None
    if name in _OTHER:
        return InstructionClass.OTHER, _OTHER[name], None, None
    memory = _memory(name)
    if memory is not None:
        return memory
    kind = Kind.PLAIN
    if name.startswith(("s_mov", "s_cmov", "s_getpc", "s_get_pc", "s_cselect")):
        kind = Kind.MOVE
    elif name.startswith(("s_cmp", "s_bitcmp")):
        kind = Kind.COMPARE
    elif name.startswith("s_cvt_"):
        kind = Kind.CONVERSION
    return InstructionClass.SALU, kind, None, None
