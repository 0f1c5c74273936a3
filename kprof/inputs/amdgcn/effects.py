"""Which registers an instruction reads and writes, implicit ones included."""

from collections.abc import Mapping, Sequence

from kprof.inputs.amdgcn import memory_roles, scalar_roles, vector_roles
from kprof.inputs.amdgcn.isa import InstructionClass, Opcode
from kprof.inputs.amdgcn.operands import registers
from kprof.inputs.amdgcn.roles import Roles

_VALU, _MATRIX = InstructionClass.VALU, InstructionClass.MATRIX
_MEMORY = (InstructionClass.VMEM, InstructionClass.SCRATCH, InstructionClass.LDS, InstructionClass.GDS)
_EXPORT, _UNKNOWN = InstructionClass.EXPORT, InstructionClass.UNKNOWN
_NOTHING = Roles()
_FIRST = Roles(destinations=1)

Group = tuple[str, ...]


class RegisterEffects:
    """Registers touched by one instruction.

    Names are ``v0``, ``a0``, ``s0``, ``ttmp0``, ``vcc_lo``, ``vcc_hi``, ``exec_lo``, ``exec_hi``, ``m0``, ``scc``,
    ``flat_scratch_lo``, ``xnack_mask_lo`` ... A register that keeps part of its old value (16-bit loads
    into one half, ``v_writelane``) is both read and written. ``exec`` is not listed as read by vector instructions,
    because all of them read it.

    Attributes:
        read_groups: registers whose value is used, operand by operand; one may occur twice.
        write_groups: registers whose value is changed, likewise.
    """

    __slots__ = ("_reads", "_writes", "read_groups", "write_groups")

    def __init__(self, read_groups: Sequence[Group], write_groups: Sequence[Group]) -> None:
        """Keep the groups; the sets are made when asked for."""
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
        """Effects of two halves of one instruction."""
        return RegisterEffects([*self.read_groups, *other.read_groups], [*self.write_groups, *other.write_groups])


def roles_of(opcode: Opcode, operands: Sequence[str], modifiers: Mapping[str, str], *, returns: bool) -> Roles:
    """What each operand does. For an unknown mnemonic the first operand is taken to be written."""
    cls = opcode.cls
    # Compared one by one: a set would call the hash of an Enum, which costs more than the comparisons.
    if cls is _VALU or cls is _MATRIX:
        return vector_roles.roles(opcode, operands, modifiers)
    if cls in _MEMORY:
        return memory_roles.roles(opcode, operands, modifiers, returns=returns)
    if cls is _EXPORT:
        return _NOTHING
    if cls is _UNKNOWN:
        return _FIRST
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


def effects_of(
    opcode: Opcode, operands: Sequence[str], modifiers: Mapping[str, str], *, returns: bool
) -> RegisterEffects:
    """Registers read and written by one instruction (one half of a dual one)."""
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
