"""Tables of a page of a run: each what the command of its name prints."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from kprof.output.sizes import decimal_bytes
from kprof.reporters._trace_format import kernel_label, milliseconds, percent

if TYPE_CHECKING:
    from kprof_analyzers.profiles.timeline.breakdown import CategoryTime
    from kprof_analyzers.profiles.timeline.gaps import GapReport
    from kprof_analyzers.profiles.timeline.occupation import DeviceTime
    from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorRoofline
    from kprof_analyzers.profiles.timeline.profiler_steps import StepTable
    from kprof_analyzers.profiles.timeline.ranks import RankReport
    from kprof_analyzers.profiles.timeline.top import KernelTime
    from kprof_analyzers.profiles.timeline.triton_kernels import TritonKernel

_ROWS, _NAME = 100, 120

Heading = tuple[str, bool]
"""Words, and whether the column is of numbers."""


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes:
        title: of its section; empty for none.
        headings: of the columns.
        rows: cells as text.
        left: rows that are left out.
        words: what is to be known of it.
        links: cells to the pages that they lead to.
    """

    title: str
    headings: Sequence[Heading]
    rows: Sequence[Sequence[str]]
    left: int = 0
    words: str = ""
    links: Mapping[str, str] = field(default_factory=dict)

    def first(self, most: int) -> "Grid":
        """With no more than some rows."""
        return replace(self, rows=self.rows[:most], left=self.left + max(0, len(self.rows) - most))


def _grid(title: str, columns: str, rows: Iterable[Sequence[str]], words: str = "") -> Grid:
    """Columns with a comma between them; a ``#`` in front marks numbers."""
    headings = [(name.strip().removeprefix("#"), name.strip().startswith("#")) for name in columns.split(",")]
    listed = list(rows)
    return Grid(title, headings, listed[:_ROWS], max(0, len(listed) - _ROWS), words)


def category_table(found: "Sequence[CategoryTime]") -> Grid:
    """GPU time by category."""
    rows = [
        (one.category, milliseconds(one.total_ns), f"{100 * one.share:.1f} %", f"{one.count:,}", _name(one.largest))
        for one in found
    ]
    return _grid("Categories", "category, #ms, #share, #count, largest", rows)


def kernel_table(found: "Sequence[KernelTime]", pages: Mapping[str, str]) -> Grid:
    """Kernels by time."""
    rows = [
        (
            milliseconds(one.total_ns), f"{100 * one.share:.1f} %", f"{one.count:,}",
            f"{one.total_ns / one.count / 1000:,.1f}", one.category, _name(one.name),
            next(iter(one.operators), ""),
        )
        for one in found
    ]  # fmt: skip
    table = _grid("Kernels", "#ms, #share, #count, #mean µs, category, kernel, operator", rows)
    return replace(table, links=_links(pages))


def operator_table(found: "Sequence[OperatorRoofline]") -> Grid:
    """Operators by the time that they lose against the GPU's limits."""
    rows = [
        (
            "-" if one.lost_ns is None else milliseconds(one.lost_ns), milliseconds(one.total_ns), f"{one.calls:,}",
            "-" if one.tflops is None else f"{one.tflops:,.3g}", "-" if one.tbs is None else f"{one.tbs:.2f}",
            "-" if one.share is None else f"{100 * one.share:.0f} %", one.bound.replace("_", " "),
            _name(one.name), f"{one.shapes} {one.types}".strip()[:_NAME],
        )
        for one in found
    ]  # fmt: skip
    words = "Lost is time beyond the GPU's published HBM bandwidth or matrix peak; a dash where no work is known."
    columns = "#lost ms, #ms, #calls, #TFLOP/s, #TB/s, #of limit, limit, operator, shapes"
    return _grid("Operators against the GPU's limits", columns, rows, words)


