"""``kprof.read_trace``: read a timeline as pandas frames."""

from pathlib import Path
from typing import TYPE_CHECKING

from kprof.api.options import Path_
from kprof.api.tables import Tables
from kprof.errors import InputError

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.issues import TraceIssue
    from kprof.inputs.torch_profiler.model import LinkedTrace as LinkedTables


class Trace(Tables):
    """The linked tables of one trace.

    The tables are ``kernels`` and ``transfers`` (GPU activity), ``communications`` (kernels named after a collective),
    ``launches`` (API calls), ``operators`` (CPU operators and annotations), ``frames`` (Python) and ``memory``
    (allocator events). Times are in ns; ``launch`` and ``operator`` are row positions in ``launches`` and
    ``operators``, or -1 if unknown. ``kprof.inputs.torch_profiler.tables`` lists all columns.

    Attributes:
        info: path, vendor, ranks and number of events.
        issues: problems found while reading, and the data lost by each.
    """

    def __init__(self, linked: "LinkedTables") -> None:
        """Wrap the tables of a trace; :func:`read_trace` reads them and calls this."""
        from kprof.inputs.torch_profiler.tables import frames

        super().__init__(frames(linked))
        self.info = linked.info
        self.issues: list[TraceIssue] = list(linked.issues)


def read_trace(path: "Path_", *, stacks: bool = False) -> Trace:
    """Read a timeline of PyTorch (1.8 from 2021 to current, ROCm or CUDA), rocprofv3, rocpd, rocprof-sys or JAX.

    Args:
        path: a file of one of these tools, or a folder of Parquet tables that ``kprof ingest trace`` wrote.
        stacks: keep every Python frame.

    Returns:
        The tables: ``trace.kernels`` or ``trace["kernels"]`` is a frame with one row per kernel that ran.

    Raises:
        InputError: the file does not exist, is damaged or is not a trace; it is a folder with several traces; or it is
            a Proton profile, which has no timeline.
    """
    from kprof.inputs.torch_profiler.load import MODULES_ONLY
    from kprof_analyzers.profiles.timeline.files import open_trace, trace_files

    files = trace_files([Path(path)])
    if len(files) > 1:
        raise InputError(f"this folder holds {len(files)} traces", path=str(path), hint="name one of them")
    return Trace(open_trace(files[0], shortest_frame_us=0 if stacks else MODULES_ONLY))
