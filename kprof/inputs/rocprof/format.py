"""What a format is, and how the right one is found by looking at the content.

A format is in a file of ``formats/`` as the constant ``FORMAT``, or in its tuple ``FORMATS``; the folder is the list.
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
"""Share of a format's own headings that a CSV file must have to be taken for it."""

# What is asked of each row of a long file; the rest is asked of its first row only.
_BY_ROW = {"process_id", "agent", "dispatch_id", "kernel_name", "counter", "value", "start_ns"}


class ProfileFormat(Protocol):
    """A kind of file.

    Attributes:
        name: what it is, for people.
        tool: which tool writes it.
        role: see :class:`kprof.inputs.rocprof.model.ProfileFile`.
    """

    name: str
    tool: str
    role: str

    def score(self, opened: Opened, /) -> float:
        """How sure it is that the file is of this format: 0 not at all, 1 completely."""

    def read(self, opened: Opened, part: FileTables, /) -> None:
        """Fill the part's tables.

        Raises:
            KprofError: the file is of this format but cannot be used.
        """


@dataclass(frozen=True)
class OtherFormat:
    """A format that is not a CSV table: the functions tell all."""

    name: str
    tool: str
    role: str
    score: Callable[[Opened], float]
    read: Callable[[Opened, FileTables], None]


@dataclass(frozen=True)
class CsvFormat:
    """A CSV table with a heading.

    Attributes:
        vocabulary: what the headings mean; ``signature`` and ``required`` are keys of it.
        signature: headings that make the format recognisable.
        required: without these the file cannot be used.
        forbidden: with one of these it is another format.
        wide: other headings are counters.
        long: a row is a value, not a dispatch: what its dispatch has stays an Arrow column.
        finish: turns the columns read into the part's tables.
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
        """See :class:`ProfileFormat`."""
        keys = {key(name) for name in heading(opened)}
        if keys & self.forbidden:
            return 0.0
        found = len(keys & self.signature) / len(self.signature)
        known = len(keys & self.vocabulary.keys()) / max(len(keys), 1)
        # The share of known headings only breaks ties; a wide file has few.
        return found + known / 1000 + len(self.signature) / 100000 if found >= SURE_ENOUGH else 0.0

    def read(self, opened: Opened, part: FileTables) -> None:
        """See :class:`ProfileFormat`."""
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
    """What was in a CSV file.

    Attributes:
        columns: our column name to array; texts are Categoricals. In a long file some are Arrow columns.
        counters: counter name to Arrow column of floats.
        rounded: start or end times have lost digits.
    """

    opened: Opened
    headings: list[str]
    table: RawTable
    columns: Columns
    counters: Columns
    rounded: bool


@cache
def formats() -> tuple[ProfileFormat, ...]:
    """Every format, in the order of their file names."""
    from kprof.inputs.rocprof import formats as folder

    names = sorted(module.name for module in iter_modules(folder.__path__) if not module.name.startswith("_"))
    modules = [vars(import_module(f"{folder.__name__}.{name}")) for name in names]
    return tuple(each for module in modules for each in module.get("FORMATS") or (module["FORMAT"],))


def recognise(opened: Opened) -> ProfileFormat | None:
    """The format that fits best; ``None`` when none does."""
    best = max(formats(), key=lambda one: one.score(opened))
    return best if best.score(opened) > 0 else None
