"""Read a CSV file into columns with Arrow, and report every malformed record."""

import csv
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from kprof.errors import InputError
from kprof.inputs.rocprof.columns import Kind
from kprof.inputs.rocprof.model import FileTables
from kprof.inputs.rocprof.opening import Opened

SHOWN = 20
"""Maximum number of bad records that are reported with their text; further bad records are only counted."""

# Block sizes of Arrow's reader in bytes. Joining many small blocks takes longer than reading them, but two cores need
# several blocks. A record must fit into one block, so the tolerant second pass uses large blocks.
_BLOCK, _LARGE_BLOCK = 1 << 21, 256 << 20
_FRACTION = re.compile(r"\d{1,18}\.\d+")


@dataclass
class RawTable:
    """Typed columns of a CSV file.

    Attributes:
        columns: Arrow chunked array of each heading position.
        rows: number of good records.
        averaged: positions of time columns with fractions, which are means over several runs.
        rounded: positions of time columns written in exponent notation, which loses digits.
        bad_records: 1-based numbers of the skipped records.
    """

    columns: dict[int, Any]
    rows: int
    rounded: set[int] = field(default_factory=set)
    averaged: set[int] = field(default_factory=set)
    bad_records: list[int] = field(default_factory=list)

    def record(self, row: int) -> int:
        """Return the 1-based record number in the file for a row of the table."""
        number = row + 1
        while (shifted := row + 1 + bisect_right(self.bad_records, number)) != number:
            number = shifted
        return number


def heading(opened: Opened) -> list[str]:
    """Return the fields of the first record without surrounding blanks."""
    return list(_fields(opened.first_line))


@lru_cache(maxsize=8)
def _fields(line: str) -> tuple[str, ...]:
    """Parse one line; cached, because every candidate format parses the same line."""
    try:
        fields = next(csv.reader([line], skipinitialspace=True, strict=False), [])
    except csv.Error:
        return ()
    return tuple(name.strip() for name in fields)


def read_table(opened: Opened, kinds: Mapping[int, Kind], part: FileTables) -> RawTable:
    """Read the columns at the given positions.

    Records with too few or too many fields (merged or truncated) are skipped, each with an issue. A value that does not
    fit the type of its column becomes missing, with an issue.

    Raises:
        KprofError: if the content is not CSV.
    """
    import pyarrow as pa

    headings = heading(opened)
    width = len(headings)
    names = [str(position) for position in range(width)]
    wanted = {str(position): kind for position, kind in kinds.items() if kind != "skip"}
    reader = _Reader(opened, names, list(wanted))
    types = {name: _arrow_type(kind) for name, kind in wanted.items()}
    try:
        table, bad = reader.read(types)
    except pa.ArrowException as error:
        raise InputError(f"cannot be read as CSV: {_first_sentence(error)}", path=str(opened.path)) from error
    result = RawTable({}, table.num_rows, bad_records=_complain_about(bad, width, part))
    for name, kind in wanted.items():
        column = table.column(name)
        if column.type != types[name]:
            column = _convert(column, kind, result, part, name=headings[int(name)], position=int(name))
        result.columns[int(name)] = column
    return result


def _first_sentence(error: Exception) -> str:
    return str(error).splitlines()[0][:200]


