"""Store records of one kind as one column per field, which takes a fifth of the memory of record objects."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from sys import byteorder
from typing import Any, Generic, TypeVar, overload

import msgspec

R = TypeVar("R", bound=msgspec.Struct)

NOTHING = -(1 << 63)
"""Value that represents ``None`` in a column of integers."""
ELSEWHERE = NOTHING + 1
"""Value that represents an integer beyond 64 bits in a column of integers."""
# NOTHING and ELSEWHERE differ only in their lowest byte, so a search for the other seven bytes finds both. _PLACE is
# the position of these seven bytes within an integer's eight bytes.
_LIKE_A_MARK = NOTHING.to_bytes(8, byteorder, signed=True)[1:] if byteorder == "little" else b"\x80" + bytes(6)
_PLACE = 1 if byteorder == "little" else 0
_TOGETHER = 1 << 12


class _Column:
    """A column of integers. While all of its integers are equal (a run), only their value and number are stored.

    Reading :attr:`data` expands a run.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._data: array[int] = array(kind)
        self._value = self._count = 0

    @property
    def data(self) -> "array[int]":
        """All integers, for reading and writing."""
        if self._count:
            self._data, self._count = array(self._kind, (self._value,)) * self._count, 0
        return self._data

    @data.setter
    def data(self, numbers: "array[int]") -> None:
        self._data, self._count = numbers, 0

    @property
    def readable(self) -> "array[int]":
        """All integers, for reading only. A run is expanded into a copy, and the column keeps storing the run."""
        return array(self._kind, (self._value,)) * self._count if self._count else self._data

    @property
    def only(self) -> int | None:
        """The value of all rows if the column is stored as a run, else ``None``."""
        return self._value if self._count else None

    def numbers_of(self, low: int, high: int) -> "array[int]":
        """Return the integers of adjacent rows."""
        if self._count:
            return array(self._kind, (self._value,)) * (min(high, self._count) - low)
        return self._data[low:high]

    def at(self, row: int) -> int:
        """Return the integer of a row.

        Raises:
            IndexError: if there is no such row.
        """
        if not self._count:
            return self._data[row]
        if not -self._count <= row < self._count:
            raise IndexError(row)
        return self._value

    def extremes(self) -> tuple[int, int]:
        """Return the minimum and the maximum; the column must not be empty."""
        return (self._value, self._value) if self._count else (min(self._data), max(self._data))

    def distinct(self) -> set[int]:
        """Return the set of integers in the column."""
        return {self._value} if self._count else set(self._data)

    def _add(self, numbers: "list[int] | array[int]") -> None:
        """Add integers; a run of equal values stays a run if all new integers equal its value."""
        if not self._data and numbers and numbers.count(numbers[0]) == len(numbers):
            self._repeat(numbers[0], len(numbers))
        else:
            self.data += numbers if isinstance(numbers, array) else array(self._kind, numbers)

    def _repeat(self, number: int, count: int) -> None:
        if not self._data and (not self._count or self._value == number):
            self._value, self._count = number, self._count + count
        else:
            self.data += array(self._kind, (number,)) * count

    def _keep(self, rows: Sequence[int]) -> None:
        if self._count:
            self._count = len(rows)
        else:
            self._data = array(self._kind, map(self._data.__getitem__, rows))


