"""Which registers an instruction reads and writes, implicit ones included."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kprof.inputs.amdgcn import memory_roles, scalar_roles, vector_roles
from kprof.inputs.amdgcn.isa import InstructionClass, Opcode
from kprof.inputs.amdgcn.operands import registers
from kprof.inputs.amdgcn.roles import Roles

_VECTOR = {InstructionClass.VALU, InstructionClass.MATRIX}
_MEMORY = {InstructionClass.VMEM, InstructionClass.SCRATCH, InstructionClass.LDS, InstructionClass.GDS}


@dataclass(frozen=True)
class Effects:
    """Registers touched by one instruction.

    Names are ``v0``, ``a0``, ``s0``, ``ttmp0``, ``vcc_lo``, ``vcc_hi``, ``exec_lo``, ``exec_hi``, ``m0``, ``scc``,
    ``flat_scratch_lo``, ``xnack_mask_lo`` ... A register that keeps part of its old value (16-bit loads
    into one half, ``v_writelane``) is both read and written. ``exec`` is not listed as read by vector instructions,
    because all of them read it.

    Attributes:
        reads: registers whose value is used.
        writes: registers whose value is changed.
    """

    reads: frozenset[str]
    writes: frozenset[str]


def roles_of(opcode: Opcode, operands: Sequence[str], modifiers: Mapping[str, str], *, returns: bool) -> Roles:
    """What each operand does. For an unknown mnemonic the first operand is taken to be written."""
    if opcode.cls in _VECTOR:
        return vector_roles.roles(opcode, operands, modifiers)
    if opcode.cls in _MEMORY:
        return memory_roles.roles(opcode, operands, modifiers, returns=returns)
    if opcode.cls is InstructionClass.EXPORT:
        return Roles()
    if opcode.cls is InstructionClass.UNKNOWN:
        return Roles(destinations=1)
    return scalar_roles.roles(opcode, operands, returns=returns)


_PACKED_PAIRS = frozenset({"v_pk_fma_f32", "v_pk_mul_f32", "v_pk_add_f32"})


def _selected(names: tuple[str, ...], source: int, modifiers: Mapping[str, str]) -> tuple[str, ...]:
    """Of a register pair with two 32-bit floats those that ``op_sel`` and ``op_sel_hi`` pick for the two results."""
    if len(names) != 2:
        return names
    picked = set()
    for name, default in (("op_sel", "0"), ("op_sel_hi", "1")):
        bits = modifiers.get(name, "").strip("[]").split(",")
        bit = bits[source].strip() if source < len(bits) and bits[source].strip() else default
        picked.add(bit == "1")
    return tuple(name for name, high in zip(names, (False, True), strict=True) if high in picked)


def effects_of(opcode: Opcode, operands: Sequence[str], modifiers: Mapping[str, str], *, returns: bool) -> Effects:
    """Registers read and written by one instruction (one half of a dual one)."""
    roles = roles_of(opcode, operands, modifiers, returns=returns)
    reads = set(roles.reads)
    writes = set(roles.writes)
    for position, operand in enumerate(operands):
        names = registers(operand)
        if not names:
            continue
        if position < roles.destinations:
            writes.update(names)
            if roles.keeps or operand.endswith((".l", ".h")):
                reads.update(names)
            continue
        if opcode.name in _PACKED_PAIRS:
            names = _selected(names, position - roles.destinations, modifiers)
        reads.update(names)
        if position in roles.swapped:
            writes.update(names)
        elif position in roles.half_written:
            writes.update(names[: len(names) // 2])
    return Effects(frozenset(reads), frozenset(writes))
