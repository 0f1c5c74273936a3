"""``kprof.trace_top``: the kernels and operators that take most GPU time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kprof.api.trace.answer import Path_, PerTrace, per_file
from kprof.errors import KprofError

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.completeness import Repairs
    from kprof_analyzers.profiles.timeline.steps import Kernels


@dataclass(frozen=True, eq=False, repr=False)
class TraceTop(PerTrace):
    """Kernels, operators and Triton kernels, those that take most GPU time first.

    Attributes:
        traces: one entry a trace: ``kernels``, ``operators``, ``triton``.
    """

    traces: "Sequence[Kernels]"

    @property
    def contents(self) -> dict[str, Any]:
        """Everything, as ``kprof trace top --json`` writes it."""
        return {"schema": "kprof.trace.top/1", "traces": self.traces}

    @property
    def conclusion(self) -> str:
        """How many kernels, and the one that takes most."""
        from kprof.reporters.trace_top_text import verdict

        return verdict(self.traces)

    def to_frame(self, table: Literal["kernels", "operators", "triton"] = "kernels") -> "pd.DataFrame":
        """A row a trace and kernel, operator, or Triton kernel with its launch; times in ns, ``share`` of 1.

        Raises:
            KprofError: there is no such table.
        """
        from kprof.reporters._frames import struct_frame
        from kprof_analyzers.profiles.timeline.top import KernelTime, OperatorTime
        from kprof_analyzers.profiles.timeline.triton_kernels import TritonKernel

        kinds: dict[str, Any] = {"kernels": KernelTime, "operators": OperatorTime, "triton": TritonKernel}
        if table not in kinds:
            raise KprofError(f"there is no table {table!r}", hint=f"there are {', '.join(kinds)}")
        rows = [({"path": one.info.path}, each) for one in self.traces for each in getattr(one, table)]
        return struct_frame(kinds[table], rows, ("path",))


def trace_top(
    *paths: Path_,
    categories: str | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    repairs: "Repairs" = (),
) -> TraceTop:
    """Which kernels, and which operators, take the time.

    Args:
        paths: traces, folders of them, or the tables that ``kprof ingest trace`` wrote.
        categories: a TOML file with rules of your own, read before those that come with kprof.
        jobs: processes, 0 for one a core.
        scheduler: a Dask scheduler that does the per-file step instead: ``tcp://host:8786``.
        repairs: ``exclude-warm-up``, ``cap-durations``: what to repair in each trace; nothing by default.

    Raises:
        InputError: a named file is missing or cannot be read, or none in a folder can.
        KprofError: the rules cannot be used.
    """
    from kprof_analyzers.profiles.timeline.steps import kernels_step

    found, left_out = per_file(
        kernels_step, paths, jobs=jobs, scheduler=scheduler, repairs=repairs, categories=categories
    )
    return TraceTop(left_out, found)
