"""``kprof.trace_gaps``: when the GPU stood still, and what the CPU did meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.api.trace.answer import Path_, PerTrace, all_rows, per_file

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.completeness import Repairs
    from kprof_analyzers.profiles.timeline.steps import Idle


@dataclass(frozen=True, eq=False, repr=False)
class TraceGaps(PerTrace):
    """Idle stretches between GPU activities, the longest first.

    Attributes:
        traces: one entry a trace: ``report.gaps``, ``report.by_cause``, ``stretches`` where launching cannot keep up.
    """

    traces: "Sequence[Idle]"

    @property
    def contents(self) -> dict[str, Any]:
        """Everything, as ``kprof trace gaps --json`` writes it."""
        return {"schema": "kprof.trace.gaps/1", "traces": self.traces}

    @property
    def conclusion(self) -> str:
        """How many gaps, and their commonest cause."""
        from kprof.reporters.trace_gaps_text import verdict

        return verdict(self.traces)

    def to_frame(self) -> "pd.DataFrame":
        """A row a gap: ``path``, ``rank``, ``device``, ``start_ns``, ``duration_ns``, ``cause``, the kernels ``before``
        and ``after`` it, the ``launch`` that ended it, what the ``cpu`` did (name to ns), and its ``stack``.
        """  # noqa: D205 - one sentence
        from kprof.reporters._frames import struct_frame
        from kprof_analyzers.profiles.timeline.gaps import Gap

        return struct_frame(
            Gap, [({"path": one.report.path}, gap) for one in self.traces for gap in one.report.gaps], ("path",)
        )


def trace_gaps(
    *paths: Path_,
    at_least_us: float = 0.0,
    limit: int = 0,
    categories: str | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    repairs: "Repairs" = (),
) -> TraceGaps:
    """The largest gaps between GPU activities, and the stretches where launching cannot keep up.

    A gap is ``launch-bound`` where the next kernel had not been launched yet when it began, ``synchronisation`` where
    the CPU also waited for the GPU or for memory in it, ``queued`` where it had been launched.

    Args:
        paths: traces, folders of them, or the tables that ``kprof ingest trace`` wrote.
        at_least_us: gaps shorter than this many microseconds are left out.
        limit: how many gaps and stretches of a trace; 0 for all.
        categories: a TOML file with rules of your own, read before those that come with kprof.
        jobs: processes, 0 for one a core.
        scheduler: a Dask scheduler that does the per-file step instead: ``tcp://host:8786``.
        repairs: ``exclude-warm-up``, ``cap-durations``: what to repair in each trace; nothing by default.

    Raises:
        InputError: a named file is missing or cannot be read, or none in a folder can.
        KprofError: the rules cannot be used.
    """
    from kprof_analyzers.profiles.timeline.steps import gaps_step

    options = {"categories": categories, "at_least_ns": round(at_least_us * 1000), "limit": all_rows(limit)}
    found, left_out = per_file(gaps_step, paths, jobs=jobs, scheduler=scheduler, repairs=repairs, **options)
    return TraceGaps(left_out, found)
