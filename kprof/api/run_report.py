"""``kprof.run_report``: write one page about the traces and counters of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.api.result import Result
from kprof.api.run_kernel_pages import write_kernel_pages
from kprof.api.trace_runs import TracedRun, TracedRuns, page_parts, part_of, read_runs
from kprof.errors import KprofError, TargetError
from kprof.options.kernels import KernelOptions, RunReportOptions
from kprof.options.keywords import keywords
from kprof.options.measurements import TraceReportOptions

if TYPE_CHECKING:
    import pandas as pd

    from kprof.api.counters.metrics import CounterMetrics
    from kprof.api.counters.roofline import CounterRoofline
    from kprof_analyzers.profiles.timeline.files import LeftOut
    from kprof_analyzers.profiles.timeline.ranks import RankReport

_KEPT = ("info", "breakdown", "kernels", "triton", "operators", "steps", "tree", "gaps", "issues")
_OF_A_RUN = frozenset({"arch", "trace", "counters", "output", "jobs", "scheduler", "target"})


@dataclass(frozen=True, eq=False, repr=False)
class RunReport(Result):
    """Measurements of a run.

    Attributes:
        traces: traces, each with its timeline, kernels, operators, steps and tree; empty with counters only.
        runs: the traces with each view over all of them; ``None`` without traces.
        metrics: metrics of the counters; ``None`` without counters.
        roofline: kernels on the roofline; ``None`` without counters, or if ``notes`` explains why it could not be
            computed.
        left_out: files of folders that could not be read.
        notes: sentences on what is missing from the page, and why.
        kernel_pages: file names of the kernels' pages next to the run's page, by kernel.
    """

    traces: Sequence[TracedRun]
    runs: TracedRuns | None = None
    metrics: "CounterMetrics | None" = None
    roofline: "CounterRoofline | None" = None
    left_out: "Sequence[LeftOut]" = ()
    notes: Sequence[str] = ()
    kernel_pages: Mapping[str, str] = field(default_factory=dict)

    @property
    def ranks(self) -> "RankReport | None":
        """Comparison of the traces' ranks; ``None`` without traces."""
        return None if self.runs is None else self.runs.answers["ranks"].report  # type: ignore[attr-defined]  # as named

    @property
    def document(self) -> dict[str, Any]:
        """The measurements as a document, without the timelines."""
        from kprof.reporters.html.run import SCHEMA

        kept = [{name: getattr(one, name) for name in _KEPT} for one in self.traces]
        return {
            "schema": SCHEMA,
            "traces": kept,
            "ranks": self.ranks,
            "metrics": None if self.metrics is None else self.metrics.document,
            "roofline": None if self.roofline is None else self.roofline.document,
            "left_out": list(self.left_out),
            "notes": list(self.notes),
            "kernel_pages": dict(self.kernel_pages),
        }

    @property
    def summary(self) -> str:
        """The number of traces, their GPU time and largest loss of time, and the number of kernels with counters."""
        from kprof.reporters.html.run import verdict

        return verdict(self.traces, self.metrics.kernels if self.metrics is not None else ())

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per trace and kernel, as :meth:`kprof.api.trace.top.TraceTop.to_frame` does."""
        from kprof.api.frames import struct_frame
        from kprof_analyzers.profiles.timeline.top import KernelTime

        rows = [({"path": one.info.path}, each) for one in self.traces for each in one.kernels]
        return struct_frame(KernelTime, rows, ("path",))

    def to_html(self) -> str:
        """Return one self-contained page: timeline, tree, operators, rooflines, steps, ranks, counters."""
        from kprof.reporters.html.run import run_page

        runs = self.runs
        return run_page(
            [] if runs is None else [(one, page_parts(runs, place)) for place, one in enumerate(runs.traces)],
            summary=self.summary,
            after=[] if runs is None else [part_of("ranks", runs.answers["ranks"])],
            counted=None if self.metrics is None else (self.metrics.chosen, self.metrics.kernels),
            roofs=None if self.roofline is None else (self.roofline.gpu, self.roofline.roofs, self.roofline.points),
            notes=[*(f"left out: {one.path}: {one.reason}" for one in self.left_out), *self.notes],
            pages=self.kernel_pages,
        )

    def formats(self) -> list[str]:
        """Return the file suffixes that :meth:`save` supports."""
        return [".html", *super().formats()]

    def _as(self, ending: str, target: Path) -> str | bytes:
        return self.to_html() if ending == ".html" else super()._as(ending, target)


@keywords
def run_report(*, options: RunReportOptions) -> RunReport:
    """Write one self-contained HTML page about the traces and counters of a run.

    Each kernel of ``target`` gets its own page with its measurements from the traces, which the run's page links to.
    ``arch`` names the product if the files do not contain it. The other options define how the kernels are compiled.

    Args:
        options: the measurements, and the page's file; nothing is written without ``output``.

    Raises:
        InputError: a file cannot be read, or the traces contain no kernel of the targets.
        TargetError: targets are named without traces or without a file for the run's page, or options without targets.
        KprofError: no measurement is named, the product is not known, or a page cannot be written.
    """
    from kprof.output.writing import write_output

    arch = options.one_gpu("a page of a run") or None
    idle = [f"--{name.replace('_', '-')}" for name in options.given() if name not in _OF_A_RUN]
    if idle and not options.target:
        raise TargetError(f"{', '.join(idle)} can only be used with a target", hint="--target FILE.py::NAME")
    if not (options.trace or options.counters):
        raise KprofError("there is nothing to report on", hint="Name a kernel, or --trace and --counters of a run.")
    if options.target and not options.trace:
        raise TargetError("--target can only be used with traces", hint="Name traces (--trace).")
    if options.target and options.output in {None, "-"}:
        raise TargetError(
            "pages of kernels are written next to the page of a run", hint="Name a file for the run's page: -o run.html"
        )
    found = _of_traces(options, arch) if options.trace else RunReport([])
    if options.counters:
        found = _with_counters(found, options.counters, arch)
    if options.output is None:
        return found
    if options.target:
        measured = replace(options.part(KernelOptions), counters=())
        pages, notes = write_kernel_pages(options.target, found.traces, options.output, measured)
        found = replace(found, kernel_pages=pages, notes=[*found.notes, *notes])
    write_output(options.output, found.to_html())
    return found


def _of_traces(options: RunReportOptions, arch: str | None) -> RunReport:
    from kprof.inputs.completeness import headline
    from kprof.reporters.html.run import TRACES

    asked = TraceReportOptions(jobs=options.jobs, scheduler=options.scheduler, arch=arch or ())
    runs = read_runs(options.trace, asked)
    incomplete = headline(issue for one in runs.traces for issue in one.ranks.issues)
    notes = [incomplete] if incomplete else []
    many = len(runs.traces) + len(runs.left_out)
    if many > TRACES:
        notes.append(f"only the first {TRACES} of {many:,} traces have a timeline")
    return RunReport(runs.traces, runs, left_out=runs.left_out, notes=notes)


def _with_counters(found: RunReport, counted: Sequence[str], arch: str | None) -> RunReport:
    from kprof.api.counters.metrics import counter_metrics
    from kprof.api.counters.roofline import counter_roofline

    metrics = counter_metrics(*counted, arch=arch)
    try:
        return replace(found, metrics=metrics, roofline=counter_roofline(*counted, arch=arch))
    except KprofError as error:
        notes = [*found.notes, f"no roofline of the counters: {error.message}"]
        return replace(found, metrics=metrics, notes=notes)
