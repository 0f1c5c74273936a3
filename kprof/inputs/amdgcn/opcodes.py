"""Look up the :class:`Opcode` of a mnemonic.

The form of a name determines its class. ``mnemonics.txt`` lists the names that exist: the mnemonics that the assemblers
of LLVM 19 to 24 accept for any AMD GPU (written by ``validation/list_mnemonics.py``). An invented ``v_foo_bar`` is
therefore ``UNKNOWN`` although it looks like vector arithmetic.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kprof.inputs.amdgcn import memory_names
from kprof.inputs.amdgcn.counters import counters_of
from kprof.inputs.amdgcn.isa import Generation, InstructionClass, InstructionKind, MemorySpace, Opcode, generation_of

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
_TRANSCENDENTAL = ("exp", "log", "rcp", "rsq", "sqrt", "sin", "cos", "tanh")
_LANE = ("v_readlane", "v_readfirstlane", "v_writelane", "v_permlane", "v_screen_partition")
_NOPS = {"v_nop", "v_pipeflush", "v_clrexcp", "v_illegal"}


def classify(name: str) -> tuple[InstructionClass, InstructionKind]:
    """Return class and kind of a vector mnemonic without its encoding suffix."""
    stem = name[2:].removeprefix("s_")
    if stem.startswith(("smfmac_", "swmmac_")):
        return InstructionClass.MATRIX, InstructionKind.SPARSE
    if stem.startswith(("mfma_", "wmma_")):
        return InstructionClass.MATRIX, InstructionKind.SCALE if "_ld_scale" in stem else InstructionKind.DENSE
    return InstructionClass.VALU, _kind(name, stem)


def _kind(name: str, stem: str) -> InstructionKind:
    if name in _NOPS:
        return InstructionKind.NOP
    if name.startswith("v_dual_"):
        return InstructionKind.DUAL
    if name.startswith("v_accvgpr_"):
        return InstructionKind.ACC_COPY
    if name.startswith(_LANE):
        return InstructionKind.LANE
    if stem.partition("_")[0] in _TRANSCENDENTAL:
        return InstructionKind.TRANSCENDENTAL
    if stem.startswith(("cvt_", "sat_pk")):
        return InstructionKind.CONVERSION
    if stem.startswith("cmp"):
        return InstructionKind.COMPARE
    if stem.startswith("dot"):
        return InstructionKind.DOT
    if stem.startswith(("mov_", "swap", "movrel")):
        return InstructionKind.MOVE
    if stem.startswith("pk_"):
        return InstructionKind.MOVE if stem == "pk_mov_b32" else InstructionKind.PACKED
    return InstructionKind.INTERPOLATION if stem.startswith("interp_") else InstructionKind.PLAIN


_SUFFIXES = ("_e64_dpp", "_e32", "_e64", "_dpp", "_sdwa", "_dpp8", "_e64_dpp8")
_MEMORY_PREFIXES = (
    "buffer_",
    "tbuffer_",
    "global_",
    "flat_",
    "scratch_",
    "image_",
    "ds_",
    "cluster_",
    "tensor_",
    "lds_",
)


@dataclass(frozen=True)
class Shape:
    """Properties that the form of a mnemonic suggests, for any generation and even if the mnemonic does not exist."""

    cls: InstructionClass
    kind: InstructionKind = InstructionKind.PLAIN
    space: MemorySpace | None = None
    to_lds: bool = False
    bytes_per_lane: int | None = None
    parts: int = 1


@cache
def known_mnemonics() -> frozenset[str]:
    """Return all mnemonics that known assemblers accept, without encoding suffixes."""
    text = Path(__file__).with_name("mnemonics.txt").read_text("ascii")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def split_encoding(mnemonic: str) -> tuple[str, str]:
    """Split ``v_add_f32_e32`` into ``("v_add_f32", "e32")``; the second part is empty without a suffix."""
    if mnemonic.startswith("v_"):
        for suffix in _SUFFIXES:
            if mnemonic.endswith(suffix):
                return mnemonic[: -len(suffix)], suffix[1:]
    return mnemonic, ""


def shape_of(name: str) -> Shape:
    """Return class and kind suggested by the form of a name; class ``UNKNOWN`` if no AMD mnemonic has that form."""
    if name.startswith("v_"):
        return Shape(*classify(name))
    if name.startswith("s_"):
        cls, kind, space, size = _scalar(name)
        return Shape(cls, kind, space, bytes_per_lane=size)
    if name.startswith(_MEMORY_PREFIXES):
        return Shape(*memory_names.classify(name))
    if name in {"exp", "export"}:
        return Shape(InstructionClass.EXPORT)
    return Shape(InstructionClass.UNKNOWN)


@cache
def lookup_for(mnemonic: str, generation: Generation) -> Opcode:
    """Return the opcode of a mnemonic on a generation. Never fails: see :attr:`Opcode.known`."""
    name, encoding = split_encoding(mnemonic)
    known = name in known_mnemonics()
    shape = shape_of(name)
    memory = shape.space is not None
    atomic = memory and shape.kind is InstructionKind.ATOMIC
    load = memory and shape.kind in {InstructionKind.LOAD, InstructionKind.SAMPLE, InstructionKind.RAY}
    load = load or (shape.kind is InstructionKind.TENSOR and "load" in name)
    store = memory and (
        shape.kind is InstructionKind.STORE or (shape.kind is InstructionKind.TENSOR and "store" in name)
    )
    return Opcode(
        mnemonic=mnemonic,
        name=name,
        encoding=encoding,
        cls=shape.cls if known else InstructionClass.UNKNOWN,
        kind=shape.kind if known else InstructionKind.PLAIN,
        space=shape.space if known else None,
        is_load=load and known,
        is_store=store and known,
        is_atomic=atomic and known,
        to_lds=shape.to_lds and known,
        bytes_per_lane=shape.bytes_per_lane if known else None,
        parts=shape.parts,
        counters=counters_of(shape.cls, shape.kind, shape.space, name, generation) if known else (),
        known=known,
        likely=shape.cls,
        generation=generation,
    )


def lookup(mnemonic: str, arch: str) -> Opcode:
    """Return the opcode of a mnemonic on an architecture such as ``gfx942``. Never fails: see :attr:`Opcode.known`."""
    return lookup_for(mnemonic, generation_of(arch))


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


def _scalar(name: str) -> Answer:
    """Return class, kind, memory space and bytes of a scalar mnemonic."""
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
