"""Describe profile formats, and recognise the format of a file by its content.

Each module in ``formats/`` defines the constant ``FORMAT`` or the tuple ``FORMATS``; new modules are found
automatically.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol

from kprof.errors import InputError
from kprof.inputs.rocprof.columns import Column, Kind, is_repeated, key
from kprof.inputs.rocprof.csv_table import RawTable, heading, read_table
from kprof.inputs.rocprof.frames import arrays_of
from kprof.inputs.rocprof.model import Columns, FileTables
from kprof.inputs.rocprof.opening import Opened

SURE_ENOUGH = 0.6
"""Fraction of a format's ``signature`` headings that a CSV file must contain to match the format."""

# Columns of a long file (one row per counter value) that are read from every row. Other columns are read only from the
# first row of each dispatch.
_BY_ROW = {"process_id", "agent", "dispatch_id", "kernel_name", "counter", "value", "start_ns"}


class ProfileFormat(Protocol):
    """A format of profile files.

    Attributes:
        name: name of the format, for display.
        tool: name of the tool that writes it.
        role: see :class:`kprof.inputs.rocprof.model.ProfileFile`.
    """

    name: str
    tool: str
    role: str

    def score(self, opened: Opened, /) -> float:
        """Return the confidence that the file is of this format, from 0 to 1."""

    def read(self, opened: Opened, part: FileTables, /) -> None:
        """Add the tables of the file to ``part``.

        Raises:
            KprofError: if the file is of this format but cannot be used.
        """


@dataclass(frozen=True)
class OtherFormat:
    """A format that is not a CSV table and is defined by its functions."""

    name: str
    tool: str
    role: str
    score: Callable[[Opened], float]
    read: Callable[[Opened, FileTables], None]


@dataclass(frozen=True)
class CsvFormat:
    """A format that is a CSV table with a heading.

    Attributes:
        vocabulary: column of each known heading; ``signature`` and ``required`` contain keys of this mapping.
        signature: headings by which the format is recognised.
        required: headings without which the file cannot be used.
        forbidden: headings that show that the file is of another format.
        wide: whether unknown headings are counters.
        long: whether each row is a counter value. If so, columns that describe dispatches stay Arrow columns.
        finish: function that converts the columns into tables of the file.
    """

    name: str
    tool: str
    role: str
    vocabulary: Mapping[str, Column]
    signature: frozenset[str]
    required: frozenset[str]
    finish: "Callable[[CsvContent, FileTables], None]"
    forbidden: frozenset[str] = frozenset()
    wide: bool = False
    long: bool = False

    def score(self, opened: Opened) -> float:
        """Return the confidence that the file is of this format; see :meth:`ProfileFormat.score`."""
        keys = {key(name) for name in heading(opened)}
        if keys & self.forbidden:
            return 0.0
        found = len(keys & self.signature) / len(self.signature)
        known = len(keys & self.vocabulary.keys()) / max(len(keys), 1)
        # The fraction of known headings only breaks ties, because a wide file has few of them.
        return found + known / 1000 + len(self.signature) / 100000 if found >= SURE_ENOUGH else 0.0

    def read(self, opened: Opened, part: FileTables) -> None:
        """Add the file's tables to ``part``; see :meth:`ProfileFormat.read`."""
        names = heading(opened)
        missing = self.required - {key(name) for name in names}
        if missing:
            raise InputError(
                f"a {self.name} of {self.tool} without the column {', '.join(sorted(missing))}",
                path=str(opened.path),
                place="line 1",
                hint="the file may have been edited or cut: export it again",
            )
        content = self._content(opened, names, part)
        part.describe(rows=content.table.rows)
        if not content.table.rows:
            part.complain("no-records", "warning", "the file has a heading but no records")
        self.finish(content, part)

    def _content(self, opened: Opened, names: list[str], part: FileTables) -> "CsvContent":
        kinds: dict[int, Kind] = {}
        target: dict[int, str] = {}
        counters: dict[int, str] = {}
        seen: set[str] = set()
        odd = []
        for place, name in enumerate(names):
            known = self.vocabulary.get(key(name))
            if known and known[0] not in seen:
                seen.add(known[0])
                kinds[place], target[place] = known[1], known[0]
            elif known or (self.wide and is_repeated(name, self.vocabulary)):
                continue
            elif self.wide and name:
                kinds[place], counters[place] = "float", name
            else:
                odd.append(name)
        if odd:
            part.complain("unknown-columns", "note", f"columns without a known meaning are not used: "
                          f"{', '.join(odd[:8])}", count=len(odd))  # fmt: skip
        if len(set(counters.values())) < len(counters):
            raise InputError("two columns have the same counter name", path=str(opened.path), place="line 1")
        table = read_table(opened, kinds, part)
        read = table.columns
        as_arrays = {p: read[p] for p in target if p in read and (not self.long or target[p] in _BY_ROW)}
        arrays = arrays_of(as_arrays)
        columns = {target[p]: arrays.get(p, read[p]) for p in target if p in read}
        values = {name: read[p] for p, name in counters.items()}
        times = any(target.get(place) in {"start_ns", "end_ns"} for place in table.rounded)
        return CsvContent(opened, names, table, columns, values, times)


@dataclass(frozen=True)
class CsvContent:
    """Content of a CSV file.

    Attributes:
        columns: array of each column by kprof's name; texts are Categoricals. In a long file some are Arrow columns.
        counters: Arrow column of floats for each counter.
        rounded: whether start or end times have lost digits.
    """

    opened: Opened
    headings: list[str]
    table: RawTable
    columns: Columns
    counters: Columns
    rounded: bool


@cache
def formats() -> tuple[ProfileFormat, ...]:
    """Return all formats, in the order of their module names."""
    from kprof.inputs.rocprof import formats as folder

    names = sorted(module.name for module in iter_modules(folder.__path__) if not module.name.startswith("_"))
    modules = [vars(import_module(f"{folder.__name__}.{name}")) for name in names]
    return tuple(each for module in modules for each in module.get("FORMATS") or (module["FORMAT"],))


def recognise(opened: Opened) -> ProfileFormat | None:
    """Return the format that fits best, or ``None`` if none fits."""
    best = max(formats(), key=lambda one: one.score(opened))
    return best if best.score(opened) > 0 else None
