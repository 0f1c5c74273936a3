"""``kprof.read_counters``: measurements of ROCm's profilers as pandas frames."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.api.options import Path_
from kprof.api.tables import Tables

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.rocprof import Data, ProfileFile, ProfileIssue


class Counters(Tables):
    """The tables of some measurement files. ``kprof.inputs.rocprof.COLUMNS`` says what each column means.

    Tables, as far as the files have them: ``dispatches`` (each time that a kernel ran), ``counters`` (a row a
    value; ``dispatch`` is a position in ``dispatches``), ``kernels`` (a row a kernel, source and agent), ``agents``,
    ``api_calls``, ``copies``, ``samples`` and what else the tools write. Times are in ns, sizes in bytes.

    Attributes:
        sources: the files, each with the tool that made it.
        issues: what cannot be trusted, the gravest first.
        paths: what was named.
        data: what the tables are made of.
    """

    def __init__(self, data: "Data", paths: Sequence[str] = ()) -> None:
        """Use :func:`read_counters`."""
        super().__init__(_Frames(data))
        self.sources: list[ProfileFile] = data.sources
        self.data = data
        self.paths = list(paths)

    @property
    def issues(self) -> "list[ProfileIssue]":
        """What cannot be trusted, the gravest first."""
        return self.data.issues

    @property
    def summary(self) -> str:
        """How much was read, and how much of it cannot be trusted."""
        from kprof.reporters.measurements_text import verdict

        return verdict(self.data)

    @property
    def document(self) -> dict[str, Any]:
        """Files, kernels, sums of counters and issues, as ``kprof ingest counters --json`` writes them."""
        data = self.data
        return {
            "schema": "kprof.counters/1",
            "sources": [asdict(source) for source in data.sources],
            "issues": [asdict(issue) for issue in data.issues],
            "agents": [_plain(row) for row in data.agents.to_dict("records")],
            "kernels": [_plain(row) for row in data.kernels.to_dict("records")],
            "counters": _sums(data),
            # Counting the other tables of a database would load millions of rows.
            "rows": {name: len(data.table(name)) for name in data.names()} if data.is_loaded else {},
        }

    def write_tables(self, output: "Path_", *, file_format: str = "parquet") -> list[Path]:
        """Write the tables, the files that were read and what cannot be trusted into a folder.

        Args:
            output: the folder.
            file_format: ``parquet``, ``csv`` or ``json``.

        Returns:
            The files written.

        Raises:
            KprofError: the format is not known, the folder is among what was read, or it cannot be written.
        """
        import pandas as pd

        from kprof.output.progress import step
        from kprof.output.tables import write_tables

        tables = {name: self[name] for name in self}
        tables["sources"] = pd.DataFrame([asdict(source) for source in self.sources])
        tables["issues"] = pd.DataFrame([asdict(issue) for issue in self.issues])
        with step("writing the tables"):
            return write_tables(tables, os.fspath(output), file_format, self.paths)


class _Frames(Mapping[str, "pd.DataFrame"]):
    """A database of millions of dispatches is not loaded for a table that does not need it."""

    def __init__(self, data: "Data") -> None:
        self._data = data

    def __getitem__(self, name: str) -> "pd.DataFrame":
        return self._data.table(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._data.names())

    def __len__(self) -> int:
        return len(self._data.names())

    def __contains__(self, name: object) -> bool:
        from kprof.inputs.rocprof import COLUMNS

        return name in COLUMNS


def read_counters(*paths: "Path_") -> Counters:
    """Read what rocprof (v1 to v3), rocpd, Omniperf or rocprof-compute wrote. The format is found by content.

    Args:
        paths: files, ``.gz`` files and folders, which are searched to the bottom.

    Returns:
        Their tables: ``counters.kernels`` is a frame with a row a kernel. What no file tells is ``NA``, never 0.

    Raises:
        InputError: a file cannot be read or is of no known format, or nothing in a folder could be read.
    """
    from kprof.inputs import rocprof

    given = [os.fspath(path) for path in paths]
    return Counters(rocprof.read(given), given)


def _sums(data: "Data") -> list[dict[str, Any]]:
    from kprof.output.progress import step

    counters = data.counters
    if not len(counters):
        return []
    groups = counters.groupby(["source", "kernel_name", "counter"], observed=True)["value"]
    table = groups.agg(["count", "sum", "min", "max"]).reset_index()
    table["kernel_name"] = table["kernel_name"].astype(object)
    table["counter"] = table["counter"].astype(object)
    found = []
    with step("adding up counters", len(table), "sums") as so_far:
        for row in table.to_dict("records"):
            found.append(_plain(row))
            so_far.done += 1
    return found


def _plain(row: Any) -> dict[str, Any]:
    """Python values; what is missing is left out."""
    import pandas as pd

    kept = {str(key): value for key, value in row.items() if not pd.isna(value)}
    return {key: value.item() if hasattr(value, "item") else value for key, value in kept.items()}
