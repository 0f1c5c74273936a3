"""A self-contained page of a run: timeline with zoom, tree, operators, rooflines, steps, ranks and counters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from kprof.output.quantities import milliseconds, percent, plural
from kprof.output.tables import number
from kprof.reporters._trace_format import kernel_label, label
from kprof.reporters.grids import Column, Grid
from kprof_analyzers.profiles.counters.roofline import Point, Roof
from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorTable
from kprof_analyzers.profiles.timeline.pictures.colours import colour
from kprof_analyzers.profiles.timeline.tree import TreeNode
from kprof_analyzers.profiles.timeline.zoomable import ZoomableTimeline

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.issues import TraceIssue
    from kprof.inputs.torch_profiler.model import TraceInfo
    from kprof_analyzers.profiles.counters.chosen import Chosen, Derived
    from kprof_analyzers.profiles.timeline.breakdown import Breakdown
    from kprof_analyzers.profiles.timeline.profiler_steps import StepTable
    from kprof_analyzers.profiles.timeline.tree import TimeTree


class ShownRun(Protocol):
    """Data of one trace that the page shows in addition to its :class:`PagePart` objects."""

    @property
    def info(self) -> "TraceInfo":
        """Path, GPUs and ranks."""

    @property
    def breakdown(self) -> "Breakdown":
        """Breakdown of the time by device."""

    @property
    def operators(self) -> "OperatorTable":
        """Operators compared with the GPU's limits."""

    @property
    def steps(self) -> "StepTable":
        """Steps in chronological order."""

    @property
    def tree(self) -> "TimeTree":
        """Time by module and operator."""

    @property
    def timeline(self) -> ZoomableTimeline:
        """Activities of each stream, as spans."""

    @property
    def issues(self) -> "tuple[TraceIssue, ...]":
        """Problems found while reading the trace."""


SCHEMA = "kprof.run/1"

TRACES = 16
"""Maximum number of traces that are shown completely; of further traces, only the devices are shown."""

_FEW = 4
"""Maximum number of traces with full-length tables; if there are more traces, each one's tables are shorter."""

_NODES, _SMALL, _COUNTED, _LONGEST = 400, 0.001, 60, 160
_NAMES, _STEPS, _ROWS, _ROWS_OF_MANY = 4000, 2000, 100, 25
_METRICS = tuple(Column(heading, str) for heading in ("", "metric", "value", "unit", ""))


def verdict(traces: "Sequence[ShownRun]", counted: "Sequence[Derived]") -> str:
    """Return the number of traces, their GPU time and the lost part of it, and the number of kernels with counters."""
    words = []
    if traces:
        whole = sum(one.operators.kernel_ns for one in traces)
        words.append(f"{plural(len(traces), 'trace')}, {milliseconds(whole)} ms of kernels")
        rows = [row for one in traces for row in one.operators.rows if row.lost_ns is not None]
        if rows:
            lost, judged = sum(row.lost_ns or 0.0 for row in rows), sum(row.total_ns for row in rows)
            words.append(f"{milliseconds(lost)} of {milliseconds(judged)} ms lost against the GPU's limits")
    if counted:
        words.append(f"{plural(len(counted), 'kernel')} with counters")
    return ", ".join(words) or "nothing was measured"


@dataclass(frozen=True)
class PagePart:
    """A part of a page.

    Attributes:
        name: name on the terminal: ``gaps``.
        about: description of the part.
        conclusion: verdict of the part.
        grids: tables of the part.
        pictures: SVG texts.
    """

    name: str
    about: str
    conclusion: str
    grids: Sequence[Grid]
    pictures: Sequence[str] = ()

    def limited(self, rows: int, links: Mapping[str, str]) -> "PagePart":
        """Return a copy of the part with at most ``rows`` rows per table, and with links in cells."""
        grids = [replace(grid.first(rows), links=links) for grid in self.grids if grid.rows or grid.remarks]
        return replace(self, grids=grids)


