"""``kprof.read_counters``: measurements of ROCm's profilers as pandas frames."""

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kprof.api.tables import Tables

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.rocprof import Data, Issue, Source

    Path_ = str | os.PathLike[str]


class Counters(Tables):
    """The tables of some measurement files. ``kprof.inputs.rocprof.COLUMNS`` says what each column means.

    Tables, as far as the files have them: ``dispatches`` (each time that a kernel ran), ``counters`` (a row a
    value; ``dispatch`` is a position in ``dispatches``), ``kernels`` (a row a kernel, source and agent), ``agents``,
    ``api_calls``, ``copies``, ``samples`` and what else the tools write. Times are in ns, sizes in bytes.

    Attributes:
        sources: the files, each with the tool that made it.
        issues: what cannot be trusted, the gravest first.
    """

    def __init__(self, data: "Data") -> None:
        """Use :func:`read_counters`."""
        super().__init__(_Frames(data))
        self.sources: list[Source] = data.sources
        self._data = data

    @property
    def issues(self) -> "list[Issue]":
        """What cannot be trusted, the gravest first."""
        return self._data.issues


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

    return Counters(rocprof.read([os.fspath(path) for path in paths]))
