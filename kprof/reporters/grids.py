"""Tables of views: the rows of a command's result as cells, for the terminal and for pages."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kprof.errors import KprofError, near_hint

PAGE_ROWS = 100
"""Maximum number of rows of a table on a page."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        heading: text of the column's heading.
        cell: function that takes a row and returns the text of its cell.
        wide: True if the column may be truncated when a line does not fit.
        spare: True if the column may be dropped when truncation is not enough.
    """

    heading: str
    cell: Callable[[Any], str]
    wide: bool = False
    spare: bool = False


@dataclass(frozen=True)
class ViewTable:
    """A table of a command's result, with rows for each recording.

    Attributes:
        name: name of the table in ``--show NAME`` and ``to_frame("NAME")``.
        columns: columns shown on the terminal and on pages.
        rows: function that returns the table's rows for the result of one recording. A row is a structure (an instance
            of a class with fields), or a tuple whose first element is a structure.
        fields: columns of the data frame: their names, or a class with these fields. If empty, the table has no
            data frame.
        record: function that returns a row's values by field; by default the row's attributes.
        title: heading above the table.
        remarks: function that takes the result for a recording and returns the sentences below the table.
        optional: True if the table is only shown when it is requested by name.
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
        """Return the cells for one recording.

        Args:
            found: result for the recording.
            top: maximum number of rows; 0: all.
            links: pages that cells link to, by cell text.
        """
        rows = self.rows(found)
        shown = rows[:top] if top else rows
        cells = [tuple(column.cell(row) for column in self.columns) for row in shown]
        return Grid(self.title, self.columns, cells, len(rows) - len(shown), tuple(self.remarks(found)), links or {})


@dataclass(frozen=True)
class Grid:
    """Cells of a table.

    Attributes:
        title: heading above the table; empty for none.
        columns: columns of the cells.
        rows: cell texts.
        left: number of rows that were left out.
        remarks: sentences below the table.
        links: pages that cells link to, by cell text.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    left: int = 0
    remarks: Sequence[str] = ()
    links: Mapping[str, str] = field(default_factory=dict)

    @property
    def headings(self) -> list[tuple[str, bool]]:
        """Heading of each column, and whether the column is numeric."""
        from kprof.output.tables import is_number

        return [
            (column.heading, bool(self.rows) and all(is_number(row[place]) for row in self.rows))
            for place, column in enumerate(self.columns)
        ]

    def first(self, most: int) -> "Grid":
        """Return the grid with at most ``most`` rows."""
        return replace(self, rows=self.rows[:most], left=self.left + max(0, len(self.rows) - most))

    def lines(self, *, titled: bool = True) -> list[str]:
        """Return the table as text lines, with its title if ``titled``; empty if it has neither rows nor remarks."""
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
    """Return the tables with these names; without names, all tables that are not optional.

    Raises:
        KprofError: there is no table of that name.
    """
    known = {table.name: table for table in tables}
    for name in names:
        if name not in known:
            raise KprofError(f"there is no table {name!r}", hint=near_hint(name, list(known), "there are"))
    return [known[name] for name in names] if names else [table for table in tables if not table.optional]