def run_page(
    traces: "Sequence[tuple[ShownRun, Sequence[PagePart]]]",
    *,
    summary: str,
    schema: str = SCHEMA,
    before: Sequence[PagePart] = (),
    after: Sequence[PagePart] = (),
    counted: "tuple[Chosen, Sequence[Derived]] | None" = None,
    roofs: tuple[str, Sequence[Roof], Sequence[Point]] | None = None,
    notes: Sequence[str] = (),
    pages: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Render the HTML page of a run.

    Args:
        traces: each trace, with the parts of the page that are only about this trace.
        summary: the verdict.
        schema: schema of the JSON document with the same content.
        before: parts about all traces, placed before the traces.
        after: parts about all traces, placed after the traces.
        counted: kernels with their metrics.
        roofs: name of the GPU, its roofline limits, and the kernels as points below them.
        notes: sentences on what is not on the page, and why.
        pages: by kernel, the file of its own page.
    """
    from kprof.reporters.html.parts import environment
    from kprof.version import __version__

    issues = [f"{label(one.info.path, 60)}: {issue.message}" for one, _ in traces for issue in one.issues]
    shown = min(len(traces), TRACES)
    links = {kernel_label(name): quote(page) for name, page in pages.items()}
    page: str = (
        environment()
        .get_template("run.html")
        .render(
            document={"kprof": __version__, "schema": schema, "verdict": {"status": "ok", "summary": summary}},
            notes=[*notes, *([] if before else issues)],
            traces=[_trace_view(one, parts, place, shown, links) for place, (one, parts) in enumerate(traces[:TRACES])],
            more=max(0, len(traces) - TRACES),
            before=[part.limited(_ROWS, links) for part in before],
            after=[part.limited(_ROWS, links) for part in after],
            counted=None if counted is None else _counted_view(*counted),
            roofline=None if roofs is None else _counter_picture(*roofs),
        )
    )
    return page if page.endswith("\n") else page + "\n"


def _trace_view(
    one: "ShownRun", parts: Sequence[PagePart], place: int, many: int, links: Mapping[str, str]
) -> dict[str, Any]:
    """Return the template's data about one trace; the more traces there are, the fewer rows of each are included."""
    info, devices = one.info, one.breakdown.devices
    span = sum(d.span_ns for d in devices)
    gpus = ", ".join(sorted({name for name in info.devices if name})) or "not named in the trace"
    facts = {
        "GPU": gpus,
        "ranks": ", ".join(map(str, info.ranks)) or "none named",
        "events": f"{info.events:,}",
        "GPU activities": f"{one.timeline.activities:,}",
        "kernels' time": f"{milliseconds(one.operators.kernel_ns)} ms",
        "busy": percent(sum(d.busy_ns for d in devices), span),
    }
    return {
        "key": f"t{place + 1}",
        "name": label(info.path, 90),
        "path": info.path,
        "facts": facts,
        "timeline": _timeline_data(one.timeline, one, _STEPS // many),
        "streams": len(one.timeline.streams),
        "resolution": None if not one.timeline.resolution_ns else f"{one.timeline.resolution_ns / 1e3:,.1f} µs",
        "tree": _tree_view(one.tree.root, _NODES if many <= _FEW else _NODES // 4),
        "tree_words": _tree_words(one),
        "parts": [part.limited(_ROWS if many <= _FEW else _ROWS_OF_MANY, links) for part in parts],
    }


def _tree_words(one: "ShownRun") -> str:
    if one.tree.has_modules:
        return "Time by nn.Module and the operators in it; layers of the same class are merged."
    return "Time by operator: the trace has no modules (with_modules=True or with_stack=True)."


def _timeline_data(found: ZoomableTimeline, one: "ShownRun", most: int) -> Any:
    """Return the spans as JSON for the page, without ``<``, which could end the script element."""
    import msgspec
    from markupsafe import Markup

    from kprof.reporters.html.parts import clean

    steps = [
        (max(0, step.start_ns - found.first_ns), step.host_ns, clean(step.name, _LONGEST))
        for step in one.steps.steps[:most]
    ]
    categories = list(dict.fromkeys(category for _, category in found.labels))
    data = {
        "span": found.span_ns,
        "categories": [[clean(name, 60), colour(name)] for name in categories],
        "names": [
            clean(kernel_label(name, _LONGEST)) if place < _NAMES else "a kernel without a name on this page"
            for place, (name, _) in enumerate(found.labels)
        ],
        "kinds": [categories.index(category) for _, category in found.labels],
        "steps": steps,
        "streams": [
            {
                "name": f"rank {s.rank} GPU {'?' if s.device is None else s.device} stream {s.stream}",
                # Store differences between times, because they take fewer characters than the times.
                "starts": [now - before for now, before in zip(s.starts, [0, *s.starts], strict=False)],
                "durations": s.durations,
                "labels": s.labels,
                "together": {str(position): pair for position, pair in s.together.items()},
            }
            for s in found.streams
        ],
    }
    text = msgspec.json.encode(data).decode().replace("<", "\\u003c")
    return Markup(text)  # noqa: S704 - JSON without a "<"


def _tree_view(root: TreeNode, most: int) -> dict[str, Any]:
    """Return the nodes with at least 0.1 % of the time; if there are too many, only the largest."""
    sizes = sorted((node.total_ns for node in _below(root)), reverse=True)
    least = max(_SMALL * root.total_ns, sizes[most] if len(sizes) > most else 0)

    def view(node: TreeNode) -> dict[str, Any]:
        kept = [child for child in node.children if child.total_ns > least or child.total_ns == root.total_ns]
        rest = [child for child in node.children if child not in kept]
        return {
            "name": node.name,
            "alike": node.alike,
            "ms": milliseconds(node.total_ns),
            "share": 100 * node.total_ns / root.total_ns if root.total_ns else 0.0,
            "kernels": f"{node.kernels:,}",
            "children": [view(child) for child in kept],
            "rest": f"{len(rest)} smaller, {milliseconds(sum(c.total_ns for c in rest))} ms" if rest else "",
        }

    return view(root)


def _below(node: TreeNode) -> list[TreeNode]:
    return [each for child in node.children for each in (child, *_below(child))]


def _counter_picture(gpu: str, roofs: Sequence[Roof], points: Sequence[Point]) -> str:
    from kprof_analyzers.profiles.counters.roofline_svg import render

    return render(list(points), list(roofs), f"Kernels with counters, {gpu}")


def _counted_view(chosen: "Chosen", derived: "Sequence[Derived]") -> dict[str, Any]:
    """Return the template's data about the slowest kernels, each with its known metrics."""
    from kprof.reporters._measured_kernels import heading, remark
    from kprof.reporters._trace_format import kernel_labels

    order = sorted(derived, key=lambda pair: -(pair[0].nanoseconds or 0.0) * pair[0].calls)
    kernels = []
    labels = kernel_labels([kernel.name for kernel, _ in order])
    for (kernel, found), name in zip(order[:_COUNTED], labels, strict=False):
        rows = [
            [metric.formula.group, metric.formula.title, number(metric.value), metric.formula.unit, metric.flag or ""]
            for metric in found.values()
            if metric.value is not None
        ]
        time = "time not known" if not kernel.nanoseconds else f"{kernel.nanoseconds / 1e3:,.2f} µs each"
        words = f"{kernel.calls:,} dispatch{'' if kernel.calls == 1 else 'es'}, {time}"
        kernels.append({"name": f"{name} {remark(chosen, kernel)}".strip(), "words": words,
                        "table": Grid("", _METRICS, rows)})  # fmt: skip
    left = len(order) - len(kernels)
    return {"heading": heading(chosen), "kernels": kernels, "left": left}
