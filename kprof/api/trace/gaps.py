"""``kprof trace gaps``: the GPU's idle gaps, and what the CPU did during them."""

import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from kprof.api.views import TraceAdvice, TraceView, function_of
from kprof.options.measurements import GapOptions
from kprof.output.quantities import milliseconds, percent, plural
from kprof.output.sink import one_line
from kprof.reporters._trace_format import kernel_label
from kprof.reporters.grids import Column, Grid, ViewTable, chosen

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.model import LinkedTrace
    from kprof_analyzers.profiles.timeline.steps import Idle

_ALL = 1_000_000
_STRETCHES = 5
_MEANINGS = {
    "launch-bound": "the CPU had not launched the next kernel yet",
    "synchronisation": "the CPU waited for the GPU before it launched more",
    "queued": "the next kernel was launched, and the GPU waited for something else",
    "unknown": "the trace does not contain the next kernel's launch",
}
_ONE_GRAPH = 'torch.compile({}, mode="reduce-overhead")'
_ONE_GRAPH_WHY = "it launches many kernels as one graph"
_NO_WAITING = (
    "tensor.to(device, non_blocking=True) from pinned memory",
    "and no .item(), .cpu() or print of tensors between kernels",
)
_WHOLE_RECORDING = "torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])"
_OUTSIDE = {"(no operator)": "Python outside operators (with_stack=True records the function)"}
_FUNCTION = re.compile(r"(?P<file>[^(<>]+)\((?P<line>\d+)\): (?P<name>.+)")
# Path prefixes of functions of Python and torch. They are skipped, because a user can only change their callers.
_LIBRARIES = ("torch/", "<")
_INSTALLED = re.compile(r".*/(?:site-packages|dist-packages|lib/python\d\.\d+)/")
_COMPILED = "OptimizedModule"
_MOST_OF_IT, _WORTH_A_MODULE = 0.5, 0.2
"""Minimum share of the launch-bound time for which advice names one module: without and with graph launches."""
_LITTLE = 0.01
"""If the GPUs are idle for less than this share of the span, advice on other views comes first."""
_NAME = 44
"""Maximum length of a name in the verdict."""
_PLACES = 2
"""Maximum number of operators that advice names as locations of gaps."""


