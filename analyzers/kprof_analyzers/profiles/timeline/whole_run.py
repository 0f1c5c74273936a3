"""Everything that a page of a run shows of one trace, from one reading of it."""

import msgspec

from kprof.inputs.torch_profiler.issues import TraceIssue
from kprof.inputs.torch_profiler.model import TraceInfo
from kprof_analyzers.profiles.timeline.breakdown import Breakdown, breakdown
from kprof_analyzers.profiles.timeline.categories import load_categories
from kprof_analyzers.profiles.timeline.files import TraceFile, open_trace
from kprof_analyzers.profiles.timeline.gaps import GapReport, find_gaps
from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorTable, limits_of, operator_table
from kprof_analyzers.profiles.timeline.profiler_steps import StepTable, step_table
from kprof_analyzers.profiles.timeline.ranks import RankPart, rank_part
from kprof_analyzers.profiles.timeline.roles import categories_of
from kprof_analyzers.profiles.timeline.top import KernelTime, top_kernels
from kprof_analyzers.profiles.timeline.tree import TimeTree, time_tree
from kprof_analyzers.profiles.timeline.triton_kernels import TritonKernel, triton_kernels
from kprof_analyzers.profiles.timeline.zoomable import SPANS, ZoomableTimeline, zoomable


class TracedRun(msgspec.Struct, frozen=True):
    """One trace: each part is what the command of its name says of it."""

    info: TraceInfo
    breakdown: Breakdown
    kernels: list[KernelTime]
    triton: list[TritonKernel]
    operators: OperatorTable
    steps: StepTable
    tree: TimeTree
    gaps: GapReport
    ranks: RankPart
    timeline: ZoomableTimeline
    issues: tuple[TraceIssue, ...]


def whole_run_step(file: TraceFile, gpu: str | None = None, spans: int = SPANS) -> TracedRun:
    """All of it; ``spans`` is how many the timeline may have."""
    trace = open_trace(file)
    rules = load_categories(None)
    return TracedRun(
        trace.info,
        breakdown(trace, rules),
        top_kernels(trace, rules),
        triton_kernels(trace, 64 if trace.info.vendor == "amd" else None),
        operator_table(trace, limits_of(trace.info, gpu)),
        step_table(trace),
        time_tree(trace, "both"),
        find_gaps(trace, rules, at_least_ns=0, limit=20),
        rank_part(trace, rules),
        zoomable(trace, categories_of(trace, rules), spans),
        trace.issues,
    )
