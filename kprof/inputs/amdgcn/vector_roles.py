"""Operand roles of vector arithmetic and matrix instructions."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from kprof.inputs.amdgcn.isa import Generation, InstructionClass, InstructionKind, Opcode
from kprof.inputs.amdgcn.operands import registers
from kprof.inputs.amdgcn.roles import EXEC, VCC, Roles

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
_VALU = InstructionClass.VALU
_NO_ROLES = Roles()
_BOTH_SWAPPED = Roles(swapped=(0, 1))


class _Named(NamedTuple):
    """What the name alone says; asked once for each name, because most instructions share few names.

    Attributes:
        fixed: the roles, where operands and modifiers cannot change them.
        dual_mask: a dual select, which reads VCC in its short form.
        division: reads VCC.
        base: reads M0.
        two_results: may write a mask besides its result.
        keeps: keeps part of the old value.
    """

    fixed: Roles | None = None
    dual_mask: bool = False
    division: bool = False
    base: bool = False
    two_results: bool = False
    keeps: bool = False


@cache
def _named(name: str) -> _Named:
    if name in _NO_RESULT or "_ld_scale" in name:
        return _Named(_NO_ROLES)
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
    """Whether an operand can hold a lane mask: an SGPR, VCC, or ``null``."""
    names = registers(operand)
    return operand == "null" or (bool(names) and names[0][0] not in "va") or operand.startswith("vcc")


def _dpp_keeps(modifiers: Mapping[str, str]) -> bool:
    """Whether DPP may leave lanes of the destination as they were."""
    masks = (modifiers.get("row_mask", "0xf"), modifiers.get("bank_mask", "0xf"))
    return "dpp8" not in modifiers and (masks != ("0xf", "0xf") or "bound_ctrl" not in modifiers)


def _compare(name: str, operands: Sequence[str]) -> Roles:
    exec_written = EXEC if name.startswith(("v_cmpx", "v_cmpsx")) else ()
    # From gfx10 on v_cmpx names no destination: it writes only EXEC.
    return Roles(1 if len(operands) > 2 else 0, writes=exec_written)


def roles(opcode: Opcode, operands: Sequence[str], modifiers: Mapping[str, str]) -> Roles:
    """Operand roles of one VALU or matrix instruction."""
    if opcode.kind is _COMPARE:
        return _compare(opcode.name, operands)
    named = _named(opcode.name)
    if named.fixed is not None:
        return named.fixed
    reads: tuple[str, ...] = ()
    if named.dual_mask and len(operands) == 3:
        reads = VCC[:1]  # dual instructions exist in wave32 only
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
