"""Everything about one instruction that is worked out only when asked for."""

from collections.abc import Mapping

from kprof.inputs.amdgcn import operands, waits
from kprof.inputs.amdgcn.counters import returning_atomic
from kprof.inputs.amdgcn.effects import RegisterEffects, effects_of
from kprof.inputs.amdgcn.isa import InstructionClass, Opcode
from kprof.inputs.amdgcn.opcodes import lookup_for


class Detail:
    """Operands, modifiers, waits, counters and effects of one instruction, each computed once.

    Attributes:
        operands: operands in order; for a dual instruction those of both halves.
        modifiers: modifiers by name.
    """

    __slots__ = ("_effects", "_first", "_opcode", "_rest", "_second", "_waits", "modifiers", "operands")

    def __init__(self, opcode: Opcode, text: str) -> None:
        """Split the text; the rest waits until it is asked for."""
        self._opcode = opcode
        self._rest = text[len(opcode.mnemonic) :]
        self._effects: RegisterEffects | None = None
        self._waits: Mapping[str, int] | None = None
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

    @property
    def waits(self) -> Mapping[str, int]:
        """Decoded wait counts."""
        if self._waits is None:
            opcode = self._opcode
            is_wait = opcode.cls is InstructionClass.WAIT
            self._waits = waits.decode(opcode.name, self._rest, opcode.generation) if is_wait else {}
        return self._waits

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

    @property
    def effects(self) -> RegisterEffects:
        """Registers read and written."""
        if self._effects is None:
            effects = effects_of(self._opcode, self._first, self.modifiers, returns=self.returns)
            if self._second is not None:
                second = effects_of(self._second[0], self._second[1], self.modifiers, returns=False)
                effects = effects.and_those_of(second)
            self._effects = effects
        return self._effects