@dataclass
class _Reader:
    opened: Opened
    names: Sequence[str]
    wanted: Sequence[str]

    def read(self, types: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """Return the table and the bad records. The slower tolerant parser is used only if the fast parser fails."""
        import pyarrow as pa

        rest = self._records(self.opened.body)
        if not bytes(rest[:65536]).strip():
            return pa.table({name: pa.array([], type=types[name]) for name in self.wanted}), []
        try:
            return self._parse(rest, types), []
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            # Arrow passes bad records as text, so the data must be valid UTF-8.
            rest = memoryview(bytes(rest).decode("utf-8", "replace").encode())
        try:
            return self._read_tolerantly(rest, types)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return self._read_tolerantly(rest, {name: pa.string() for name in self.wanted})

    @staticmethod
    def _records(body: memoryview) -> memoryview:
        end = bytes(body[: 1 << 20]).find(b"\n")
        return body[end + 1 :] if end >= 0 else body[:0]

    def _read_tolerantly(self, rest: memoryview, types: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        bad: list[Any] = []
        table = self._parse(rest, types, bad=bad)
        if any(row.text.count('"') % 2 for row in bad):
            broken: list[Any] = []
            retried = self._parse(rest, types, bad=broken, newlines=True)
            # A quoted line break splits a record into two invalid records. A missing quote turns the rest of the file
            # into one field.
            if retried.num_rows >= table.num_rows:
                return retried, broken
        return table, bad

    def _parse(
        self, rest: memoryview, types: Mapping[str, Any], *, bad: list[Any] | None = None, newlines: bool = False
    ) -> Any:
        import pyarrow as pa
        from pyarrow import csv as arrow

        def keep(row: Any) -> str:
            if bad is not None:
                bad.append(row)
            return "skip"

        return arrow.read_csv(
            pa.BufferReader(pa.py_buffer(rest)),
            # Arrow numbers records only when it reads them in order.
            read_options=arrow.ReadOptions(
                use_threads=bad is None,
                block_size=_BLOCK if bad is None else _LARGE_BLOCK,
                column_names=list(self.names),
            ),
            parse_options=arrow.ParseOptions(
                newlines_in_values=newlines, invalid_row_handler=None if bad is None else keep
            ),
            convert_options=arrow.ConvertOptions(
                column_types=dict(types),
                include_columns=list(self.wanted),
                null_values=["", "NA", "N/A", "nan", "NaN", "None", "null"],
                strings_can_be_null=False,
            ),
        )


def _arrow_type(kind: Kind) -> Any:
    import pyarrow as pa

    if kind in {"text", "name", "agent"}:
        return pa.dictionary(pa.int32(), pa.string())
    return {"int": pa.int64(), "time": pa.int64(), "uint": pa.uint64(), "float": pa.float64()}[kind]


def _complain_about(bad: list[Any], width: int, part: FileTables) -> list[int]:
    numbers = []
    for row in bad:
        # Arrow numbers the records from 1 without the heading.
        number = row.number
        if number is not None:
            numbers.append(number)
        if len(numbers) > SHOWN:
            continue
        text = row.text if isinstance(row.text, str) else ""
        if row.actual_columns > width:
            glued = row.actual_columns == 2 * width - 1
            kind = "glued-records" if glued else "too-many-fields"
            what = "two records on one line; neither is used" if glued else "the record is not used"
        else:
            kind, what = "cut-record", "the record is not used"
        message = f"{row.actual_columns} fields where the heading has {width}: {what}"
        part.complain(kind, "error", message, record=number, excerpt=text[:200])
    if len(bad) > SHOWN:
        part.complain("more-bad-records", "error", f"{len(bad) - SHOWN:,} further records have a wrong number of fields"
                      " and are not used", count=len(bad) - SHOWN)  # fmt: skip
    return sorted(numbers)


def _convert(column: Any, kind: Kind, table: RawTable, part: FileTables, *, name: str, position: int) -> Any:
    """Convert one by one the values of a column that Arrow could not convert; invalid values become missing."""
    import pyarrow as pa

    if kind in {"text", "name", "agent"}:
        return column.dictionary_encode()
    parse = float if kind == "float" else int
    values: list[Any] = []
    bad: list[int] = []
    for row, text in enumerate(column.to_pylist()):
        stripped = (text or "").strip()
        if stripped in {"", "NA", "N/A", "nan", "NaN", "None", "null"}:
            values.append(None)
            continue
        try:
            values.append(parse(stripped))
        except ValueError:
            number = _lenient_number(stripped, kind)
            if number is None and kind == "time" and _FRACTION.fullmatch(stripped):
                number = int(stripped.partition(".")[0])
                table.averaged.add(position)
            if number is not None and kind == "time" and "e" in stripped.lower():
                table.rounded.add(position)
            if number is None:
                bad.append(row)
            values.append(number)
    if position in table.averaged:
        part.complain(
            "averaged-timestamps",
            "note",
            f"column {name} has fractions of a nanosecond: the times are means over several runs, not times of one run",
        )
    values, outside = _within_range(values, kind)
    bad.extend(outside)
    if bad:
        shown = column[bad[0]].as_py()
        part.complain("bad-value", "error", f"column {name}: {len(bad):,} values are not numbers that fit, for example "
                      f"{shown[:60]!r}; they are treated as missing",
                      record=table.record(bad[0]), count=len(bad), excerpt=shown[:200])  # fmt: skip
    return pa.chunked_array([pa.array(values, type=_arrow_type(kind))])


def _lenient_number(text: str, kind: Kind) -> int | float | None:
    try:
        if text.lower().startswith("0x"):
            return float(int(text, 16)) if kind == "float" else int(text, 16)
        number = float(text)
    except (ValueError, OverflowError):
        return None
    if kind == "float":
        return number
    return int(number) if number == number and abs(number) < 2**64 and number == int(number) else None  # noqa: PLR0124


def _within_range(values: list[Any], kind: Kind) -> tuple[list[Any], list[int]]:
    if kind == "float":
        return values, []
    low, high = (0, 2**64) if kind == "uint" else (-(2**63), 2**63)
    outside = [row for row, value in enumerate(values) if value is not None and not low <= value < high]
    for row in outside:
        values[row] = None
    return values, outside
