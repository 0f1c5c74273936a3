"""A mapping of table names to pandas frames."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


class Tables(Mapping[str, "pd.DataFrame"]):
    """A mapping of names to frames, which are also attributes: ``tables["kernels"]`` is ``tables.kernels``."""

    def __init__(self, frames: "Mapping[str, pd.DataFrame]") -> None:
        """Wrap a mapping of names to frames."""
        self._frames = frames

    def __getitem__(self, name: str) -> "pd.DataFrame":
        """Return a table.

        Raises:
            KeyError: the table does not exist.
        """
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the tables."""
        return iter(self._frames)

    def __len__(self) -> int:
        """Return the number of tables."""
        return len(self._frames)

    def __getattr__(self, name: str) -> "pd.DataFrame":
        """Return a table as an attribute."""
        if not name.startswith("_") and name in self._frames:
            return self._frames[name]
        raise AttributeError(f"{type(self).__name__!r} has no table {name!r}; it has {', '.join(self._frames)}")

    def __dir__(self) -> list[str]:
        """Return the names of attributes and tables."""
        return sorted({*super().__dir__(), *self._frames})

    def __repr__(self) -> str:
        """Return the names of non-empty tables with their numbers of rows."""
        rows = ", ".join(f"{name} {len(self[name]):,}" for name in self if len(self[name]))
        return f"<{type(self).__name__}: {rows or 'no rows'}>"
