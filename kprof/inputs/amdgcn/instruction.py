"""Decode one instruction: its operands, registers, source location and wait counts.

Operands, registers and source frames are computed on first use, so that reading a long file is fast.

The bit fields of ``S_WAITCNT`` follow the AMD ISA guides (chapter on SOPP instructions) for each generation; the test
suite compares them with an assembler. A field with its maximum value waits for nothing and is left out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from kprof.inputs.amdgcn import operands
from kprof.inputs.amdgcn.counters import returning_atomic
from kprof.inputs.amdgcn.effects import RegisterEffects, effects_of
from kprof.inputs.amdgcn.isa import Generation, InstructionClass, Opcode
from kprof.inputs.amdgcn.opcodes import lookup_for

Field = tuple[str, tuple[tuple[int, int], ...]]
"""Counter name and its bit ranges as (lowest bit, width), least significant part first."""
_S_WAITCNT: Mapping[Generation, tuple[Field, ...]] = {
    Generation.GFX8: (("vmcnt", ((0, 4),)), ("expcnt", ((4, 3),)), ("lgkmcnt", ((8, 4),))),
    Generation.GFX9: (("vmcnt", ((0, 4), (14, 2))), ("expcnt", ((4, 3),)), ("lgkmcnt", ((8, 4),))),
    Generation.GFX10: (("vmcnt", ((0, 4), (14, 2))), ("expcnt", ((4, 3),)), ("lgkmcnt", ((8, 6),))),
    Generation.GFX11: (("vmcnt", ((10, 6),)), ("expcnt", ((0, 3),)), ("lgkmcnt", ((4, 6),))),
}
_DEPCTR: tuple[Field, ...] = (
    ("va_vdst", ((12, 4),)),
    ("va_sdst", ((9, 3),)),
    ("va_ssrc", ((8, 1),)),
    ("hold_cnt", ((7, 1),)),
    ("vm_vsrc", ((2, 3),)),
    ("va_vcc", ((1, 1),)),
    ("sa_sdst", ((0, 1),)),
)
_COMBINED: Mapping[str, tuple[Field, ...]] = {
    "s_wait_loadcnt_dscnt": (("loadcnt", ((8, 6),)), ("dscnt", ((0, 6),))),
    "s_wait_storecnt_dscnt": (("storecnt", ((8, 6),)), ("dscnt", ((0, 6),))),
}
_CALL = re.compile(r"(\w+)\(\s*(0x[0-9a-fA-F]{1,8}|\d{1,9})\s*\)")


class Detail:
    """Operands, modifiers, waits, counters and effects of one instruction; each is computed once.

    Attributes:
        operands: operands in order; a dual instruction lists the operands of its first half, then of its second.
        modifiers: modifiers by name.
    """

    __slots__ = ("_effects", "_first", "_opcode", "_rest", "_second", "_waits", "modifiers", "operands")

    def __init__(self, opcode: Opcode, text: str) -> None:
        """Split the text into operands and modifiers; all other properties are computed on first use."""
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
        """Mnemonic and operands of each half of a dual instruction; a single entry for other instructions."""
        first = (self._opcode.name, self._first)
        return (first, (self._second[0].name, self._second[1])) if self._second else (first,)

    @property
    def waits(self) -> Mapping[str, int]:
        """Decoded wait counts."""
        if self._waits is None:
            opcode = self._opcode
            is_wait = opcode.cls is InstructionClass.WAIT
            self._waits = decode(opcode.name, self._rest, opcode.generation) if is_wait else {}
        return self._waits

    @property
    def returns(self) -> bool:
        """Whether the instruction is an atomic that returns the old value."""
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
        """Wait counters that the instruction increments, taking modifiers into account."""
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


@dataclass(frozen=True)
class AssemblyFrame:
    """One source position of an instruction.

    Attributes:
        file: path, with its directory if the assembly contains it.
        line: 1-based line; 0 if the compiler recorded no line.
        column: 1-based column, 0 when unknown.
        in_library: whether the file belongs to Triton itself or to the HIP headers.
    """

    file: str
    line: int
    column: int = 0
    in_library: bool = False


class LazyLocation(Protocol):
    """A ``.loc`` directive that is resolved on first use."""

    @property
    def frames(self) -> tuple[AssemblyFrame, ...]:
        """The innermost frame, followed by the call sites at which it was inlined."""
        ...


class Instruction:
    """One instruction of a kernel or function.

    Attributes:
        index: position in :attr:`AssemblyKernel.instructions`.
        line: 1-based line in the assembly.
        text: the instruction without comment, as written.
        comment: the compiler's comment on the same line, or an empty string.
        opcode: facts shared by all instructions with this mnemonic.
        source: the last ``.loc`` directive before the instruction; ``None`` without debug information.
    """

    __slots__ = ("_detail", "comment", "index", "line", "opcode", "source", "text")

    def __init__(  # noqa: PLR0917 - called once a line, where keywords cost time
        self, index: int, line: int, text: str, comment: str, opcode: Opcode, source: LazyLocation | None
    ) -> None:
        """Store the fields; nothing is decoded yet."""
        self.index = index
        self.line = line
        self.text = text
        self.comment = comment
        self.opcode = opcode
        self.source = source
        self._detail: Detail | None = None

    def __repr__(self) -> str:
        """Return text such as ``<Instruction 12 line 80: s_endpgm>``."""
        return f"<Instruction {self.index} line {self.line}: {self.text}>"

    @property
    def mnemonic(self) -> str:
        """The mnemonic as written, with its encoding suffix."""
        return self.opcode.mnemonic

    def rewrite(self, text: str) -> None:
        """Replace the instruction's text with a more detailed text, and discard the values decoded from the old one."""
        self.text = text
        self._detail = None

    @property
    def detail(self) -> Detail:
        """The decoded form; it is computed on first use."""
        if self._detail is None:
            self._detail = Detail(self.opcode, self.text)
        return self._detail

    @property
    def operands(self) -> tuple[str, ...]:
        """Operands in the order written, such as ``("v0", "v[2:3]", "off")``, without modifiers.

        A dual instruction lists the operands of its first half, then those of its second half: see :attr:`halves`.
        """
        return self.detail.operands

    @property
    def halves(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Mnemonic and operands of each half of a dual instruction; a single entry for other instructions."""
        return self.detail.halves

    @property
    def modifiers(self) -> Mapping[str, str]:
        """Modifiers by name: ``{"offset": "1024", "glc": ""}``."""
        return self.detail.modifiers

    @property
    def waits(self) -> Mapping[str, int]:
        """Wait counts of a wait instruction: counter name to the count that may remain outstanding.

        Counters on which the instruction does not wait are absent. The mapping is empty for other classes.
        """
        return self.detail.waits

    @property
    def counters(self) -> tuple[str, ...]:
        """Wait counters that this instruction increments, taking modifiers into account."""
        if not self.opcode.counters and not self.opcode.is_atomic:
            return ()
        return self.detail.counters

    @property
    def to_lds(self) -> bool:
        """Whether the mnemonic or the ``lds`` modifier says that it moves data between memory and LDS directly."""
        return self.opcode.to_lds or (self.opcode.cls is InstructionClass.VMEM and "lds" in self.modifiers)

    @property
    def returns(self) -> bool:
        """Whether the instruction is an atomic that returns the old value."""
        return self.detail.returns

    @property
    def effects(self) -> RegisterEffects:
        """Registers read and written, including implicit ones."""
        return self.detail.effects

    @property
    def spill(self) -> str | None:
        """``store`` or ``reload`` if the compiler's comment marks a register spill, else ``None``."""
        if "Folded Spill" in self.comment:
            return "store"
        return "reload" if "Folded Reload" in self.comment else None

    @property
    def target(self) -> str | None:
        """Label that a branch or call names; ``None`` for other instructions and for jumps through a register."""
        if self.opcode.cls is not InstructionClass.BRANCH or not self.operands:
            return None
        last = self.operands[-1]
        return None if last.startswith(("s[", "ttmp[", "vcc")) else last

    @property
    def location(self) -> tuple[AssemblyFrame, ...]:
        """Source frames of the instruction: the innermost frame first, then the sites at which it was inlined."""
        return self.source.frames if self.source is not None else ()

    @property
    def user_frame(self) -> AssemblyFrame | None:
        """First frame with a line that lies outside Triton's library and the HIP headers, or ``None``."""
        return next((f for f in self.location if f.line and not f.in_library), None)


_SINGLE: Mapping[str, str] = {
    "s_waitcnt_vscnt": "vscnt",
    "s_waitcnt_vmcnt": "vmcnt",
    "s_waitcnt_expcnt": "expcnt",
    "s_waitcnt_lgkmcnt": "lgkmcnt",
    **{f"s_wait_{c}": c for c in ("loadcnt", "storecnt", "samplecnt", "bvhcnt", "dscnt", "kmcnt", "expcnt")},
    **{f"s_wait_{c}": c for c in ("xcnt", "asynccnt", "tensorcnt")},
}


def number(text: str) -> int | None:
    """Return the value of a decimal or hexadecimal literal, or ``None`` for any other text."""
    text = text.strip()
    negative = text.startswith("-")
    digits = text[1:] if negative else text
    try:
        value = int(digits, 16) if digits[:2] in {"0x", "0X"} else int(digits)
    except ValueError:
        return None
    return -value if negative else value


def _fields(value: int, fields: tuple[Field, ...]) -> dict[str, int]:
    waits = {}
    for name, ranges in fields:
        count, width = 0, 0
        for low, bits in ranges:
            count |= (value >> low & (1 << bits) - 1) << width
            width += bits
        if count != (1 << width) - 1:
            waits[name] = count
    return waits


def decode(name: str, text: str, generation: Generation) -> dict[str, int]:
    """Return the count that may remain outstanding for each counter of a wait instruction.

    Args:
        name: mnemonic of a wait instruction.
        text: text after the mnemonic, without comment.
        generation: hardware generation; it decides the fields of a numeric ``s_waitcnt``.

    Returns:
        Counter name to count; empty if nothing is waited for, or if the operand is an expression that cannot be
        evaluated here.
    """
    if name in _SINGLE:
        value = number(text.rpartition(",")[2])
        return {} if value is None else {_SINGLE[name]: value}
    symbolic = {
        match[1].removesuffix("_sat").removeprefix("depctr_"): int(match[2], 16 if match[2][:2] == "0x" else 10)
        for match in _CALL.finditer(text)
    }
    if symbolic:
        return symbolic
    value = number(text)
    if value is None:
        return {}
    if name == "s_waitcnt":
        return _fields(value, _S_WAITCNT.get(generation, _S_WAITCNT[Generation.GFX11]))
    if name in _COMBINED:
        return _fields(value, _COMBINED[name])
    if name in {"s_waitcnt_depctr", "s_wait_alu"}:
        return _fields(value, _DEPCTR)
    return {}
