"""Everything about one instruction that is worked out only when asked for."""

from collections.abc import Mapping
from functools import cached_property

from kprof.inputs.amdgcn import operands, waits
from kprof.inputs.amdgcn.counters import returning_atomic
from kprof.inputs.amdgcn.effects import Effects, effects_of
from kprof.inputs.amdgcn.isa import InstructionClass, Opcode
from kprof.inputs.amdgcn.opcodes import lookup_for


class Detail:
    """Operands, modifiers, waits, counters and effects of one instruction, each computed once.

    Attributes:
        operands: operands in order; for a dual instruction those of both halves.
        modifiers: modifiers by name.
    """

    def __init__(self, opcode: Opcode, text: str) -> None:
        """Split the text; the rest waits until it is asked for."""
        self._opcode = opcode
        self._rest = text[len(opcode.mnemonic) :]
        first, dual, second = self._rest.partition("::")
        self.operands, self.modifiers = operands.split(first)
        self._first = self.operands
        self._second: tuple[Opcode, tuple[str, ...]] | None = None
        if dual:
            words = second.split(None, 1)
            other = lookup_for(words[0] if words else "", opcode.generation)
            self._second = (other, operands.split(words[1] if len(words) > 1 else "")[0])
            self.operands += self._second[1]

    @property
    def halves(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Mnemonic and operands of each half of a dual instruction; one entry for others."""
        first = (self._opcode.name, self._first)
        return (first, (self._second[0].name, self._second[1])) if self._second else (first,)

    @cached_property
    def waits(self) -> Mapping[str, int]:
        """Decoded wait counts."""
        if self._opcode.cls is not InstructionClass.WAIT:
            return {}
        return waits.decode(self._opcode.name, self._rest, self._opcode.generation)

    @property
    def returns(self) -> bool:
        """An atomic that returns the old value."""
        if not self._opcode.is_atomic:
            return False
        if self._opcode.cls in {InstructionClass.LDS, InstructionClass.GDS}:
            name = self._opcode.name
            return "_rtn" in name or name in {"ds_append", "ds_consume", "ds_ordered_count"}
        if "RETURN" in self.modifiers.get("th", ""):
            return True
        return "glc" in self.modifiers or "sc0" in self.modifiers

    @property
    def counters(self) -> tuple[str, ...]:
        """Wait counters incremented, modifiers considered."""
        counters = self._opcode.counters
        if self._opcode.is_atomic and self.returns:
            return returning_atomic(counters)
        if self._opcode.cls is InstructionClass.LDS and "gds" in self.modifiers and "lgkmcnt" in counters:
            return (*counters, "expcnt")
        return counters

    @cached_property
    def effects(self) -> Effects:
        """Registers read and written."""
        effects = effects_of(self._opcode, self._first, self.modifiers, returns=self.returns)
        if self._second is None:
            return effects
        second = effects_of(self._second[0], self._second[1], self.modifiers, returns=False)
        return Effects([*effects.read_groups, *second.read_groups], [*effects.write_groups, *second.write_groups])
