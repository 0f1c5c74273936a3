"""Operand roles of vector memory, scratch, LDS and GDS instructions."""

from collections.abc import Mapping, Sequence

from kprof.inputs.amdgcn.isa import InstructionClass, InstructionKind, MemorySpace, Opcode
from kprof.inputs.amdgcn.roles import Roles

_LANE_RESULT = {"ds_append", "ds_consume", "ds_ordered_count"}


def _atomic(opcode: Opcode, *, returns: bool) -> Roles:
    if not returns:
        return Roles()
    if opcode.space in {MemorySpace.BUFFER, MemorySpace.IMAGE}:
        # The data register doubles as the result; of compare-and-swap data only the first half.
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


def roles(opcode: Opcode, operands: Sequence[str], modifiers: Mapping[str, str], *, returns: bool) -> Roles:
    """Operand roles of one vector memory or LDS instruction."""
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
