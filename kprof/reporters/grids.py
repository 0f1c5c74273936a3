"""Tables of views: the rows of an answer as cells, for the terminal and for pages."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kprof.errors import KprofError, near_hint

PAGE_ROWS = 100
"""Rows of a table on a page."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        heading: words above it.
        cell: from a row to the text of its cell.
        wide: it is cut where a line does not fit.
        spare: it is left out where even that does not help.
    """

    heading: str
    cell: Callable[[Any], str]
    wide: bool = False
    spare: bool = False


@dataclass(frozen=True)
class ViewTable:
    """A table that an answer has for each recording.

    Attributes:
        name: ``--show NAME`` and ``to_frame("NAME")``.
        columns: as the terminal and pages show them.
        rows: from what was found in a recording to the table's rows: structures, or tuples that begin with one.
        fields: columns of the data frame: a structure whose fields they are, or their names. Without any the table is
            for people only.
        record: from a row to its values by field; its attributes where nothing else is said.
        title: heading above it.
        remarks: sentences below it, from what was found in a recording.
        optional: it is shown only where it is asked for by name.
    """

    name: str
    columns: Sequence[Column]
    rows: Callable[[Any], Sequence[Any]]
    fields: type | Sequence[str] = ()
    record: Callable[[Any], Mapping[str, Any]] | None = None
    title: str = ""
    remarks: Callable[[Any], Iterable[str]] = lambda _found: ()
    optional: bool = False

    @property
    def field_names(self) -> tuple[str, ...]:
        """Columns of the data frame."""
        if isinstance(self.fields, type):
            return tuple(
                getattr(self.fields, "__struct_fields__", ()) or getattr(self.fields, "__dataclass_fields__", ())
            )
        return tuple(self.fields)

    def records(self, found: Any) -> Iterable[dict[str, Any]]:
        """Return the rows of the data frame for one recording."""
        for row in self.rows(found):
            if self.record is None:
                source = row[0] if type(row) is tuple else row
                yield {name: getattr(source, name) for name in self.field_names}
            else:
                values = self.record(row)
                yield {name: values.get(name) for name in self.field_names}

    def grid(self, found: Any, top: int = 0, links: Mapping[str, str] | None = None) -> "Grid":
        """Return the cells of one recording.

        Args:
            found: what was found in it.
            top: maximum number of rows; 0: all.
            links: cells to the pages that they lead to.
        """
        rows = self.rows(found)
        shown = rows[:top] if top else rows
        cells = [tuple(column.cell(row) for column in self.columns) for row in shown]
        return Grid(self.title, self.columns, cells, len(rows) - len(shown), tuple(self.remarks(found)), links or {})


@dataclass(frozen=True)
class Grid:
    """Cells of a table.

    Attributes:
        title: heading above it; empty for none.
        columns: of the cells.
        rows: cells as text.
        left: number of rows that are not among them.
        remarks: sentences below it.
        links: cells to the pages that they lead to.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    left: int = 0
    remarks: Sequence[str] = ()
    links: Mapping[str, str] = field(default_factory=dict)

    @property
    def headings(self) -> list[tuple[str, bool]]:
        """Words above each column, and whether it is one of numbers."""
        from kprof.output.tables import is_number

        return [
            (column.heading, bool(self.rows) and all(is_number(row[place]) for row in self.rows))
            for place, column in enumerate(self.columns)
        ]

    def first(self, most: int) -> "Grid":
        """Return the grid with at most this number of rows."""
        return replace(self, rows=self.rows[:most], left=self.left + max(0, len(self.rows) - most))

    def lines(self, *, titled: bool = True) -> list[str]:
        """Return the table as lines of text, under its title or without; nothing without rows and remarks."""
        from kprof.output.tables import rows_table

        shown: list[str] = []
        if self.rows:
            wide = [place for place, column in enumerate(self.columns) if column.wide]
            spare = next((place for place, column in enumerate(self.columns) if column.spare), None)
            headings = [column.heading for column in self.columns]
            shown += rows_table(headings, self.rows, wide=wide, spare=spare).splitlines()
            if self.left:
                shown.append(f"and {self.left:,} more; -n 0 shows all")
        shown += self.remarks
        return [self.title, *shown] if shown and self.title and titled else shown


def chosen(tables: Sequence[ViewTable], names: Sequence[str]) -> list[ViewTable]:
    """Return the tables of these names; without names those that are not optional.

    Raises:
        KprofError: there is no table of a name.
    """
    known = {table.name: table for table in tables}
    for name in names:
        if name not in known:
            raise KprofError(f"there is no table {name!r}", hint=near_hint(name, list(known), "there are"))
    return [known[name] for name in names] if names else [table for table in tables if not table.optional]
