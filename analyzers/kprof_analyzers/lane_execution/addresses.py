"""Compute the addresses that a lane's loads and stores access."""

from kprof.inputs.amdgcn import Instruction
from kprof.inputs.amdgcn.instruction import number
from kprof.inputs.amdgcn.operands import registers
from kprof_analyzers.lane_execution.arithmetic import Number, Source, State, source_of, unknown_of

_POINTER = (1 << 48) - 1
"""Mask of the 48 address bits in a buffer's descriptor; the bits above them hold the stride."""


def address_operands(instruction: Instruction) -> tuple[str, ...]:
    """Return the operands of a load or store as assembly text, without the data operand."""
    operands, opcode = instruction.operands, instruction.opcode
    if instruction.to_lds:
        return operands
    data = 1 if opcode.is_store and not opcode.name.startswith("buffer_") else 0
    return tuple(operand for n, operand in enumerate(operands) if n != data)


def address_of(instruction: Instruction) -> Source | None:
    """Return a function that computes the address of a buffer or global access; ``None`` for other addresses."""
    name, modifiers = instruction.opcode.name, instruction.modifiers
    operands, offset = address_operands(instruction), number(modifiers.get("offset", "0"))
    if offset is None or "idxen" in modifiers:
        return None
    if name.startswith("buffer_") and len(operands) == 3:
        own, base, more = operands
        parts = [_base(base), source_of(more, 32), *([source_of(own, 32)] if "offen" in modifiers else [])]
    elif name.startswith("global_") and len(operands) == 2:
        own, base = operands
        parts = [source_of(own, 64)] if base == "off" else [source_of(base, 64), source_of(own, 32)]
    else:
        return None
    known = [part for part in parts if part is not None]
    if len(known) != len(parts):
        return None
    fixed = offset

    def address(state: State) -> Number:
        values = [part(state) for part in known]
        missing = unknown_of(values)
        return fixed + sum(value for value in values if isinstance(value, int)) if missing is None else missing

    return address


def _base(descriptor: str) -> Source | None:
    """Return a function that reads the base address from a buffer's descriptor; ``None`` if it is not in registers."""
    pair = source_of(descriptor, 64)
    if pair is None or not registers(descriptor):
        return None

    def base(state: State) -> Number:
        value = pair(state)
        return value & _POINTER if isinstance(value, int) else value

    return base
