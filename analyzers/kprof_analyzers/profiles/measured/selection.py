"""Restrict a measurement to selected dispatches, as if no others had been measured."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from kprof.inputs.rocprof import Data, ProfileFile

if TYPE_CHECKING:
    import pandas as pd


class DispatchSelection(Data):
    """A measurement with only the selected dispatches and their counters; all other tables are complete."""

    def __init__(self, whole: Data, rows: Collection[int]) -> None:
        """Select the rows of ``whole.dispatches``."""
        super().__init__([], [])
        self._whole = whole
        self._rows = set(rows)

    @property
    def sources(self) -> list[ProfileFile]:
        """All files of the complete measurement."""
        return self._whole.sources

    def table(self, name: str) -> "pd.DataFrame":
        """Return a table like :meth:`Data.table`."""
        if name == "dispatches":
            dispatches: pd.DataFrame = self._whole.dispatches
            chosen: pd.DataFrame = dispatches[dispatches.index.isin(self._rows)]
            return chosen
        if name == "counters":
            counters: pd.DataFrame = self._whole.counters
            counted: pd.DataFrame = counters[counters["dispatch"].isin(self._rows)]
            return counted
        return self._whole.table(name)
