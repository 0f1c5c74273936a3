"""``kprof trace breakdown``: GPU time by category, and the busy share of each GPU."""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.api.options import Path_
from kprof.api.views import TraceAdvice, TraceView, draw, function_of
from kprof.options.measurements import BreakdownAnswerOptions, BreakdownOptions
from kprof.output.quantities import milliseconds, percent, plural
from kprof.reporters._trace_format import kernel_label, label
from kprof.reporters.grids import Column, ViewTable

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.model import LinkedTrace
    from kprof_analyzers.profiles.timeline.breakdown import CategoryTime
    from kprof_analyzers.profiles.timeline.files import TraceFile
    from kprof_analyzers.profiles.timeline.fused import FusedKernel
    from kprof_analyzers.profiles.timeline.occupation import DeviceTime
    from kprof_analyzers.profiles.timeline.steps import Shares

# Names of hipBLASLt kernels contain about ninety settings after the tile, but the tile is enough to identify them.
_TILE = re.compile(r"(MT[\dx]+_MI[\dx]+)_SN_\w+$")
_CELLS = 48
"""Width of the sparkline over time in characters; with its label it fits into 80 columns."""
_PRODUCT = "GEMM"
_BUSY = 0.8
"""If the GPUs are busy for less than this share of the span, advice on idle time precedes advice on slow kernels."""
_EXPOSED = 0.05
"""Share of a device's span above which exposed communication or copies are reported."""

DEVICES = (
    Column("device", lambda d: f"rank {d.rank} GPU {'?' if d.device is None else d.device}"),
    Column("span ms", lambda d: milliseconds(d.span_ns)),
    Column("busy", lambda d: percent(d.busy_ns, d.span_ns)),
    Column("idle", lambda d: percent(d.idle_ns, d.span_ns)),
    Column("compute", lambda d: percent(d.compute_ns, d.span_ns)),
    Column("exposed comm", lambda d: percent(d.exposed_communication_ns, d.span_ns)),
    Column("exposed copies", lambda d: percent(d.exposed_memory_ns, d.span_ns)),
)


@dataclass(frozen=True, eq=False, repr=False)
class TraceBreakdown(TraceView):
    """Divide GPU time into categories: attention, its GEMMs, MLP GEMMs, norms, communication, memory, ...

    The picture is a donut for one trace, and stacked bars for several.

    Example:  kprof trace breakdown bs1.json bs8.json -o bars.svg

    Attributes:
        traces: one entry per trace: ``breakdown.categories``, ``breakdown.devices``, ``utilisation`` over time.
    """

    help = "GPU time by category; busy, idle and exposed communication."
    options = BreakdownOptions
    display = BreakdownAnswerOptions
    has_picture = True
    place = 10
    traces: "Sequence[Shares]"

    @classmethod
    def of_trace(cls, trace: "LinkedTrace", options: Any, **_further: Any) -> "Shares":
        """Compute the breakdown of one trace."""
        from kprof_analyzers.profiles.timeline.categories import load_categories
        from kprof_analyzers.profiles.timeline.steps import shares_of

        return shares_of(trace, load_categories(options.categories))

    @classmethod
    def of_file(cls, file: "TraceFile", options: Any, **_further: Any) -> "Shares":
        """Compute the breakdown of one file; with ``by_name``, from kernel names only."""
        from kprof_analyzers.profiles.timeline.steps import shares_step

        return shares_step(file, options.categories, by_name=getattr(options, "by_name", False))

    @staticmethod
    def path_of(part: "Shares") -> str:
        """Return the path of the trace of one entry."""
        return part.breakdown.path

    @property
    def contents(self) -> dict[str, Any]:
        """The document without ``incomplete``, the sentence about missing data."""
        return {"schema": "kprof.trace.breakdown/1", "traces": [_document(one) for one in self.traces]}

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the tables of this view."""
        from kprof_analyzers.profiles.timeline.breakdown import CategoryTime
        from kprof_analyzers.profiles.timeline.occupation import DeviceTime
        from kprof_analyzers.profiles.timeline.pictures.breakdown import bar

        categories = (
            Column("category", lambda row: row[0].category),
            Column("ms", lambda row: milliseconds(row[0].total_ns)),
            Column("share", lambda row: percent(row[0].share, 1)),
            Column("count", lambda row: f"{row[0].count:,}"),
            Column("", lambda row: bar(row[0].share, 30)),
            Column("largest kernel", lambda row: row[1], wide=True, spare=True),
        )
        return (
            ViewTable("categories", categories, _with_largest, CategoryTime, remarks=_fused),
            ViewTable("devices", DEVICES, lambda one: one.breakdown.devices, DeviceTime, remarks=_over_time),
        )

    @property
    def conclusion(self) -> str:
        """The busy share of the GPUs, and the category with the largest time, in one line."""
        totals = self._totals()
        whole = sum(totals.values())
        if not whole:
            return "no GPU activity in these traces"
        busy, span = self._busy()
        name, largest = totals.most_common(1)[0]
        idle_ns = f", {milliseconds(span - busy)} ms idle" if busy < span else ""
        much = f"GPU busy {percent(busy, span)} of {milliseconds(span)} ms{idle_ns}; " if span else ""
        products = [total for category, total in totals.items() if _PRODUCT in category]
        every = f", all {_PRODUCT}s {percent(sum(products), whole)}" if len(products) > 1 else ""
        taken = f"{name} takes {percent(largest, whole)} of {milliseconds(whole)} ms GPU time{every}"
        return f"{self.basis}: {much}{taken}"

    @property
    def first_advice(self) -> TraceAdvice | None:
        """The next view to use: ``kprof trace gaps`` if the GPUs are often idle, else ``kprof trace ops``."""
        totals, (busy, span) = self._totals(), self._busy()
        if not totals.total():
            return None
        path = shlex.quote(self.traces[0].breakdown.path) if len(self.traces) == 1 else "PATH..."
        if busy < _BUSY * span:
            return TraceAdvice(span - busy, f"kprof trace gaps {path}", "why the GPU waits", span)
        # A category's time is not a possible gain. `trace ops` compares operators with limits and so computes gains.
        return TraceAdvice(0.0, f"kprof trace ops {path}", "what each operator could gain")

    def _totals(self) -> "Counter[str]":
        totals: Counter[str] = Counter()
        for shares in self.traces:
            for row in shares.breakdown.categories:
                totals[row.category] += row.total_ns
        return totals

    def _busy(self) -> tuple[int, int]:
        """Return the total busy time and the total span of the devices, in ns."""
        devices = [d for s in self.traces for d in s.breakdown.devices]
        return sum(d.busy_ns for d in devices), sum(d.span_ns for d in devices)

    def draw(self, path: Path_, *, bars: bool = False, timeline: bool = False) -> None:
        """Write a picture: a donut for one trace, stacked bars for several.

        Args:
            path: a ``.svg`` file, or a ``.png`` file if CairoSVG is installed.
            bars: draw bars even for one trace.
            timeline: draw utilisation over time instead.

        Raises:
            KprofError: the suffix is unknown, CairoSVG is missing, or the file cannot be written.
        """
        draw(path, lambda: self.svg(bars=bars, timeline=timeline))

    def write(self, display: Any) -> None:
        """Write the command's output file."""
        if str(display.output).lower().endswith((".svg", ".png")) or display.output == "-":
            self.draw(display.output, bars=display.bars, timeline=display.over_time)
        else:
            super().write(display)

    def svg(self, *, bars: bool = False, timeline: bool = False) -> str:
        """Return the picture as SVG; see :meth:`draw`."""
        from kprof_analyzers.profiles.timeline.pictures.breakdown import donut, stacked_bars
        from kprof_analyzers.profiles.timeline.pictures.utilisation import utilisation_svg

        if timeline:
            return utilisation_svg([u for s in self.traces for u in s.utilisation], "GPU utilisation over time")
        rows = [
            (label(s.breakdown.path), {r.category: r.total_ns for r in s.breakdown.categories}) for s in self.traces
        ]
        if len(rows) == 1 and not bars:
            return donut(rows[0][1], rows[0][0])
        return stacked_bars(rows, "GPU time by category")

    @classmethod
    def advice(cls, part: "Shares") -> Iterable[TraceAdvice]:
        """Return advice to fuse kernels, and to overlap communication and copies with computation."""
        for one in part.breakdown.fused:
            if one.saved_ns:
                runs = f"{plural(one.runs, 'run')} of {one.kernels:,} kernels"
                yield TraceAdvice(one.saved_ns, f"fuse: {one.kernel} of kprof's collection could do {runs}")
        for name, what, cure in (
            ("exposed_communication_ns", "communication", "overlap it with computing, or send less"),
            ("exposed_memory_ns", "copies", "copy on another stream, from pinned memory, or not at all"),
        ):
            exposed = [getattr(device, name) for device in part.breakdown.devices]
            if sum(exposed) > _EXPOSED * sum(device.span_ns for device in part.breakdown.devices):
                yield TraceAdvice(max(exposed), f"nothing computes during {what}: {cure}")