@dataclass(frozen=True, eq=False, repr=False)
class TraceGaps(TraceView):
    """Find the largest gaps between GPU activities, and the stretches where launching cannot keep up.

    Causes of gaps. Launch-bound: when the gap began, the next kernel had not been launched. Synchronisation: it had not
    been launched either, and the CPU waited for the GPU or for memory during the gap. Queued: the next kernel had been
    launched, and the GPU waited for something else.

    Example:  kprof trace gaps trace.json.gz --at-least 50

    Attributes:
        traces: one entry per trace: ``report.gaps``, ``report.by_cause``, and launch-bound ``stretches``.
    """

    help = "Idle stretches of the GPU, their cause, and what the CPU did."
    options = GapOptions
    limited = True
    place = 40
    # Python calls shorter than this cannot explain a gap that is long enough to be shown.
    shortest_frame_us = 20.0
    traces: "Sequence[Idle]"

    @classmethod
    def of_trace(cls, trace: "LinkedTrace", options: Any, rows: int = 0, **_further: Any) -> "Idle":
        """Find the gaps of one trace."""
        from kprof.inputs.completeness import is_graph_launch
        from kprof_analyzers.profiles.timeline.categories import load_categories
        from kprof_analyzers.profiles.timeline.gaps import find_gaps
        from kprof_analyzers.profiles.timeline.launch_bound import launch_bound_stretches
        from kprof_analyzers.profiles.timeline.steps import Idle

        rules, least = load_categories(options.categories), round(options.at_least * 1000)
        report = find_gaps(trace, rules, at_least_ns=least, limit=rows or _ALL)
        names = trace.launches.words("name")
        graphs = sum(names.readable.count(code) for code, name in enumerate(names.words) if is_graph_launch(name or ""))
        return Idle(report, launch_bound_stretches(trace)[: rows or _ALL], trace.issues, graphs)

    @staticmethod
    def path_of(part: "Idle") -> str:
        """Return the path of the trace of one entry."""
        return part.report.path

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the tables of this view."""
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
            Column(
                "next operator or kernel",
                lambda gap: gap.stack[-1] if gap.stack else kernel_label(gap.after),
                wide=True,
            ),
            Column("CPU meanwhile (us)", _meanwhile, wide=True),
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

    def grids(self, part: "Idle", display: Any) -> list[Grid]:
        """Return the tables as shown; gaps that round to 0.0 µs are hidden unless all rows are requested."""
        named = zip(chosen(self.tables(), display.show), super().grids(part, display), strict=True)
        return [
            _without_zero_rows(grid, part) if display.top and table.name == "gaps" else grid for table, grid in named
        ]

    @property
    def conclusion(self) -> str:
        """The idle time of the GPUs, its main cause, and the location of the longest gap, in one line."""
        total = sum(one.report.total_ns for one in self.traces)
        count = sum(one.report.count for one in self.traces)
        if not count:
            return "no gaps"
        causes: Counter[str] = Counter()
        for one in self.traces:
            causes.update(one.report.by_cause)
        cause = max(causes, key=lambda name: causes[name])
        span = sum(one.report.span_ns for one in self.traces)
        idle = f"GPU idle {percent(total, span)} of {milliseconds(span)} ms, {milliseconds(total)} ms"
        why = f"{percent(causes[cause], total)} of it {cause}: {_MEANINGS[cause]}"
        return f"{self.basis}: {idle} in {plural(count, 'gap')}; {why}{self._longest()}"

    def _longest(self) -> str:
        """Return the location of the longest gap: the kernel after it, and the operator that launched the kernel."""
        gaps = [gap for one in self.traces for gap in one.report.gaps]
        if not gaps:
            return ""
        gap = max(gaps, key=lambda gap: gap.duration_ns)
        by = f", launched by {kernel_label(gap.stack[-1], _NAME)}" if gap.stack else ""
        doing = next(iter(gap.cpu), "")
        inside = _function(gap.functions) or _OUTSIDE.get(doing, one_line(doing))
        during = f", while the CPU was in {inside}" if inside else ""
        longest = f"the longest, {milliseconds(gap.duration_ns)} ms ({gap.cause})"
        return f"; {longest}, before {kernel_label(gap.after, _NAME)}{by}{during}"

    @property
    def first_advice(self) -> TraceAdvice | None:
        """The advice that could save the most; if the GPUs are hardly idle, ``kprof trace ops``."""
        span = sum(one.report.span_ns for one in self.traces)
        idle = sum(one.report.total_ns for one in self.traces)
        if idle >= _LITTLE * span:
            return super().first_advice
        path = shlex.quote(self.traces[0].report.path) if len(self.traces) == 1 else "PATH..."
        why = f"what each operator could gain: only {percent(idle, span)} is idle"
        return TraceAdvice(0.0, f"kprof trace ops {path}", why)

    @classmethod
    def advice(cls, part: "Idle") -> Iterable[TraceAdvice]:
        """Return advice for each cause, with the idle time that it explains."""
        span = part.report.span_ns
        for cause, total in part.report.by_cause.items():
            if cause == "launch-bound":
                yield _launch_advice(part, total)
            elif cause == "synchronisation":
                gone = f"if no {cause} gap were left{_longest_before(part, cause)}"
                yield TraceAdvice(total, *_NO_WAITING, span, gone)
            elif cause == "queued":
                path = shlex.quote(part.report.path)
                yield TraceAdvice(total, f"kprof trace path {path}", "what the GPU waited for", span)
            else:
                yield TraceAdvice(0.0, _WHOLE_RECORDING, "launches are missing, so that causes are unknown")


def _launch_advice(part: "Idle", total: int) -> TraceAdvice:
    """Return advice against launch-bound gaps: compile the module with most of the gaps, or else the whole model."""
    span, cause = part.report.span_ns, "launch-bound"
    modules = [(name, ns) for name, ns in part.report.modules.items() if name != _COMPILED]
    if modules and modules[0][1] >= (_WORTH_A_MODULE if part.graph_launches else _MOST_OF_IT) * total:
        (module, mine), *others = modules
        then = [f"then {name}, {milliseconds(ns)} ms" for name, ns in others[:1]]
        longest = max(part.report.gaps, key=lambda gap: gap.duration_ns, default=None)
        apart = longest is not None and not any(_is_in(longest, name) for name, _ in modules[:2])
        then += [f"the longest gap is {'in neither module' if then else 'not in this module'}"] * (
            apart and _has_modules(part)
        )
        caller = _caller(part, module)
        text = _ONE_GRAPH.format(module) + (f" where {caller} calls it" if caller else "")
        return TraceAdvice(mine, text, _ONE_GRAPH_WHY, span, "; ".join(then))
    if part.graph_launches:
        why = f"the program replays graphs, {part.graph_launches:,} times here, but launches this outside of the graphs"
        what = _around(part, cause) or "the rest"
        return TraceAdvice(total, f"launch {what} in the graphs, too", why, span, f"if no {cause} gap were left")
    gone = f"if no {cause} gap were left{_longest_before(part, cause)}"
    return TraceAdvice(total, _ONE_GRAPH.format("model"), _ONE_GRAPH_WHY, span, gone)


def _without_zero_rows(grid: Grid, part: "Idle") -> Grid:
    rows = [row for row in grid.rows if row[0] != "0.0"]
    return replace(grid, rows=rows, left=part.report.count - len(rows))


def _around(part: "Idle", cause: str) -> str:
    """Return the operators whose kernels end the longest gaps of a cause, as ``aten::div and aten::copy_``."""
    times: Counter[str] = Counter()
    for gap in part.report.gaps:
        if gap.cause == cause and gap.stack:
            times[kernel_label(gap.stack[-1], _NAME)] += gap.duration_ns
    return " and ".join(name for name, _ in times.most_common(_PLACES))


def _longest_before(part: "Idle", cause: str) -> str:
    names = _around(part, cause)
    return f"; the longest are before {names}" if names else ""


def _is_in(gap: Any, module: str) -> bool:
    """Return whether the CPU was inside a module of the class ``module`` during a gap."""
    return any(_class_in(name) == module for name in gap.functions)


def _has_modules(part: "Idle") -> bool:
    return any(_class_in(name) for gap in part.report.gaps for name in gap.functions)


def _class_in(function: str) -> str:
    """Return the class of a module's frame, ``Linear`` for ``nn.Module: Linear_0``; "" for any other frame."""
    from kprof.inputs.torch_profiler.table_events import MODULE_PREFIX
    from kprof_analyzers.profiles.timeline.tree import class_of

    return class_of(function.removeprefix(MODULE_PREFIX)) if function.startswith(MODULE_PREFIX) else ""


