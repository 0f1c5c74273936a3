"""``kprof.read_trace``: a timeline as pandas frames."""

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

    Tables: ``kernels`` and ``transfers`` (what ran on the GPU), ``communications`` (the kernels that carry a
    collective's name), ``launches`` (API calls), ``operators`` (CPU operators and annotations), ``frames`` (Python)
    and ``memory`` (allocator events). Times are in ns; ``launch`` and ``operator`` are positions of rows in
    ``launches`` and ``operators``, -1 where none is known. ``kprof.inputs.torch_profiler.tables`` lists all columns.

    Attributes:
        info: path, vendor, ranks and how many events there were.
        issues: what was met while reading and what was lost by it.
    """

    def __init__(self, linked: "LinkedTables") -> None:
        """Use :func:`read_trace`."""
        from kprof.inputs.torch_profiler.tables import frames

        super().__init__(frames(linked))
        self.info = linked.info
        self.issues: list[TraceIssue] = list(linked.issues)


def read_trace(path: "Path_", *, stacks: bool = False) -> Trace:
    """Read a timeline: of PyTorch (1.8 of 2021 to now, ROCm or CUDA), rocprofv3, rocpd, rocprof-sys or JAX.

    Args:
        path: a file of one of them, or a folder of Parquet tables that ``kprof ingest trace`` wrote.
        stacks: keep every Python frame.

    Returns:
        Its tables: ``trace.kernels`` or ``trace["kernels"]`` is a frame with a row a kernel that ran.

    Raises:
        InputError: there is no such file, it is no trace or damaged, it is a folder with several traces, or a Proton
            profile, which has no timeline.
    """
    from kprof.inputs.torch_profiler.load import MODULES_ONLY
    from kprof_analyzers.profiles.timeline.files import open_trace, trace_files

    files = trace_files([Path(path)])
    if len(files) > 1:
        raise InputError(f"this folder holds {len(files)} traces", path=str(path), hint="name one of them")
    return Trace(open_trace(files[0], shortest_frame_us=0 if stacks else MODULES_ONLY))