class OptionalIntegers(_Column):
    """A column of integers in which values may be missing (``None``).

    :attr:`data` can be read and written. In it, :data:`NOTHING` and :data:`ELSEWHERE` represent missing and too large
    values.
    """

    def __init__(self) -> None:
        super().__init__("q")
        self._large: dict[int, int] = {}
        self._plain = True

    def extend(self, values: "Sequence[int | None] | array[int]") -> None:
        """Add values."""
        try:
            plain = values if isinstance(values, array) else array("q", values)  # type: ignore[arg-type, type-var, unused-ignore]
        except (TypeError, OverflowError):
            self._extend_marked(values)
            return
        if _has_mark(plain.tobytes()):
            self._extend_marked(values)
        else:
            self._add(plain)

    def repeat(self, value: int | None, count: int) -> None:
        """Add a value several times."""
        mark = NOTHING if value is None else value
        self._plain = self._plain and (value is not None or not count)
        self._repeat(mark, count)

    def _extend_marked(self, values: "Sequence[int | None]") -> None:
        if values.count(None) == len(values):
            self.repeat(None, len(values))
            return
        before = len(self.data)
        known = [value for value in values if value is not None] if None in values else values
        self._plain = self._plain and len(known) == len(values)
        if known and not (min(known) > ELSEWHERE and max(known) < -NOTHING):  # type: ignore[type-var, operator]
            self._plain = False
            self.data.extend([self._mark(row, value) for row, value in enumerate(values, before)])
        else:
            self.data += array("q", [NOTHING if value is None else value for value in values])

    def _mark(self, row: int, value: int | None) -> int:
        if value is None:
            return NOTHING
        if ELSEWHERE < value < -NOTHING:
            return value
        self._large[row] = value
        return ELSEWHERE

    def __getitem__(self, row: int) -> int | None:
        """Return the value of a row."""
        value = self.at(row)
        return value if value > ELSEWHERE else None if value == NOTHING else self._large[row]

    def __setitem__(self, row: int, value: int | None) -> None:
        """Change the value of a row."""
        mark = self.data[row] = self._mark(row, value)
        self._plain = self._plain and mark > ELSEWHERE

    def part(self, low: int, high: int) -> list[int | None]:
        """Return the values of adjacent rows."""
        if self._count:
            return [None if self._value == NOTHING else self._value] * (min(high, self._count) - low)
        values: list[int | None] = self.data[low:high].tolist()  # type: ignore[assignment]
        if self._plain:
            return values
        if self._large:
            return [self[row] for row in range(low, high)]
        return [None if value == NOTHING else value for value in values]

    @property
    def huge(self) -> int:
        """Number of integers that do not fit into 64 bits."""
        return len(self._large)

    def fill(self, value: int) -> None:
        """Replace all missing values by ``value``."""
        if self._count and self._value == NOTHING:
            self._value, self._plain = value, True
        elif not self._plain:
            nothing = array("q", (NOTHING,)) * len(self.data)
            if self.data == nothing:
                self.data, self._plain = array("q", (value,)) * len(self.data), True
                return
            self.data = array("q", (value if known == NOTHING else known for known in self.data))
            self._plain = not self._large

    def keep(self, rows: Sequence[int]) -> None:
        """Keep only the given rows, in the given order."""
        self._large = {new: self._large[old] for new, old in enumerate(rows) if old in self._large}
        self._keep(rows)


def _has_mark(numbers: bytes) -> bool:
    at = numbers.find(_LIKE_A_MARK)
    # A match at another position spans two integers, so it is not a mark.
    while at >= 0 and at % 8 != _PLACE:
        at = numbers.find(_LIKE_A_MARK, at + 1)
    return at >= 0


class Words(_Column):
    """A column of recurring texts, size triples and other values; each distinct value is stored once."""

    def __init__(self) -> None:
        super().__init__("i")
        self.words: list[Any] = []
        self._codes: dict[Any, int] = {}

    def code(self, value: Any) -> int:
        """Return the integer that represents a value in :attr:`data`."""
        code = self._codes.get(value)
        if code is None:
            code = self._codes[value] = len(self.words)
            self.words.append(value)
        return code

    def extend(self, values: Sequence[Any]) -> None:
        """Add values."""
        try:
            codes = list(map(self._codes.__getitem__, values))
        except KeyError:
            for value in set(values):
                self.code(value)
            codes = list(map(self._codes.__getitem__, values))
        self._add(codes)

    def repeat(self, value: Any, count: int) -> None:
        """Add a value several times."""
        self._repeat(self.code(value), count)

    def __getitem__(self, row: int) -> Any:
        """Return the value of a row."""
        return self.words[self.at(row)]

    def __setitem__(self, row: int, value: Any) -> None:
        """Change the value of a row."""
        self.data[row] = self.code(value)

    def part(self, low: int, high: int) -> list[Any]:
        """Return the values of adjacent rows."""
        if self._count:
            return [self.words[self._value]] * (min(high, self._count) - low)
        return list(map(self.words.__getitem__, self.data[low:high]))

    def keep(self, rows: Sequence[int]) -> None:
        """Keep only the given rows, in the given order."""
        self._keep(rows)


