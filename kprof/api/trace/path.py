"""``kprof trace path``: the critical path of kernels, launches and CPU work that determines a run's duration."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.api.views import TraceView, function_of
from kprof.options.measurements import TraceOptions
from kprof.output.quantities import milliseconds, percent
from kprof.reporters._trace_format import kernel_label, label
from kprof.reporters.grids import Column, ViewTable

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.issues import TraceIssue
    from kprof.inputs.torch_profiler.model import LinkedTrace
    from kprof_analyzers.profiles.timeline.critical_path import CriticalPath
    from kprof_analyzers.profiles.timeline.files import LeftOut

SHORTENED_BY = {
    "kernel": "faster kernels",
    "copy": "fewer or smaller copies",
    "launch": "launching earlier",
    "cpu": "launching less or earlier: a graph, torch.compile, larger batches",
    "synchronisation": "waiting for the GPU less often",
    "gap": "fewer kernels, or a graph of them",
}


@dataclass(frozen=True, eq=False, repr=False)
class TracePath(TraceView):
    """Find the critical path of a run, traced back from the end of each rank's last GPU activity.

    A GPU activity waits for the previous activity on its stream, for its launch, or for another stream, whichever ends
    last. A launch waits for the CPU work before it, back to where a thread waited for the GPU. Speeding up work that is
    not on the path does not shorten the run; work on the path shortens it by at most its time there.

    Example:  kprof trace path trace.json.gz

    Attributes:
        traces: one entry per trace and rank: ``parts`` in order, and ``times`` by kind and name.
    """

    help = "The critical path: what determines a run's duration, and what would shorten it."
    options = TraceOptions
    place = 0
    traces: "Sequence[CriticalPath]"

    @classmethod
    def of_trace(cls, trace: "LinkedTrace", options: Any, **_further: Any) -> "list[CriticalPath]":  # noqa: ARG003 - has no options
        """Compute the critical path of each rank of a trace."""
        from kprof_analyzers.profiles.timeline.critical_path import critical_paths

        return critical_paths(trace)

    @classmethod
    def combined(cls, left_out: "Sequence[LeftOut]", found: Sequence[Any]) -> "TracePath":
        """Combine the critical paths of all files."""
        return cls(left_out, [path for one in found for path in one])

    @property
    def paths(self) -> "Sequence[CriticalPath]":
        """One path per trace and rank."""
        return self.traces

    @property
    def contents(self) -> dict[str, Any]:
        """The document without ``incomplete``, the sentence about missing data."""
        return {"schema": "kprof.trace.path/1", "paths": self.traces}

    @property
    def issues(self) -> "list[TraceIssue]":
        """Issues found while reading, in the order of traces."""
        return [issue for path in {one.info.path: one for one in self.traces}.values() for issue in path.issues]

    @property
    def parts(self) -> Sequence[tuple[str, Any]]:
        """The path of each trace and rank, with its name."""
        return [(f"{label(one.info.path, 80)}, rank {one.rank}", one) for one in self.traces]

    def leading(self, part: Any) -> Mapping[str, Any]:
        """Return the additional first columns of a data frame: ``path`` and ``rank``."""
        return {"path": part.info.path, "rank": part.rank}

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the tables of this view.

        Each row of the first two tables also contains the path's length in ns, from which shares are computed.
        """
        from kprof_analyzers.profiles.timeline.critical_path import PathPart, PathTime

        kinds = (
            Column("at most ms", lambda row: milliseconds(row[1])),
            Column("of path", lambda row: percent(row[1], row[2])),
            Column("what", lambda row: row[0]),
            Column("is shortened by", lambda row: SHORTENED_BY[row[0]], wide=True),
        )
        times = (
            Column("at most ms", lambda row: milliseconds(row[0].total_ns)),
            Column("of path", lambda row: percent(row[0].total_ns, row[1])),
            Column("times", lambda row: f"{row[0].count:,}"),
            Column("what", lambda row: row[0].kind),
            Column("name", lambda row: kernel_label(row[0].name, 80) or "-", wide=True),
        )
        parts = (
            Column("start ms", lambda part: milliseconds(part.start_ns)),
            Column("ms", lambda part: milliseconds(part.duration_ns)),
            Column("what", lambda part: part.kind),
            Column("name", lambda part: kernel_label(part.name, 80) or "-", wide=True),
        )
        return (
            ViewTable("kinds", kinds, lambda one: [(kind, ns, one.span_ns) for kind, ns in one.kinds.items() if ns]),
            ViewTable(
                "times", times, lambda one: [(time, one.span_ns) for time in one.times], PathTime, remarks=_remarks
            ),
            ViewTable("parts", parts, lambda one: one.parts, PathPart, title="The path", optional=True),
        )

    @property
    def conclusion(self) -> str:
        """The length of the longest path, and its largest part, in one line."""
        one = max(self.traces, key=lambda path: path.span_ns, default=None)
        if one is None or not one.span_ns:
            return "no GPU activity in these traces"
        kind, time = next(iter(one.kinds.items()))
        first = one.times[0]
        of = f"the longest of {len(self.traces)} paths" if len(self.traces) > 1 else "the path"
        name = kernel_label(first.name, 50) or first.kind
        takes = f"{of} takes {milliseconds(one.span_ns)} ms, {percent(time, one.span_ns)} of it {kind}"
        return f"{takes}; most in {name}: without it at most {milliseconds(first.total_ns)} ms less"


def _remarks(one: "CriticalPath") -> Iterable[str]:
    if not one.span_ns:
        yield "no GPU activity"
    elif one.assumed:
        yield f"Assumed: {one.assumed:,} waits for another stream or thread."


trace_path = function_of(TracePath)