def device_document(device: "DeviceTime") -> dict[str, Any]:
    """Return a device's times, including the derived ``span_ns`` and ``idle_ns``."""
    import msgspec

    return {**msgspec.structs.asdict(device), "span_ns": device.span_ns, "idle_ns": device.idle_ns}


def _document(shares: "Shares") -> dict[str, Any]:
    found = shares.breakdown
    return {
        "path": found.path,
        "total_ns": found.total_ns,
        "categories": found.categories,
        "devices": [device_document(d) for d in found.devices],
        "by_rank": {str(k): v for k, v in found.by_rank.items()},
        "fused": found.fused,
        "utilisation": shares.utilisation,
        "by_name_only": shares.by_name_only,
        "issues": shares.issues,
    }


def _with_largest(shares: "Shares") -> "list[tuple[CategoryTime, str]]":
    """Return each category with the name of its largest kernel, or "same as X" if category X has named the kernel."""
    named: dict[str, str] = {}
    rows: list[tuple[CategoryTime, str]] = []
    for row in shares.breakdown.categories:
        first = named.setdefault(row.largest, row.category) if row.largest else row.category
        rows.append((row, _TILE.sub(r"\1", kernel_label(row.largest)) if first == row.category else f"same as {first}"))
    return rows


def _fused(shares: "Shares") -> Iterable[str]:
    """Yield one sentence per fused kernel that could save time."""
    one: FusedKernel
    for one in shares.breakdown.fused:
        if one.saved_ns:
            took, saved = milliseconds(one.total_ns), milliseconds(one.saved_ns)
            yield (
                f"{one.kernel} could do {plural(one.runs, 'run')} of {one.kernels:,} kernels ({took} ms): "
                f"saves at most {saved} ms, {percent(one.saved_ns, shares.breakdown.total_ns)}"
            )


def _over_time(shares: "Shares") -> Iterable[str]:
    from kprof_analyzers.profiles.timeline.pictures.breakdown import sparkline

    for device in shares.utilisation[:8]:
        lanes = [max(parts) for parts in zip(*device.lanes.values(), strict=True)]
        step = -(-len(lanes) // _CELLS)
        means = [sum(lanes[i : i + step]) / len(lanes[i : i + step]) for i in range(0, len(lanes), step)]
        yield f"rank {device.rank} busy over time  {sparkline(means)}"


trace_breakdown = function_of(TraceBreakdown)