class Records(Sequence[R], Generic[R]):
    """A list of records that is stored as columns.

    Indexing creates a new record object, and changing that object has no effect. Change the columns instead.
    """

    def __init__(self, kind: type[R], records: Iterable[R] = ()) -> None:
        self.kind = kind
        fields = msgspec.structs.fields(kind)
        self._columns: dict[str, OptionalIntegers | Words] = {
            f.name: OptionalIntegers() if _is_int(f.type) else Words() for f in fields
        }
        self._defaults = {f.name: None if f.default is msgspec.NODEFAULT else f.default for f in fields}
        self._getters: list[Callable[[R], Any]] = [attrgetter(f.name) for f in fields]
        self._stored = 0
        self._new: list[R] = []
        for record in records:
            self.append(record)

    def append(self, record: R) -> None:
        """Add a record."""
        self._new.append(record)
        if len(self._new) >= _TOGETHER:
            self._store()

    def extend(self, count: int, **fields: Sequence[Any] | None) -> None:
        """Add ``count`` records, given as columns. Missing fields get their default, or ``None`` if they have none."""
        self._store()
        for name, column in self._columns.items():
            values = fields.get(name)
            if values is not None:
                column.extend(values)
            else:
                column.repeat(self._defaults[name], count)
        self._stored += count

    def _store(self) -> None:
        if self._new:
            for column, getter in zip(self._columns.values(), self._getters, strict=True):
                column.extend(list(map(getter, self._new)))
            self._stored += len(self._new)
            self._new = []

    def __len__(self) -> int:
        """Return the number of records."""
        return self._stored + len(self._new)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> list[R]: ...
    def __getitem__(self, index: int | slice) -> R | list[R]:
        """Return a record, or a list of records for a slice."""
        self._store()
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        row = index + len(self) if index < 0 else index
        return self.kind(*[column[row] for column in self._columns.values()])

    def __iter__(self) -> Iterator[R]:
        """Yield all records, creating a few thousand at a time."""
        self._store()
        for low in range(0, self._stored, _TOGETHER):
            high = min(low + _TOGETHER, self._stored)
            yield from map(self.kind, *[column.part(low, high) for column in self._columns.values()])

    def __eq__(self, other: object) -> bool:
        """Return whether another sequence contains equal records in the same order."""
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def numbers(self, field: str) -> OptionalIntegers:
        """Return the column of an integer field."""
        if self._new:
            self._store()
        column = self._columns[field]
        if not isinstance(column, OptionalIntegers):
            raise TypeError(field)
        return column

    def words(self, field: str) -> Words:
        """Return the column of a field that is not an integer."""
        if self._new:
            self._store()
        column = self._columns[field]
        if not isinstance(column, Words):
            raise TypeError(field)
        return column

    def column(self, field: str) -> OptionalIntegers | Words:
        """Return the column of any field."""
        self._store()
        return self._columns[field]

    def values(self, field: str) -> list[Any]:
        """Return the values of a field in all records."""
        self._store()
        return self._columns[field].part(0, self._stored)

    def update(self, row: int, **fields: Any) -> None:
        """Change fields of one record."""
        self._store()
        for name, value in fields.items():
            self._columns[name][row] = value

    def keep(self, rows: Sequence[int]) -> None:
        """Keep only the given records, in the given order."""
        self._store()
        for column in self._columns.values():
            column.keep(rows)
        self._stored = len(rows)


def _is_int(annotation: Any) -> bool:
    parts = getattr(annotation, "__args__", (annotation,))
    return int in parts and all(part in {int, type(None)} for part in parts)


def by_start(records: Records[Any], rows: Iterable[int]) -> list[int]:
    """Return rows in the order of their start times; rows with equal start times are ordered by descending duration."""
    starts, durations = records.numbers("start_ns").data, records.numbers("duration_ns").data
    # Two sorts by a single number need less memory than one sort by pairs.
    return sorted(sorted(rows, key=durations.__getitem__, reverse=True), key=starts.__getitem__)
