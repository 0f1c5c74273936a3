"""One instruction and where it comes from; what a wait instruction waits for.

Everything expensive (operands, registers, source frames) is computed when first asked for, so that reading a long file
stays cheap.

Field positions are those of the AMD ISA guides (``S_WAITCNT`` in the chapter on SOPP instructions) for each generation;
the test-suite compares them with an assembler. A field at its largest value waits for nothing and is left out.
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
            self._waits = decode(opcode.name, self._rest, opcode.generation) if is_wait else {}
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


@dataclass(frozen=True)
class AssemblyFrame:
    """One position in source code. ``line`` is 1-based; 0 means that the compiler knows no line.

    Attributes:
        file: path with its directory where the assembly gives it.
        line: 1-based line.
        column: 1-based column, 0 when unknown.
        in_library: whether the file belongs to Triton itself or to the HIP headers and not to the user.
    """

    file: str
    line: int
    column: int = 0
    in_library: bool = False


class LazyLocation(Protocol):
    """A ``.loc`` directive that resolves itself when asked."""

    @property
    def frames(self) -> tuple[AssemblyFrame, ...]:
        """Innermost frame first, then the call sites that it was inlined at."""
        ...


class Instruction:
    """One instruction of a kernel or function.

    Attributes:
        index: position in :attr:`AssemblyKernel.instructions`.
        line: 1-based line in the assembly.
        text: the instruction without comment, as written.
        comment: what the compiler wrote behind it, empty if nothing.
        opcode: shared facts of the mnemonic.
        source: the ``.loc`` in force, ``None`` without debug information.
    """

    __slots__ = ("_detail", "comment", "index", "line", "opcode", "source", "text")

    def __init__(  # noqa: PLR0917 - called once a line, where keywords cost time
        self, index: int, line: int, text: str, comment: str, opcode: Opcode, source: LazyLocation | None
    ) -> None:
        """Keep the facts; nothing is decoded yet."""
        self.index = index
        self.line = line
        self.text = text
        self.comment = comment
        self.opcode = opcode
        self.source = source
        self._detail: Detail | None = None

    def __repr__(self) -> str:
        """``<Instruction 12 line 80: s_endpgm>``."""
        return f"<Instruction {self.index} line {self.line}: {self.text}>"

    @property
    def mnemonic(self) -> str:
        """The mnemonic as written, with its encoding suffix."""
        return self.opcode.mnemonic

    def rewrite(self, text: str) -> None:
        """Take another text for the same instruction, which says more of it."""
        self.text = text
        self._detail = None

    @property
    def detail(self) -> Detail:
        """The decoded form, computed on first use."""
        if self._detail is None:
            self._detail = Detail(self.opcode, self.text)
        return self._detail

    @property
    def operands(self) -> tuple[str, ...]:
        """Operands in the order written, such as ``("v0", "v[2:3]", "off")``; modifiers are not among them.

        A dual instruction has those of its first half, then those of its second: see :attr:`halves`.
        """
        return self.detail.operands

    @property
    def halves(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Mnemonic and operands of each half of a dual instruction; a single entry for all others."""
        return self.detail.halves

    @property
    def modifiers(self) -> Mapping[str, str]:
        """Modifiers by name: ``{"offset": "1024", "glc": ""}``."""
        return self.detail.modifiers

    @property
    def waits(self) -> Mapping[str, int]:
        """What a wait instruction waits for: counter name to the count that may remain outstanding.

        Counters that the instruction leaves alone are absent. Empty for other classes.
        """
        return self.detail.waits

    @property
    def counters(self) -> tuple[str, ...]:
        """Wait counters that this very instruction increments, modifiers considered."""
        if not self.opcode.counters and not self.opcode.is_atomic:
            return ()
        return self.detail.counters

    @property
    def to_lds(self) -> bool:
        """Moves data between memory and LDS without passing registers (by mnemonic or by the ``lds`` modifier)."""
        return self.opcode.to_lds or (self.opcode.cls is InstructionClass.VMEM and "lds" in self.modifiers)

    @property
    def returns(self) -> bool:
        """An atomic that returns the old value."""
        return self.detail.returns

    @property
    def effects(self) -> RegisterEffects:
        """Registers read and written, implicit ones included."""
        return self.detail.effects

    @property
    def spill(self) -> str | None:
        """``store`` or ``reload`` where the compiler's comment calls the instruction a register spill."""
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
        """Where the instruction comes from: innermost frame first, then the sites it was inlined at."""
        return self.source.frames if self.source is not None else ()

    @property
    def user_frame(self) -> AssemblyFrame | None:
        """First frame outside Triton's own library (and HIP's headers), with a line; ``None`` when there is none."""
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
    """Value of a decimal or hexadecimal literal, ``None`` for anything else."""
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
    """Counter to the count that may remain outstanding.

    Args:
        name: mnemonic of a wait instruction.
        text: what follows the mnemonic, without comment.
        generation: decides the fields of a numeric ``s_waitcnt``.

    Returns:
        Empty when nothing is waited for, or when the operand is an expression that cannot be evaluated here.
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
