"""``kprof trace gaps``: when the GPU stood still, and what the CPU did meanwhile."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.api.views import TraceAdvice, TraceView, function_of
from kprof.options.measurements import GapOptions
from kprof.output.quantities import milliseconds, percent, plural
from kprof.reporters._trace_format import kernel_label
from kprof.reporters.grids import Column, ViewTable

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.model import LinkedTrace
    from kprof_analyzers.profiles.timeline.steps import Idle

_ALL = 1_000_000
_STRETCHES = 5
_CURES = {
    "launch-bound": "launch less or earlier: a graph, torch.compile, larger batches, fewer small operators",
    "synchronisation": "wait for the GPU less often: no .item(), .cpu() or print of tensors between kernels",
}


@dataclass(frozen=True, eq=False, repr=False)
class TraceGaps(TraceView):
    """The largest gaps between GPU activities, and the stretches where launching cannot keep up.

    launch-bound: the next kernel had not been launched yet when the gap began. synchronisation: and the CPU waited for
    the GPU or for memory in it. queued: it had been launched, and the GPU waited for something else.

    Example:  kprof trace gaps trace.json.gz --at-least 50

    Attributes:
        traces: one entry a trace: ``report.gaps``, ``report.by_cause``, ``stretches`` where launching cannot keep up.
    """

    help = "Idle stretches of the GPU, their cause, and what the CPU did."
    options = GapOptions
    limited = True
    place = 40
    traces: "Sequence[Idle]"

    @classmethod
    def of_trace(cls, trace: "LinkedTrace", options: Any, rows: int = 0, **_further: Any) -> "Idle":
        """Compute the answer for one trace."""
        from kprof_analyzers.profiles.timeline.categories import load_categories
        from kprof_analyzers.profiles.timeline.gaps import find_gaps
        from kprof_analyzers.profiles.timeline.launch_bound import launch_bound_stretches
        from kprof_analyzers.profiles.timeline.steps import Idle

        rules, least = load_categories(options.categories), round(options.at_least * 1000)
        report = find_gaps(trace, rules, at_least_ns=least, limit=rows or _ALL)
        return Idle(report, launch_bound_stretches(trace)[: rows or _ALL], trace.issues)

    @staticmethod
    def path_of(part: "Idle") -> str:
        """Return the path of the trace that a part of the answer is of."""
        return part.report.path

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the tables of the answer."""
        from kprof_analyzers.profiles.timeline.gaps import Gap

        causes = (
            Column("cause", lambda row: row[0]),
            Column("ms", lambda row: milliseconds(row[1])),
            Column("share", lambda row: percent(row[1], row[2])),
        )
        gaps = (
            Column("us", lambda gap: f"{gap.duration_ns / 1000:,.1f}"),
            Column("rank/GPU", lambda gap: f"{gap.rank}/{'?' if gap.device is None else gap.device}"),
            Column("cause", lambda gap: gap.cause),
            Column("next launched by", lambda gap: " > ".join(gap.stack[-2:]) or "-", wide=True),
            Column("CPU meanwhile (us)", _meanwhile, wide=True),
            Column("next kernel", lambda gap: kernel_label(gap.after), wide=True, spare=True),
        )
        stretches = (
            Column("ms", lambda s: milliseconds(s.duration_ns)),
            Column("idle", lambda s: percent(s.idle_ns, s.duration_ns)),
            Column("launches", lambda s: f"{s.launches:,}"),
            Column("kernel us", lambda s: f"{s.mean_kernel_ns / 1000:,.1f}"),
            Column("every us", lambda s: f"{s.mean_interval_ns / 1000:,.1f}"),
            Column("operators", lambda s: ", ".join(f"{n} x{c}" for n, c in list(s.operators.items())[:3]) or "-",
                   wide=True),
        )  # fmt: skip
        return (
            ViewTable("causes", causes,
                  lambda one: [(cause, ns, one.report.total_ns) for cause, ns in one.report.by_cause.items()]),
            ViewTable("gaps", gaps, lambda one: one.report.gaps, Gap),
            ViewTable("stretches", stretches, lambda one: one.stretches[:_STRETCHES], title="launch-bound stretches:"),
        )  # fmt: skip

    @property
    def conclusion(self) -> str:
        """How many gaps, and their commonest cause."""
        total = sum(one.report.total_ns for one in self.traces)
        count = sum(one.report.count for one in self.traces)
        if not count:
            return "no gaps"
        causes: Counter[str] = Counter()
        for one in self.traces:
            causes.update(one.report.by_cause)
        cause = max(causes, key=lambda name: causes[name])
        return f"{plural(count, 'gap')}, {milliseconds(total)} ms idle; {percent(causes[cause], total)} of it {cause}"

    @classmethod
    def advice(cls, part: "Idle") -> Iterable[TraceAdvice]:
        """Return the cure of each cause, with the time that stood still because of it."""
        for cause, total in part.report.by_cause.items():
            if cause in _CURES:
                operators = part.stretches[0].operators if cause == "launch-bound" and part.stretches else {}
                most = f"; most around {', '.join(list(operators)[:2])}" if operators else ""
                yield TraceAdvice(total, f"{_CURES[cause]}{most}")


def _meanwhile(gap: Any) -> str:
    return ", ".join(f"{ns / 1000:,.0f} {name}" for name, ns in list(gap.cpu.items())[:2])


trace_gaps = function_of(TraceGaps)
