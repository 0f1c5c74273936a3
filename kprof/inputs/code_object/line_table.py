"""Read the source lines of a code object's instructions from DWARF's line table and inlined calls.

The line table contains only the innermost line. For a sum over a tile, for example, that line lies in Triton's own
library. The caller's line is recorded with the inlined call (``DW_TAG_inlined_subroutine``), together with the
addresses of the call's code.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, NamedTuple

_MAX_ENTRIES = 1_000_000
"""Maximum number of lines and entries of debug information that are read; about 4 MB of code has that many."""
_MAX_NESTING = 256
"""Maximum nesting depth of inlined calls."""


class SourcePlace(NamedTuple):
    """A source position: index of its file in :attr:`LineTable.files`, line and column."""

    file: int
    line: int
    column: int


class LineTable(NamedTuple):
    """The line table of a code object: source frames of its instructions.

    Attributes:
        files: folder and name of each file.
        addresses: first address of each row, ascending. A row covers the addresses up to the next row.
        rows: source frames of each row, innermost first. A row without frames ends a sequence of code.
    """

    files: Sequence[tuple[str, str]]
    addresses: Sequence[int]
    rows: Sequence[tuple[SourcePlace, ...]]

    def at(self, address: int) -> tuple[SourcePlace, ...]:
        """Return the source frames of an instruction, innermost first; empty if its position is unknown."""
        row = bisect_right(self.addresses, address) - 1
        return self.rows[row] if row >= 0 else ()


EMPTY = LineTable((), (), ())
"""Line table of code without debug information."""


def read_line_table(data: bytes) -> LineTable:
    """Read the line table and the inlined calls of an ELF file.

    Args:
        data: bytes of the ELF file.

    Raises:
        ValueError: if the debug information is damaged or too large.
    """
    from elftools.elf.elffile import ELFFile

    try:
        elf = ELFFile(BytesIO(data))
        if elf.get_section_by_name(".debug_line") is None or not elf.has_dwarf_info():
            return EMPTY
        return _Reader(elf.get_dwarf_info(relocate_dwarf_sections=False)).table()
    except ValueError:
        raise
    except Exception as error:
        # pyelftools' parsers raise arbitrary exceptions for damaged bytes.
        raise ValueError(f"{type(error).__name__}: {error}") from error


class _Call(NamedTuple):
    """Addresses of an inlined call, its nesting depth among inlined calls, and its source position."""

    begin: int
    end: int
    depth: int
    place: SourcePlace


class _Reader:
    """Collects the rows and inlined calls of all compilation units."""

    def __init__(self, dwarf: Any) -> None:
        self._dwarf = dwarf
        self._files: dict[tuple[str, str], int] = {}
        self._lines: list[tuple[int, SourcePlace | None]] = []
        self._calls: list[_Call] = []
        self._read = 0

    def table(self) -> LineTable:
        """Read every compilation unit and return the combined table."""
        for unit in self._dwarf.iter_CUs():
            program = self._dwarf.line_program_for_CU(unit)
            if program is None:
                continue
            numbers = self._numbers(unit, program)
            self._read_lines(program, numbers)
            self._read_calls(unit, numbers)
        # At one address, the end of a sequence sorts before the beginning of another. If an address has two lines, the
        # last one is kept.
        self._lines.sort(key=lambda line: (line[0], line[1] is not None))
        addresses, rows = _with_calls(self._lines, self._calls)
        return LineTable(tuple(self._files), addresses, rows)

    def _numbers(self, unit: Any, program: Any) -> Mapping[int, int]:
        """Return the index in :attr:`LineTable.files` for each file number of a compilation unit."""
        header = program.header
        since_5 = header["version"] >= 5
        unit_folder = _text(_value(unit.get_top_DIE(), "DW_AT_comp_dir", b""))
        folders = [_text(folder) for folder in header["include_directory"]]
        folders = folders if since_5 else [unit_folder, *folders]
        numbers = {}
        for number, entry in enumerate(header["file_entry"], 0 if since_5 else 1):
            folder = folders[entry.dir_index] if entry.dir_index < len(folders) else ""
            numbers[number] = self._files.setdefault((folder, _text(entry.name)), len(self._files))
        return numbers

    def _read_lines(self, program: Any, numbers: Mapping[int, int]) -> None:
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            file = numbers.get(state.file)
            ended = state.end_sequence or file is None
            self._lines.append((state.address, None if ended else SourcePlace(file or 0, state.line, state.column)))
            self._count()

    def _read_calls(self, unit: Any, numbers: Mapping[int, int]) -> None:
        top = unit.get_top_DIE()
        base = _value(top, "DW_AT_low_pc", 0)
        open_dies = [(top, 0)]
        while open_dies:
            die, depth = open_dies.pop()
            if die.tag == "DW_TAG_inlined_subroutine":
                depth += 1
                file = numbers.get(_value(die, "DW_AT_call_file", -1))
                if file is not None:
                    line, column = (_value(die, f"DW_AT_call_{name}", 0) for name in ("line", "column"))
                    spans = self._spans(unit, die, base)
                    self._calls += [_Call(begin, end, depth, SourcePlace(file, line, column)) for begin, end in spans]
            if depth < _MAX_NESTING:
                # Entries are counted because in damaged data an entry may be its own sibling, which would loop forever.
                for child in die.iter_children():
                    open_dies.append((child, depth))
                    self._count()

    def _spans(self, unit: Any, die: Any, base: int) -> Iterator[tuple[int, int]]:
        """Yield the address ranges (begin, end) of an inlined call."""
        if "DW_AT_ranges" in die.attributes:
            entries = self._dwarf.range_lists().get_range_list_at_offset(_value(die, "DW_AT_ranges", 0), cu=unit)
            for entry in entries:
                if hasattr(entry, "base_address"):
                    base = entry.base_address
                else:
                    start = 0 if entry.is_absolute else base
                    yield start + entry.begin_offset, start + entry.end_offset
        elif "DW_AT_low_pc" in die.attributes and "DW_AT_high_pc" in die.attributes:
            begin, end = _value(die, "DW_AT_low_pc", 0), _value(die, "DW_AT_high_pc", 0)
            absolute = die.attributes["DW_AT_high_pc"].form == "DW_FORM_addr"
            yield begin, end if absolute else begin + end

    def _count(self) -> None:
        self._read += 1
        if self._read > _MAX_ENTRIES:
            raise ValueError(f"it has over {_MAX_ENTRIES:,} lines and entries")


def _with_calls(
    lines: Sequence[tuple[int, SourcePlace | None]], calls: Sequence[_Call]
) -> tuple[list[int], list[tuple[SourcePlace, ...]]]:
    """Combine the innermost lines with the inlined calls around them; return addresses and frames."""
    changes: dict[int, list[tuple[bool, _Call]]] = {}
    for call in calls:
        if call.begin < call.end:
            changes.setdefault(call.begin, []).append((True, call))
            changes.setdefault(call.end, []).append((False, call))
    innermost = dict(lines)
    around: set[_Call] = set()
    outer: tuple[SourcePlace, ...] = ()
    line: SourcePlace | None = None
    addresses: list[int] = []
    rows: list[tuple[SourcePlace, ...]] = []
    for address in sorted(innermost.keys() | changes.keys()):
        if address in changes:
            for begins, call in sorted(changes[address]):
                (around.add if begins else around.discard)(call)
            outer = tuple(call.place for call in sorted(around, key=lambda call: -call.depth))
        line = innermost.get(address, line)
        row = (line, *outer) if line is not None else ()
        if not rows or row != rows[-1]:
            addresses.append(address)
            rows.append(row)
    return addresses, rows


def _value(die: Any, name: str, otherwise: Any) -> Any:
    """Return the value of a DWARF attribute, or ``otherwise`` if it is missing."""
    found = die.attributes.get(name)
    return otherwise if found is None else found.value


def _text(raw: Any) -> str:
    """Return a name as text."""
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
