"""``kprof.trace_steps``: statistics by step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.api.trace.answer import Path_, PerTrace, per_file

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.completeness import Repairs
    from kprof_analyzers.profiles.timeline.profiler_steps import StepTable


@dataclass(frozen=True, eq=False, repr=False)
class TraceSteps(PerTrace):
    """Kernels by the step that launched them.

    Attributes:
        traces: one entry a trace: ``steps``, the positions of the ``slow`` ones, and ``outside_ns`` in no step.
    """

    traces: "Sequence[StepTable]"

    @property
    def contents(self) -> dict[str, Any]:
        """Everything, as ``kprof trace steps --json`` writes it."""
        return {"schema": "kprof.trace.steps/1", "traces": self.traces}

    @property
    def conclusion(self) -> str:
        """How many steps of each phase, their median, and how many are slow or cut."""
        from kprof.reporters.trace_steps_text import verdict

        return verdict(self.traces)

    def to_frame(self) -> "pd.DataFrame":
        """A row a trace and step: ``kernel_ns``, ``busy_ns``, ``host_ns``, ``kernels``, ``phase``, whether it is
        ``whole``.
        """  # noqa: D205 - one sentence
        from kprof.reporters._frames import struct_frame
        from kprof_analyzers.profiles.timeline.profiler_steps import ProfilerStep

        rows = [({"path": one.info.path}, step) for one in self.traces for step in one.steps]
        return struct_frame(ProfilerStep, rows, ("path",))


def trace_steps(*paths: Path_, jobs: int = 1, scheduler: str | None = None, repairs: "Repairs" = ()) -> TraceSteps:
    """Kernels by the step that launched them.

    A step is what torch.profiler's schedule marks (``ProfilerStep#7``) or a batch that vLLM or SGLang marks. It is slow
    when its kernels take more than 1.25 of the median of its phase, and cut when kernels that it launched are missing.

    Args:
        paths: traces, folders of them, or the tables that ``kprof ingest trace`` wrote.
        jobs: processes, 0 for one a core.
        scheduler: a Dask scheduler that does the per-file step instead: ``tcp://host:8786``.
        repairs: ``exclude-warm-up``, ``cap-durations``: what to repair in each trace; nothing by default.

    Raises:
        InputError: a named file is missing or cannot be read, or none in a folder can.
    """
    from kprof_analyzers.profiles.timeline.steps import step_times_step

    found, left_out = per_file(step_times_step, paths, jobs=jobs, scheduler=scheduler, repairs=repairs)
    return TraceSteps(left_out, found)
