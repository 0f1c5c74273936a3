"""Read each trace once for all views, for the pages of runs and ``kprof trace report``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.api.options import Path_
from kprof.api.views import TraceView, load_view, names_in, per_file
from kprof.options.measurements import AnswerOptions, TraceReportOptions
from kprof.options.option import declared
from kprof.reporters.grids import PAGE_ROWS

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.issues import TraceIssue
    from kprof.inputs.torch_profiler.model import TraceInfo
    from kprof.reporters.html.run import PagePart
    from kprof_analyzers.profiles.timeline.breakdown import Breakdown
    from kprof_analyzers.profiles.timeline.files import LeftOut, TraceFile
    from kprof_analyzers.profiles.timeline.gaps import GapReport
    from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorTable
    from kprof_analyzers.profiles.timeline.profiler_steps import StepTable
    from kprof_analyzers.profiles.timeline.ranks import RankPart
    from kprof_analyzers.profiles.timeline.top import KernelTime
    from kprof_analyzers.profiles.timeline.tree import TimeTree
    from kprof_analyzers.profiles.timeline.triton_kernels import TritonKernel
    from kprof_analyzers.profiles.timeline.zoomable import ZoomableTimeline

ROWS = 20
"""Maximum number of gaps and of collectives in a report."""


@dataclass(frozen=True)
class TracedRun:
    """Data of a trace that is read once: the result of each view, and the timeline.

    Attributes:
        info: path, GPUs and ranks of the trace.
        parts: each view's result for the trace, by the view's name.
        timeline: the activities of each stream, as spans.
        issues: issues found while reading.
    """

    info: "TraceInfo"
    parts: Mapping[str, Any]
    timeline: "ZoomableTimeline"
    issues: "tuple[TraceIssue, ...]"

    @property
    def breakdown(self) -> "Breakdown":
        """GPU time by category."""
        return self.parts["breakdown"].breakdown  # type: ignore[no-any-return]  # parts are of any view

    @property
    def kernels(self) -> "list[KernelTime]":
        """Kernels, most time first."""
        return self.parts["top"].kernels  # type: ignore[no-any-return]  # as above

    @property
    def triton(self) -> "list[TritonKernel]":
        """Triton kernels with their launch shapes."""
        return self.parts["top"].triton  # type: ignore[no-any-return]  # as above

    @property
    def operators(self) -> "OperatorTable":
        """Operators compared with the GPU's limits."""
        return self.parts["ops"]  # type: ignore[no-any-return]  # as above

    @property
    def steps(self) -> "StepTable":
        """Steps in chronological order."""
        return self.parts["steps"]  # type: ignore[no-any-return]  # as above

    @property
    def tree(self) -> "TimeTree":
        """Time by module and operator."""
        return self.parts["tree"]  # type: ignore[no-any-return]  # as above

    @property
    def gaps(self) -> "GapReport":
        """Idle gaps of the GPU."""
        return self.parts["gaps"].report  # type: ignore[no-any-return]  # as above

    @property
    def ranks(self) -> "RankPart":
        """Device times and communication of the trace's ranks."""
        return self.parts["ranks"]  # type: ignore[no-any-return]  # as above


@dataclass(frozen=True)
class TracedRuns:
    """All traces of a run, each read once.

    Attributes:
        traces: data of each trace.
        left_out: files of folders that could not be read.
        answers: views over all traces, by name, in the order of a page.
    """

    traces: Sequence[TracedRun]
    left_out: "Sequence[LeftOut]"
    answers: Mapping[str, TraceView]


def views_of_a_report() -> dict[str, type[TraceView]]:
    """Return the views that are part of a report, by name and in the report's order."""
    found = {name: load_view("trace", name) for name in names_in("trace") if name != "report"}
    traced = {name: view for name, view in found.items() if issubclass(view, TraceView) and view.place}
    return dict(sorted(traced.items(), key=lambda item: (item[1].place, item[0])))


def read_runs(paths: Sequence[Path_], options: TraceReportOptions) -> TracedRuns:
    """Read each trace once, for all views.

    Raises:
        InputError: a named file is missing or cannot be read, or no file in a folder can be read.
    """
    from kprof.reporters.html.run import TRACES
    from kprof_analyzers.profiles.timeline.files import trace_files
    from kprof_analyzers.profiles.timeline.zoomable import SPANS

    many = len(trace_files([Path(path) for path in paths]))
    found, left_out = per_file(one_run, paths, options, options=options, spans=SPANS // min(many, TRACES))
    answers = {
        name: view.combined(left_out, [one.parts[name] for one in found]) for name, view in views_of_a_report().items()
    }
    return TracedRuns(found, left_out, answers)


def one_run(file: "TraceFile", options: TraceReportOptions, spans: int) -> TracedRun:
    """Read a trace and compute every part of the report; may run in a worker process.

    Args:
        file: the trace.
        options: options of the report.
        spans: maximum number of spans of the timeline.
    """
    from kprof_analyzers.profiles.timeline.categories import load_categories
    from kprof_analyzers.profiles.timeline.files import open_trace
    from kprof_analyzers.profiles.timeline.roles import categories_of
    from kprof_analyzers.profiles.timeline.zoomable import zoomable

    trace = open_trace(file)
    parts = {}
    for name, view in views_of_a_report().items():
        shared = {one.name for one in declared(view.options)} & {one.name for one in declared(TraceReportOptions)}
        given: dict[str, Any] = {each: getattr(options, each) for each in shared}
        given |= {"by": "both"} if name == "tree" else {}
        parts[name] = view.of_trace(trace, view.options(**given), **({"rows": ROWS} if view.limited else {}))
    categories = categories_of(trace, load_categories(options.categories))
    return TracedRun(trace.info, parts, zoomable(trace, categories, spans), trace.issues)


def page_parts(runs: TracedRuns, place: int) -> "list[PagePart]":
    """Return the parts of a page about the trace at position ``place``, one part per view."""
    found = []
    for name, answer in runs.answers.items():
        # The page draws the tree as a picture, and compares ranks of all traces in one place.
        if name not in {"tree", "ranks"}:
            own = type(answer).combined((), [runs.traces[place].parts[name]])
            found.append(part_of(name, own))
    return found


def part_of(name: str, answer: TraceView) -> "PagePart":
    """Convert a computed view to a part of a page: its tables, pictures and conclusion."""
    from kprof.reporters.html.run import PagePart

    display = AnswerOptions(top=PAGE_ROWS, show=tuple(table.name for table in answer.tables()))
    grids = [grid for _, part in answer.parts for grid in answer.grids(part, display)]
    return PagePart(name, type(answer).help, answer.advised, grids, answer.pictures())
