"""Tables by name, each a pandas frame that is made when it is first asked for."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


class Tables(Mapping[str, "pd.DataFrame"]):
    """Frames by name, also as attributes: ``tables["kernels"]`` is ``tables.kernels``."""

    def __init__(self, frames: "Mapping[str, pd.DataFrame]") -> None:
        """Frames by name."""
        self._frames = frames

    def __getitem__(self, name: str) -> "pd.DataFrame":
        """A table.

        Raises:
            KeyError: there is no such table.
        """
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the tables."""
        return iter(self._frames)

    def __len__(self) -> int:
        """How many tables there are."""
        return len(self._frames)

    def __getattr__(self, name: str) -> "pd.DataFrame":
        """A table as an attribute."""
        if not name.startswith("_") and name in self._frames:
            return self._frames[name]
        raise AttributeError(f"{type(self).__name__!r} has no table {name!r}; it has {', '.join(self._frames)}")

    def __dir__(self) -> list[str]:
        """Attributes and tables."""
        return sorted({*super().__dir__(), *self._frames})

    def __repr__(self) -> str:
        """The tables with rows, and how many."""
        rows = ", ".join(f"{name} {len(self[name]):,}" for name in self if len(self[name]))
        return f"<{type(self).__name__}: {rows or 'no rows'}>"
