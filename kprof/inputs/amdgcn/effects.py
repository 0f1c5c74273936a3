"""Determine the registers that an instruction reads and writes, including registers that its operands do not name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from kprof.inputs.amdgcn.isa import Generation, InstructionClass, InstructionKind, MemorySpace, Opcode
from kprof.inputs.amdgcn.operands import registers

EXEC = ("exec_lo", "exec_hi")
VCC = ("vcc_lo", "vcc_hi")


@dataclass(frozen=True)
class Roles:
    """Roles of an instruction's operands, and the registers that it uses implicitly.

    Attributes:
        destinations: number of leading operands that are written.
        keeps: whether the destinations keep part of their old value and are therefore also read.
        reads: registers that are read although no operand names them.
        writes: registers that are written although no operand names them.
        swapped: positions of operands that are read and written but are not among the destinations.
        half_written: positions of operands of which only the lower half is written (compare-and-swap data).
    """

    destinations: int = 0
    keeps: bool = False
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    swapped: tuple[int, ...] = ()
    half_written: tuple[int, ...] = ()


_KEEPS = re.compile(
    r"v_(?:dual_)?(?:fmac_|mac_|pk_fmac|dot\d+c_|dot\d+acc|writelane|mad_mix(?:lo|hi)|fma_mix(?:lo|hi)|smfmac|swmmac"
    r"|permlanex?16_b32|permlanex?16_var|interp_p2_f32"
    r"|cvt_(?:scalef32_)?(?:sr_)?(?:pk_)?(?:fp8|bf8|fp4)_)"
)
_TWO_RESULTS = re.compile(
    r"v_(?:(?:add|sub|subrev)c?b?(?:_co|_co_ci)?_u32|subbrev|addc|subb|mad_(?:co_)?[iu]64|div_scale)"
)
_SWAPS = re.compile(r"v_(?:swap_|swaprel_|permlane\d+_swap)")
_NO_RESULT = {"v_nop", "v_pipeflush", "v_clrexcp", "v_illegal"}
_COMPARE = InstructionKind.COMPARE
_BOTH_SWAPPED = Roles(swapped=(0, 1))
_CARRY_IN = ("s_addc_u32", "s_subb_u32", "s_add_co_ci_u32", "s_sub_co_ci_u32")
_NO_SCC = re.compile(
    r"s_(?:mov|cmov|cselect|bfm|mul_|mulk|ff[01]_|flbit|clz|ctz|cls_|brev|sext|bitset|getpc|get_pc|movrel|pack_|cvt_"
    r"|bitreplicate|getreg|fmac_|fmaa|fmam|ceil|floor|rndne|trunc|minimum|maximum|[a-z]+_f(?:16|32)$|m(?:in|ax)_num"
    r"|[a-z]+_nc_u64|get_barrier|get_shader)"
)
_SCALAR_KEEPS = re.compile(r"s_(?:cmov|addk|mulk|bitset|fmac_|movreld)")
_READS_SCC = ("s_cselect", "s_cmov", "s_cbranch_scc", *_CARRY_IN)
_LANE_RESULT = {"ds_append", "ds_consume", "ds_ordered_count"}
_VALU, _MATRIX = InstructionClass.VALU, InstructionClass.MATRIX
_MEMORY = (InstructionClass.VMEM, InstructionClass.SCRATCH, InstructionClass.LDS, InstructionClass.GDS)
_EXPORT, _UNKNOWN = InstructionClass.EXPORT, InstructionClass.UNKNOWN
_NOTHING = Roles()
_FIRST = Roles(destinations=1)

Group = tuple[str, ...]


class RegisterEffects:
    """Registers touched by one instruction.

    Register names are ``v0``, ``a0``, ``s0``, ``ttmp0``, ``vcc_lo``, ``vcc_hi``, ``exec_lo``, ``exec_hi``, ``m0``,
    ``scc``, ``flat_scratch_lo``, ``xnack_mask_lo`` and so on. A register that keeps part of its old value (16-bit loads
    into one half, ``v_writelane``) is both read and written. ``exec`` is not listed as read by vector instructions,
    because all of them read it.

    Attributes:
        read_groups: registers whose value is used, one group per operand; a register may occur in several groups.
        write_groups: registers whose value is changed, one group per operand.
    """

    __slots__ = ("_reads", "_writes", "read_groups", "write_groups")

    def __init__(self, read_groups: Sequence[Group], write_groups: Sequence[Group]) -> None:
        """Store the groups; :attr:`reads` and :attr:`writes` are built from them on first use."""
        self.read_groups = read_groups
        self.write_groups = write_groups
        self._reads: frozenset[str] | None = None
        self._writes: frozenset[str] | None = None

    @property
    def reads(self) -> frozenset[str]:
        """Registers whose value is used."""
        if self._reads is None:
            self._reads = frozenset().union(*self.read_groups)
        return self._reads

    @property
    def writes(self) -> frozenset[str]:
        """Registers whose value is changed."""
        if self._writes is None:
            self._writes = frozenset().union(*self.write_groups)
        return self._writes

    def and_those_of(self, other: "RegisterEffects") -> "RegisterEffects":
        """Return the combined effects of this half and the other half of a dual instruction."""
        return RegisterEffects([*self.read_groups, *other.read_groups], [*self.write_groups, *other.write_groups])


def roles_of(opcode: Opcode, operands: Sequence[str], modifiers: Mapping[str, str], *, returns: bool) -> Roles:
    """Return the roles of an instruction's operands. An unknown mnemonic is assumed to write its first operand."""
    cls = opcode.cls
    # The classes are compared one by one, because set membership would hash an Enum, which takes longer.
    if cls is _VALU or cls is _MATRIX:
        return _vector_roles(opcode, operands, modifiers)
    if cls in _MEMORY:
        return _memory_roles(opcode, operands, modifiers, returns=returns)
    if cls is _EXPORT:
        return _NOTHING
    if cls is _UNKNOWN:
        return _FIRST
    return _scalar_roles(opcode, operands, returns=returns)


