"""Operand roles of scalar instructions: SALU, SMEM, branches and bookkeeping."""

import re
from collections.abc import Sequence
from functools import cache

from kprof.inputs.amdgcn.isa import InstructionClass, InstructionKind, Opcode
from kprof.inputs.amdgcn.roles import EXEC, VCC, Roles

_CARRY_IN = ("s_addc_u32", "s_subb_u32", "s_add_co_ci_u32", "s_sub_co_ci_u32")
_NO_SCC = re.compile(
    r"s_(?:mov|cmov|cselect|bfm|mul_|mulk|ff[01]_|flbit|clz|ctz|cls_|brev|sext|bitset|getpc|get_pc|movrel|pack_|cvt_"
    r"|bitreplicate|getreg|fmac_|fmaa|fmam|ceil|floor|rndne|trunc|minimum|maximum|[a-z]+_f(?:16|32)$|m(?:in|ax)_num"
    r"|[a-z]+_nc_u64|get_barrier|get_shader)"
)
_KEEPS = re.compile(r"s_(?:cmov|addk|mulk|bitset|fmac_|movreld)")
_READS_SCC = ("s_cselect", "s_cmov", "s_cbranch_scc", *_CARRY_IN)


def _exec_of(name: str) -> tuple[str, ...]:
    return EXEC if name.endswith("64") else EXEC[:1]


@cache
def _branch(name: str) -> Roles:
    if name.startswith(("s_cbranch_exec",)):
        return Roles(reads=EXEC)
    if name.startswith("s_cbranch_vcc"):
        return Roles(reads=VCC)
    if name.startswith("s_cbranch_scc"):
        return Roles(reads=("scc",))
    if name in {"s_swappc_b64", "s_swap_pc_i64", "s_call_b64", "s_call_i64"}:
        return Roles(destinations=1)
    if name.startswith("s_subvector_loop"):
        return Roles(destinations=1, keeps=True, reads=EXEC, writes=EXEC)
    return Roles()


@cache
def _alu(name: str) -> Roles:
    reads = ("scc",) if name.startswith(_READS_SCC) else ()
    if name.startswith(("s_cmp", "s_bitcmp")):
        return Roles(writes=("scc",))
    if name.endswith(("_saveexec_b32", "_saveexec_b64", "_wrexec_b32", "_wrexec_b64")):
        return Roles(1, reads=_exec_of(name), writes=(*_exec_of(name), "scc"))
    writes = () if _NO_SCC.match(name) else ("scc",)
    if name.startswith(("s_movrel",)):
        reads = (*reads, "m0")
    return Roles(1, keeps=_KEEPS.match(name) is not None, reads=reads, writes=writes)


@cache
def _other(name: str) -> Roles:
    if name in {"s_getreg_b32", "s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64", "s_get_shader_cycles_u64"}:
        return Roles(1)
    if name == "s_alloc_vgpr":
        return Roles(writes=("scc",))
    if name.startswith("s_set_gpr_idx"):
        return Roles(writes=("m0",))
    if name in {"s_sendmsg", "s_sendmsghalt", "s_ttracedata"}:
        return Roles(reads=("m0",))
    return Roles()


def roles(opcode: Opcode, operands: Sequence[str], *, returns: bool) -> Roles:
    """Operand roles of one scalar instruction."""
    name = opcode.name
    if opcode.cls is InstructionClass.BRANCH:
        return _branch(name)
    if opcode.cls is InstructionClass.SMEM:
        if opcode.kind is InstructionKind.ATOMIC:
            half = "cmpswap" in name
            return Roles(swapped=(0,) if returns and not half else (), half_written=(0,) if returns and half else ())
        return Roles(1 if opcode.is_load or opcode.kind is InstructionKind.CLOCK else 0)
    if opcode.cls is InstructionClass.BARRIER:
        if name == "s_get_barrier_state":
            return Roles(1)
        reads = ("m0",) if "m0" in operands else ()
        return Roles(reads=reads, writes=("scc",) if name.endswith(("_isfirst", "_leave")) else ())
    if opcode.cls is InstructionClass.SALU:
        return _alu(name)
    return _other(name)
