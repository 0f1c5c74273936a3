"""Read 64-bit little-endian ELF files: sections, symbols and notes.

The reader accepts untrusted files: it checks every offset, and does not allocate memory based on sizes in the file.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from kprof.errors import InputError

EM_AMDGPU = 224
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_NOTE = struct.Struct("<III")
_PT_LOAD, _PT_NOTE = 1, 4
_SHT_NOTE, _SHT_NOBITS = 7, 8
_SYMBOL_TABLES = (2, 11)
_MAX_SYMBOLS = 2_000_000


@dataclass(frozen=True)
class ElfSection:
    """One section header with the section's name."""

    name: str
    type: int
    address: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True)
class Symbol:
    """One symbol; ``kind`` is the ELF type (1 object, 2 function)."""

    name: str
    kind: int
    section: int
    value: int
    size: int


class Elf:
    """An ELF file in memory.

    Attributes:
        machine: ELF machine number; 224 is AMDGPU.
        flags: ``e_flags``.
        abi_version: ABI version byte of the ELF header.
        sections: section headers.
    """

    def __init__(self, data: bytes, path: str | None = None) -> None:
        """Read the file header and the section headers.

        Raises:
            KprofError: if the data is not ELF, is not 64-bit little-endian, or is cut off.
        """
        self.data = data
        self.path = path
        if data[:4] != b"\x7fELF":
            raise InputError("this is not an ELF file", path=path, place="byte 0")
        if len(data) < _HEADER.size:
            raise InputError(f"the file is cut off inside the ELF header ({len(data)} bytes)", path=path)
        if data[4:6] != b"\x02\x01":
            raise InputError("this is not a 64-bit little-endian ELF file", path=path, place="byte 4")
        header = _HEADER.unpack_from(data)
        self.abi_version = data[8]
        self.machine, self.flags = header[2], header[7]
        self._segments_at, self._segment_count = header[5], header[10]
        self.sections = self._read_sections(header[6], header[12], header[13])

    def _read_sections(self, at: int, count: int, names_index: int) -> tuple[ElfSection, ...]:
        if not at or not count:
            return ()
        if at + count * _SECTION.size > len(self.data):
            raise InputError(
                f"the file is cut off: its section table should end at byte {at + count * _SECTION.size}",
                path=self.path,
                place=f"byte {len(self.data)}",
                hint="Copy or compile it again.",
            )
        raw = [_SECTION.unpack_from(self.data, at + n * _SECTION.size) for n in range(count)]
        names = b""
        if names_index < count:
            names = self.data[raw[names_index][4] : raw[names_index][4] + raw[names_index][5]]
        return tuple(
            ElfSection(_string(names, r[0]), r[1], r[3], r[4], 0 if r[1] == _SHT_NOBITS else r[5], r[6]) for r in raw
        )

    def section(self, name: str) -> ElfSection | None:
        """Return the first section with a name, or ``None``."""
        return next((section for section in self.sections if section.name == name), None)

    def content(self, section: ElfSection) -> bytes:
        """Return the bytes of a section, which are fewer than its size if the file is cut off."""
        return self.data[section.offset : section.offset + section.size]

    def symbols(self) -> Iterator[Symbol]:
        """Yield all symbols of the static and the dynamic symbol table."""
        for section in self.sections:
            if section.type not in _SYMBOL_TABLES or section.link >= len(self.sections):
                continue
            table, names = self.content(section), self.content(self.sections[section.link])
            for number in range(min(len(table) // _SYMBOL.size, _MAX_SYMBOLS)):
                name, info, _, index, value, size = _SYMBOL.unpack_from(table, number * _SYMBOL.size)
                yield Symbol(_string(names, name), info & 15, index, value, size)

    def at_address(self, symbol: Symbol, size: int) -> bytes:
        """Return ``size`` bytes that a symbol points to; fewer or none if they lie outside its section or the file."""
        if not 0 < symbol.section < len(self.sections):
            return b""
        section = self.sections[symbol.section]
        # In a relocatable object the section has address 0 and the value is an offset.
        start = section.offset + symbol.value - section.address
        if not section.offset <= start <= section.offset + section.size - size:
            return b""
        return self.data[start : start + size]

    def notes(self) -> Iterator[tuple[str, int, bytes]]:
        """Yield owner, type and content of each note. Note segments are read only if there are no note sections."""
        spans = [(s.offset, s.size) for s in self.sections if s.type == _SHT_NOTE]
        if not spans:
            for number in range(self._segment_count):
                at = self._segments_at + number * _SEGMENT.size
                if at + _SEGMENT.size <= len(self.data):
                    segment = _SEGMENT.unpack_from(self.data, at)
                    if segment[0] == _PT_NOTE:
                        spans.append((segment[2], segment[5]))
        for offset, size in spans:
            yield from _read_notes(self.data[offset : offset + size])


def _read_notes(data: bytes) -> Iterator[tuple[str, int, bytes]]:
    at = 0
    while at + _NOTE.size <= len(data):
        name_size, size, kind = _NOTE.unpack_from(data, at)
        at += _NOTE.size
        name = data[at : at + name_size]
        at += -(-name_size // 4) * 4
        yield name.rstrip(b"\0").decode("ascii", "replace"), kind, data[at : at + size]
        at += -(-size // 4) * 4


def _string(table: bytes, at: int) -> str:
    end = table.find(b"\0", at)
    return table[at : end if end >= 0 else len(table)].decode("utf-8", "replace")