_PACKED_PAIRS = frozenset({"v_pk_fma_f32", "v_pk_mul_f32", "v_pk_add_f32"})


def _selected(names: tuple[str, ...], source: int, modifiers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the registers of a float32 pair that ``op_sel`` and ``op_sel_hi`` select for one source operand.

    An operand that is no pair is returned unchanged.
    """
    if len(names) != 2:
        return names
    picked = set()
    for name, default in (("op_sel", "0"), ("op_sel_hi", "1")):
        bits = modifiers.get(name, "").strip("[]").split(",")
        bit = bits[source].strip() if source < len(bits) and bits[source].strip() else default
        picked.add(bit == "1")
    return tuple(name for name, high in zip(names, (False, True), strict=True) if high in picked)


def effects_of(
    opcode: Opcode, operands: Sequence[str], modifiers: Mapping[str, str], *, returns: bool
) -> RegisterEffects:
    """Return the registers read and written by one instruction, or by one half of a dual instruction."""
    roles = roles_of(opcode, operands, modifiers, returns=returns)
    destinations = roles.destinations
    reads: list[Group] = [roles.reads] if roles.reads else []
    writes: list[Group] = [roles.writes] if roles.writes else []
    packed = opcode.name in _PACKED_PAIRS
    for position, operand in enumerate(operands):
        names = registers(operand)
        if not names:
            continue
        if position < destinations:
            writes.append(names)
            if roles.keeps or operand[-2:] in {".l", ".h"}:
                reads.append(names)
            continue
        if packed:
            names = _selected(names, position - destinations, modifiers)
        reads.append(names)
        if position in roles.swapped:
            writes.append(names)
        elif position in roles.half_written:
            writes.append(names[: len(names) // 2])
    return RegisterEffects(reads, writes)


def _atomic(opcode: Opcode, *, returns: bool) -> Roles:
    if not returns:
        return Roles()
    if opcode.space in {MemorySpace.BUFFER, MemorySpace.IMAGE}:
        # The data register also receives the result. For compare-and-swap, only its first half does.
        return Roles(half_written=(0,)) if "cmpswap" in opcode.name else Roles(swapped=(0,))
    return Roles(1)


def _lds(opcode: Opcode) -> Roles:
    name = opcode.name
    if opcode.kind is InstructionKind.RAY:
        return Roles(1, swapped=(1,))
    if opcode.kind is InstructionKind.PERMUTE:
        return Roles(1)
    reads = ("m0",) if "addtid" in name or name in _LANE_RESULT or name.endswith(("direct_load", "param_load")) else ()
    result = opcode.is_load or "_rtn" in name or name in _LANE_RESULT
    return Roles(1 if result else 0, keeps="_d16" in name, reads=reads)


def _memory_roles(opcode: Opcode, operands: Sequence[str], modifiers: Mapping[str, str], *, returns: bool) -> Roles:
    """Return the operand roles of one vector memory or LDS instruction."""
    if opcode.cls in {InstructionClass.LDS, InstructionClass.GDS}:
        return _lds(opcode)
    if opcode.is_atomic:
        return _atomic(opcode, returns=returns)
    if not opcode.is_load or opcode.kind is InstructionKind.TENSOR:
        return Roles()
    if opcode.to_lds or "lds" in modifiers:
        return Roles() if "_async_" in opcode.name else Roles(reads=("m0",))
    reads = ("m0",) if opcode.name.endswith("_block") else ()
    partial = "d16" in opcode.name and "format" not in opcode.name
    partial = partial or opcode.name[-12:] == "d16_format_x" or "_d16_hi" in opcode.name
    return Roles(min(1, len(operands)), keeps=partial or "tfe" in modifiers, reads=reads)


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
    return Roles(1, keeps=_SCALAR_KEEPS.match(name) is not None, reads=reads, writes=writes)


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


def _scalar_roles(opcode: Opcode, operands: Sequence[str], *, returns: bool) -> Roles:
    """Return the operand roles of one scalar instruction."""
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


class _Named(NamedTuple):
    """Facts that follow from the mnemonic alone, cached per mnemonic because kernels repeat few mnemonics.

    Attributes:
        fixed: the roles, if they are the same for all operands and modifiers; else ``None``.
        dual_mask: whether the instruction is a dual select (``v_dual_cndmask``), whose short form reads VCC.
        division: whether the instruction is ``v_div_fmas``, which reads VCC.
        base: whether the instruction reads M0.
        two_results: whether the instruction may write a mask besides its result.
        keeps: whether the instruction keeps part of the destination's old value.
    """

    fixed: Roles | None = None
    dual_mask: bool = False
    division: bool = False
    base: bool = False
    two_results: bool = False
    keeps: bool = False


@cache
def _facts_of_mnemonic(name: str) -> _Named:
    if name in _NO_RESULT or "_ld_scale" in name:
        return _Named(_NOTHING)
    if _SWAPS.match(name):
        return _Named(_BOTH_SWAPPED)
    return _Named(
        dual_mask=name.startswith("v_dual_cndmask"),
        division=name.startswith("v_div_fmas"),
        base=name.startswith(("v_movrel", "v_interp_")),
        two_results=_TWO_RESULTS.match(name) is not None,
        keeps=_KEEPS.match(name) is not None,
    )


@cache
def _shared(destinations: int, keeps: bool, reads: tuple[str, ...]) -> Roles:
    return Roles(destinations, keeps=keeps, reads=reads)


def _is_mask(operand: str) -> bool:
    """Return whether an operand can hold a lane mask: an SGPR, VCC, or ``null``."""
    names = registers(operand)
    return operand == "null" or (bool(names) and names[0][0] not in "va") or operand.startswith("vcc")


def _dpp_keeps(modifiers: Mapping[str, str]) -> bool:
    """Return whether DPP may leave some lanes of the destination unchanged."""
    masks = (modifiers.get("row_mask", "0xf"), modifiers.get("bank_mask", "0xf"))
    return "dpp8" not in modifiers and (masks != ("0xf", "0xf") or "bound_ctrl" not in modifiers)


def _compare(name: str, operands: Sequence[str]) -> Roles:
    exec_written = EXEC if name.startswith(("v_cmpx", "v_cmpsx")) else ()
    # Since gfx10, v_cmpx has no destination operand and writes only EXEC.
    return Roles(1 if len(operands) > 2 else 0, writes=exec_written)


def _vector_roles(opcode: Opcode, operands: Sequence[str], modifiers: Mapping[str, str]) -> Roles:
    """Return the operand roles of one VALU or matrix instruction."""
    if opcode.kind is _COMPARE:
        return _compare(opcode.name, operands)
    named = _facts_of_mnemonic(opcode.name)
    if named.fixed is not None:
        return named.fixed
    reads: tuple[str, ...] = ()
    if named.dual_mask and len(operands) == 3:
        reads = VCC[:1]  # Dual instructions exist only in wave32, where a mask has 32 bits.
    elif named.division:
        reads = VCC[:1] if opcode.generation is Generation.GFX1250 else VCC
    elif named.base:
        reads = ("m0",)
    destinations = 2 if named.two_results and len(operands) > 3 and _is_mask(operands[1]) else 1
    keeps = named.keeps
    if modifiers and not keeps and opcode.cls is _VALU:
        keeps = modifiers.get("dst_unused") == "UNUSED_PRESERVE"
    if not keeps and "dpp" in opcode.encoding and opcode.cls is _VALU:
        keeps = _dpp_keeps(modifiers)
    return _shared(destinations, keeps, reads)