def triton_table(found: "Sequence[TritonKernel]", pages: Mapping[str, str]) -> Grid:
    """Triton kernels with their launch."""
    rows = [
        (
            milliseconds(one.total_ns), f"{one.count:,}", f"{one.total_ns / one.count / 1000:,.1f}", _name(one.name),
            _extents(one.workgroups), _unknown(one.num_warps), _unknown(one.lds_bytes), one.source or "",
        )
        for one in found
    ]  # fmt: skip
    words = "kprof trace ops --target KERNEL puts the model's time and a better configuration beside them."
    if not pages:
        words += " kprof report --target KERNEL links them to pages of their own."
    table = _grid("Triton kernels", "#ms, #count, #mean µs, kernel, #grid, #warps, #LDS B, source", rows, words)
    return replace(table, links=_links(pages))


def step_table(found: "StepTable") -> Grid:
    """Steps in their order."""
    slow = set(found.slow)
    rows = [
        (
            str(one.rank), one.name[:_NAME], one.phase, f"{one.kernels:,}", milliseconds(one.kernel_ns),
            milliseconds(one.busy_ns), milliseconds(one.host_ns),
            " ".join(w for w in ("slow" if place in slow else "", "" if one.whole else "cut") if w),
        )
        for place, one in enumerate(found.steps)
    ]  # fmt: skip
    words = f"{milliseconds(found.outside_ns)} ms of kernels were launched in no step." if found.outside_ns else ""
    return _grid("Steps", "#rank, step, phase, #kernels, #kernel ms, #busy ms, #host ms, remark", rows, words)


def gap_table(found: "GapReport") -> Grid:
    """The longest idle stretches, and all of them by cause."""
    rows = [
        (f"{one.duration_ns / 1000:,.1f}", one.cause, str(one.rank), _name(one.before), _name(one.after))
        for one in found.gaps
    ]
    causes = ", ".join(
        f"{name} {milliseconds(total)} ms ({percent(total, found.total_ns)})" for name, total in found.by_cause.items()
    )
    return _grid("Idle", "#µs, cause, #rank, after, before", rows, f"{found.count:,} gaps: {causes}." if causes else "")


def device_table(found: "Sequence[DeviceTime]") -> Grid:
    """Every device of every rank."""
    rows = [
        (
            str(one.rank), _unknown(one.device), milliseconds(one.span_ns), percent(one.busy_ns, one.span_ns),
            percent(one.idle_ns, one.span_ns), milliseconds(one.compute_ns), milliseconds(one.communication_ns),
            milliseconds(one.exposed_communication_ns), milliseconds(one.exposed_memory_ns),
        )
        for one in found
    ]  # fmt: skip
    columns = "#rank, #GPU, #span ms, #busy, #idle, #compute ms, #communication ms, #exposed ms, #exposed copies ms"
    return _grid("Devices", columns, rows)


def collective_table(report: "RankReport") -> list[Grid]:
    """Collectives by how long ranks waited in them, and by size with their bandwidths."""
    waits = [
        (milliseconds(one.waited_ns), "?" if report.missing else f"rank {one.last}", str(one.number), one.name[:_NAME])
        for one in report.collectives
    ]
    sizes = [
        (
            one.collective, _unknown(one.ranks), "?" if one.bytes is None else decimal_bytes(one.bytes),
            f"{one.count:,}", milliseconds(one.transfer_ns), _rate(one.algorithm_gbps, whole=one.whole),
            _rate(one.bus_gbps, whole=one.whole),
        )
        for one in report.bandwidths
    ]  # fmt: skip
    return [
        _grid("Collectives by waiting", "#waited ms, came last, #number, collective", waits),
        _grid("Collectives by size", "collective, #ranks, #size, #count, #transfer ms, #alg GB/s, #bus GB/s", sizes),
    ]


def _rate(value: float | None, *, whole: bool) -> str:
    return "?" if value is None else f"{'' if whole else '≥ '}{value:,.1f}"


def _links(pages: Mapping[str, str]) -> dict[str, str]:
    return {_name(name): quote(page) for name, page in pages.items()}


def _name(name: str) -> str:
    return kernel_label(name, _NAME)


def _unknown(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _extents(size: tuple[int, int, int] | None) -> str:
    return "?" if size is None else "x".join(map(str, size))
