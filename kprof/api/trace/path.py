"""``kprof.trace_path``: the chain of kernels, launches and CPU work that decides how long a run takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kprof.api.trace.answer import Path_, TraceAnswer, per_file
from kprof.errors import KprofError

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.completeness import Repairs
    from kprof.inputs.torch_profiler.issues import TraceIssue
    from kprof_analyzers.profiles.timeline.critical_path import CriticalPath


@dataclass(frozen=True, eq=False, repr=False)
class TracePath(TraceAnswer):
    """The critical path of each rank.

    Attributes:
        paths: one a trace and rank: ``parts`` in their order, and ``times`` by kind and name.
    """

    paths: "Sequence[CriticalPath]"

    @property
    def issues(self) -> "list[TraceIssue]":
        """What was met while reading, trace by trace."""
        return [issue for path in {one.info.path: one for one in self.paths}.values() for issue in path.issues]

    @property
    def contents(self) -> dict[str, Any]:
        """Everything, as ``kprof trace path --json`` writes it."""
        return {"schema": "kprof.trace.path/1", "paths": self.paths}

    @property
    def conclusion(self) -> str:
        """How long the paths are, and what takes most of them."""
        from kprof.reporters.trace_path_text import verdict

        return verdict(self.paths)

    def to_frame(self, table: Literal["times", "parts"] = "times") -> "pd.DataFrame":
        """A row a trace, rank, kind and name: ``total_ns``, by which the run gets shorter at most, and ``count``.
        ``parts``: a row a stretch, in their order: ``start_ns``, ``duration_ns``.

        Raises:
            KprofError: there is no such table.
        """  # noqa: D205 - one sentence
        from kprof.reporters._frames import struct_frame
        from kprof_analyzers.profiles.timeline.critical_path import PathPart, PathTime

        kinds: dict[str, Any] = {"times": PathTime, "parts": PathPart}
        if table not in kinds:
            raise KprofError(f"there is no table {table!r}", hint=f"there are {', '.join(kinds)}")
        rows = [({"path": one.info.path, "rank": one.rank}, each) for one in self.paths for each in getattr(one, table)]
        return struct_frame(kinds[table], rows, ("path", "rank"))


def trace_path(*paths: Path_, jobs: int = 1, scheduler: str | None = None, repairs: "Repairs" = ()) -> TracePath:
    """What decides how long a run takes, followed back from the end of the last GPU activity of each rank.

    An activity waited for the one before it on its stream, for its launch, or for another stream, whichever was ready
    last; a launch for the CPU's work before it, back to where a thread waited for the GPU.

    Args:
        paths: traces, folders of them, or the tables that ``kprof ingest trace`` wrote.
        jobs: processes, 0 for one a core.
        scheduler: a Dask scheduler that does the per-file step instead: ``tcp://host:8786``.
        repairs: ``exclude-warm-up``, ``cap-durations``: what to repair in each trace; nothing by default.

    Raises:
        InputError: a named file is missing or cannot be read, or none in a folder can.
    """
    from kprof_analyzers.profiles.timeline.steps import path_step

    found, left_out = per_file(path_step, paths, jobs=jobs, scheduler=scheduler, repairs=repairs)
    return TracePath(left_out, [path for one in found for path in one])
