"""``kprof.read_counters``: read measurements of ROCm's profilers as pandas frames."""

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
    """The tables of measurement files. ``kprof.inputs.rocprof.COLUMNS`` describes each column.

    The tables, if the files contain them, are ``dispatches`` (one row per run of a kernel), ``counters`` (one row per
    value; ``dispatch`` is a position in ``dispatches``), ``kernels`` (one row per kernel, source and agent),
    ``agents``, ``api_calls``, ``copies``, ``samples`` and others that the tools write. Times are in ns, sizes in bytes.

    Attributes:
        sources: the files, each with the tool that made it.
        issues: issues that make values untrustworthy, most serious first.
        paths: the paths that were read.
        data: the data of the tables.
    """

    def __init__(self, data: "Data", paths: Sequence[str] = ()) -> None:
        """Wrap the data of files; :func:`read_counters` reads them and calls this."""
        super().__init__(_Frames(data))
        self.sources: list[ProfileFile] = data.sources
        self.data = data
        self.paths = list(paths)

    @property
    def issues(self) -> "list[ProfileIssue]":
        """Issues that make values untrustworthy, most serious first."""
        return self.data.issues

    @property
    def summary(self) -> str:
        """The amount of data and the number of issues, in one line."""
        from kprof.reporters.measurements_text import verdict

        return verdict(self.data)

    @property
    def document(self) -> dict[str, Any]:
        """The files, kernels, sums of counters and issues, as ``kprof ingest counters --json`` writes them."""
        data = self.data
        return {
            "schema": "kprof.counters/1",
            "sources": [asdict(source) for source in data.sources],
            "issues": [asdict(issue) for issue in data.issues],
            "agents": [_row_values(row) for row in data.agents.to_dict("records")],
            "kernels": [_row_values(row) for row in data.kernels.to_dict("records")],
            "counters": _sums(data),
            # Count rows only if the tables are loaded, because counting would load millions of rows of a database.
            "rows": {name: len(data.table(name)) for name in data.names()} if data.is_loaded else {},
        }

    def write_tables(self, output: "Path_", *, file_format: str = "parquet") -> list[Path]:
        """Write the tables, the list of files and the issues into a folder.

        Args:
            output: the folder.
            file_format: ``parquet``, ``csv`` or ``json``.

        Returns:
            The files written.

        Raises:
            KprofError: the format is not known, the folder is one of the inputs, or it cannot be written.
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
    """A mapping that loads each table on first use, because a database may have millions of dispatches."""

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
    """Read files of rocprof (v1 to v3), rocpd, Omniperf or rocprof-compute. The format is detected from the content.

    Args:
        paths: files, ``.gz`` files and folders, which are searched recursively.

    Returns:
        The tables: ``counters.kernels`` is a frame with one row per kernel. Unknown values are ``NA``, never 0.

    Raises:
        InputError: a file cannot be read or its format is unknown, or no file in a folder could be read.
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
            found.append(_row_values(row))
            so_far.done += 1
    return found


def _row_values(row: Any) -> dict[str, Any]:
    """Return the row as Python values, without missing values."""
    import pandas as pd

    kept = {str(key): value for key, value in row.items() if not pd.isna(value)}
    return {key: value.item() if hasattr(value, "item") else value for key, value in kept.items()}