def _caller(part: "Idle", module: str) -> str:
    """Return the function that calls a module, found in the Python frames during its gaps; "" if there are none."""
    for gap in part.report.gaps:
        for at, name in enumerate(gap.functions):
            if _class_in(name) == module and (found := _function(gap.functions[:at])):
                return found
    return ""


def _function(names: Sequence[str], *, brief: bool = False) -> str:
    """Return a stack's innermost function outside Python and torch (else the innermost one), with its file and line.

    The format is ``diffusers/hooks/hooks.py:268 (_set_context)``, or ``hooks.py:268 _set_context`` with ``brief``.
    """
    found = [each for name in names if (each := _FUNCTION.fullmatch(name)) is not None]
    own = [each for each in found if not _is_plumbing(each["file"])]
    if not found:
        return ""
    innermost = (own or found)[-1]
    file, line, name = one_line(innermost["file"]), innermost["line"], one_line(innermost["name"])
    return f"{PurePosixPath(file).name}:{line} {name}" if brief else f"{file}:{line} ({name})"


def _is_plumbing(file: str) -> bool:
    place = _INSTALLED.sub("", file)
    return place.startswith(_LIBRARIES) or place.partition("/")[0].removesuffix(".py") in sys.stdlib_module_names


def _next(gap: Any) -> str:
    """Return the operator that launched the kernel after a gap, or the kernel if the operator is unknown."""
    return gap.stack[-1] if gap.stack else kernel_label(gap.after)


def _meanwhile(gap: Any) -> str:
    """Return the CPU's longest activity during a gap, with its function; the document lists all activities."""
    name, ns = max(gap.cpu.items(), key=lambda item: item[1], default=("", 0))
    if not name:
        return "-"
    function = _function(gap.functions, brief=True)
    if name in _OUTSIDE:
        return f"{ns / 1000:,.0f} {function or 'Python'}"
    return f"{ns / 1000:,.0f} {name}" + (f" in {function}" if function else "")


trace_gaps = function_of(TraceGaps)
