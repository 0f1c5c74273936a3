"""Operand roles of vector arithmetic and matrix instructions."""

import re
from collections.abc import Mapping, Sequence

from kprof.inputs.amdgcn.isa import Generation, InstructionClass, Kind, Opcode
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
    name = opcode.name
    if opcode.kind is Kind.COMPARE:
        return _compare(name, operands)
    if name in _NO_RESULT or "_ld_scale" in name:
        return Roles()
    if _SWAPS.match(name):
        return Roles(swapped=(0, 1))
    reads: tuple[str, ...] = ()
    if name.startswith("v_dual_cndmask") and len(operands) == 3:
        reads = VCC[:1]  # dual instructions exist in wave32 only
    elif name.startswith("v_div_fmas"):
        reads = VCC[:1] if opcode.generation is Generation.GFX1250 else VCC
    elif name.startswith(("v_movrel", "v_interp_")):
        reads = ("m0",)
    destinations = 1
    if len(operands) > 1 and _TWO_RESULTS.match(name) and _is_mask(operands[1]) and len(operands) > 3:
        destinations = 2
    keeps = _KEEPS.match(name) is not None
    if opcode.cls is InstructionClass.VALU and not keeps:
        preserved = modifiers.get("dst_unused") == "UNUSED_PRESERVE"
        keeps = preserved or ("dpp" in opcode.encoding and _dpp_keeps(modifiers))
    return Roles(destinations, keeps=keeps, reads=reads)
