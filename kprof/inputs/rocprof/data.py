"""All that was read, as tables."""

from typing import TYPE_CHECKING

from kprof.inputs.rocprof.frames import frame, kernels_frame, length
from kprof.inputs.rocprof.joining import join
from kprof.inputs.rocprof.model import COLUMNS, FileTables, ProfileFile, ProfileIssue
from kprof.output.progress import step

if TYPE_CHECKING:
    import pandas as pd


class Data:
    """All that was read. Tables are pandas frames; see :data:`COLUMNS`.

    A database of millions of dispatches is not loaded to tell its kernels: ``dispatches`` and ``counters`` of
    such a source are read when they are first asked for.
    """

    def __init__(self, parts: list[FileTables], issues: list[ProfileIssue]) -> None:
        """Use :func:`kprof.inputs.rocprof.read`."""
        self._parts = parts
        self._own_issues = issues
        self._frames: dict[str, pd.DataFrame] = {}
        self._joined = False
        if not any(part.lazy for part in parts):
            self._join()

    @property
    def sources(self) -> list[ProfileFile]:
        """Every file read, in order."""
        return [part.source for part in self._parts]

    @property
    def issues(self) -> list[ProfileIssue]:
        """All issues, worst first."""
        found = self._own_issues + [issue for part in self._parts for issue in part.issues]
        return sorted(found, key=lambda issue: ("error", "warning", "note").index(issue.severity))

    def _join(self) -> None:
        for part in self._parts:
            part.load()
        with step("joining the tables"):
            self._own_issues.extend(join(self._parts))
        self._joined = True

    def table(self, name: str) -> "pd.DataFrame":
        """A table by name; empty, with the documented first columns, when no file had such rows.

        Raises:
            KeyError: there is no such table.
        """
        if name not in COLUMNS:
            raise KeyError(name)
        if name not in self._frames:
            if name == "kernels":
                self._frames[name] = kernels_frame(self._parts)
            else:
                if not self._joined and any(name in part.promised for part in self._parts):
                    self._join()
                self._frames[name] = frame(name, self._parts)
        return self._frames[name]

    @property
    def dispatches(self) -> "pd.DataFrame":
        """One row for each time a kernel ran."""
        return self.table("dispatches")

    @property
    def counters(self) -> "pd.DataFrame":
        """One row for each counter value."""
        return self.table("counters")

    @property
    def kernels(self) -> "pd.DataFrame":
        """One row a source, agent and kernel."""
        return self.table("kernels")

    @property
    def agents(self) -> "pd.DataFrame":
        """CPUs and GPUs."""
        return self.table("agents")

    @property
    def copies(self) -> "pd.DataFrame":
        """Memory copies."""
        return self.table("copies")

    @property
    def is_loaded(self) -> bool:
        """Whether every row is in memory; asking for ``dispatches`` of a database loads them."""
        return self._joined

    def names(self) -> list[str]:
        """Names of the tables that have rows, ``kernels`` included."""
        if not self._joined:
            self._join()
        found = {name for part in self._parts for name, columns in part.tables.items() if length(columns)}
        if "dispatches" in found:
            found.add("kernels")
        return [name for name in COLUMNS if name in found]
