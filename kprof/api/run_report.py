"""``kprof.run_report``: one page of what traces and counters say of a run, without a kernel."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.api.measurements import Paths, paths
from kprof.api.result import Result
from kprof.api.run_kernel_pages import write_kernel_pages
from kprof.api.trace.answer import Path_, per_file
from kprof.errors import KprofError, TargetError
from kprof.targets.target import TargetLike

if TYPE_CHECKING:
    import pandas as pd

    from kprof.api.counters.metrics import CounterMetrics
    from kprof.api.counters.roofline import CounterRoofline
    from kprof_analyzers.profiles.timeline.files import LeftOut
    from kprof_analyzers.profiles.timeline.ranks import RankReport
    from kprof_analyzers.profiles.timeline.whole_run import TracedRun


@dataclass(frozen=True, eq=False, repr=False)
class RunReport(Result):
    """What was measured of a run.

    Attributes:
        traces: each with its timeline, kernels, operators, steps and tree; empty where only counters were given.
        ranks: the traces' ranks compared; ``None`` without traces.
        metrics: of the counters; ``None`` where none were given.
        roofline: kernels under the roofs; ``None`` without counters, or where ``notes`` says why there is none.
        left_out: files of folders that could not be read.
        notes: what is not on the page, and why.
        kernel_pages: kernels of the traces to the files of their pages, beside the run's.
    """

    traces: "Sequence[TracedRun]"
    ranks: "RankReport | None" = None
    metrics: "CounterMetrics | None" = None
    roofline: "CounterRoofline | None" = None
    left_out: "Sequence[LeftOut]" = ()
    notes: Sequence[str] = ()
    kernel_pages: Mapping[str, str] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        """Everything but the timelines."""
        from kprof.reporters.html.run import SCHEMA

        kept = [
            {name: getattr(one, name) for name in one.__struct_fields__ if name not in {"timeline", "ranks"}}
            for one in self.traces
        ]
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
        """How many traces and how much GPU time, where most of it is lost, and how many kernels have counters."""
        from kprof.reporters.html.run import verdict

        return verdict(self.traces, self.metrics.kernels if self.metrics is not None else ())

    def to_frame(self) -> "pd.DataFrame":
        """A row a trace and kernel, as :meth:`kprof.api.trace.top.TraceTop.to_frame`."""
        from kprof.reporters._frames import struct_frame
        from kprof_analyzers.profiles.timeline.top import KernelTime

        rows = [({"path": one.info.path}, each) for one in self.traces for each in one.kernels]
        return struct_frame(KernelTime, rows, ("path",))

    def to_html(self) -> str:
        """One self-contained page: timeline, tree, operators, rooflines, steps, ranks, counters."""
        from kprof.reporters.html.run import run_page

        return run_page(
            self.traces,
            self.ranks,
            None if self.metrics is None else (self.metrics.chosen, self.metrics.kernels),
            None if self.roofline is None else (self.roofline.gpu, self.roofline.roofs, self.roofline.points),
            [*(f"left out: {one.path}: {one.reason}" for one in self.left_out), *self.notes],
            pages=self.kernel_pages,
        )

    def formats(self) -> list[str]:
        """Endings that :meth:`save` takes."""
        return [".html", *super().formats()]

    def _as(self, ending: str, target: Path) -> str:
        return self.to_html() if ending == ".html" else super()._as(ending, target)


def run_report(
    *,
    trace: Paths = (),
    counters: Paths = (),
    output: "Path_ | None" = None,
    arch: str | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    targets: TargetLike | Sequence[TargetLike] = (),
    **options: Any,
) -> RunReport:
    """One HTML page of what traces and counters say of a run. It needs nothing but a browser.

    Args:
        trace: PyTorch traces, folders of them, or the tables that ``kprof ingest trace`` wrote.
        counters: files and folders of a ROCm profiler.
        output: the page, ``run.html``; nothing is written when ``None``.
        arch: the product, where the files do not name their GPU.
        jobs: processes that read traces, 0 for one a core.
        scheduler: a Dask scheduler that does it instead.
        targets: kernels in the traces, as for :func:`kprof.analyze`. Each kernel gets a page of its own beside the
            run's, with what the traces say of it; the run's links to it.
        options: how the targets are compiled: arguments of :func:`kprof.analyze`.

    Raises:
        InputError: a file cannot be read, or the traces have no kernel of the targets.
        TargetError: targets without traces, or without a file for the run's page; options without targets.
        KprofError: nothing was given, the product is not known, or a page cannot be written.
    """
    from kprof.output.writing import write_output

    traced, counted = paths(trace), paths(counters)
    if not (traced or counted):
        raise KprofError("there is nothing to report on", hint="Name traces (--trace) or counters (--counters).")
    given = targets if isinstance(targets, Sequence) and not isinstance(targets, str) else [targets]
    if given and not traced:
        raise TargetError("targets are joined with the kernels of traces", hint="Name traces (--trace).")
    if given and (output is None or os.fspath(output) == "-"):
        raise TargetError("pages of kernels stand beside the page of a run", hint="Name a file for that: -o run.html")
    used = sorted(name for name, value in options.items() if value)
    if used and not given:
        raise TargetError(f"without a target there is no use for {', '.join(used)}", hint="--target FILE.py::NAME")
    found = _of_traces(traced, arch, jobs, scheduler) if traced else RunReport([])
    if counted:
        found = _with_counters(found, counted, arch)
    if given and output is not None:
        measured = {**options, "arch": arch or "", "trace": traced}
        pages, notes = write_kernel_pages(given, found.traces, output, measured)
        found = replace(found, kernel_pages=pages, notes=[*found.notes, *notes])
    if output is not None:
        write_output(os.fspath(output), found.to_html())
    return found


def _of_traces(given: Sequence[str], arch: str | None, jobs: int, scheduler: str | None) -> RunReport:
    from kprof.inputs.completeness import headline
    from kprof.reporters.html.run import TRACES
    from kprof_analyzers.profiles.timeline.files import trace_files
    from kprof_analyzers.profiles.timeline.ranks import compare_ranks
    from kprof_analyzers.profiles.timeline.whole_run import whole_run_step
    from kprof_analyzers.profiles.timeline.zoomable import SPANS

    many = len(trace_files([Path(path) for path in given]))
    spans = SPANS // min(many, TRACES)
    found, left_out = per_file(whole_run_step, given, jobs=jobs, scheduler=scheduler, gpu=arch, spans=spans)
    incomplete = headline(issue for one in found for issue in one.ranks.issues)
    notes = [incomplete] if incomplete else []
    if many > TRACES:
        notes.append(f"only the first {TRACES} of {many:,} traces have a timeline")
    return RunReport(found, compare_ranks([one.ranks for one in found], limit=20), left_out=left_out, notes=notes)


def _with_counters(found: RunReport, counted: Sequence[str], arch: str | None) -> RunReport:
    from kprof.api.counters.metrics import counter_metrics
    from kprof.api.counters.roofline import counter_roofline

    metrics = counter_metrics(*counted, arch=arch)
    try:
        return replace(found, metrics=metrics, roofline=counter_roofline(*counted, arch=arch))
    except KprofError as error:
        notes = [*found.notes, f"no roofline of the counters: {error.message}"]
        return replace(found, metrics=metrics, notes=notes)
