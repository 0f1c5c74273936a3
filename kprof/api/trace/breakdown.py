"""``kprof.trace_breakdown``: GPU time by category, and how busy each GPU was."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.api.trace.answer import Path_, PerTrace, device_document, per_file, picture

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.completeness import Repairs
    from kprof_analyzers.profiles.timeline.steps import Shares


@dataclass(frozen=True, eq=False, repr=False)
class TraceBreakdown(PerTrace):
    """Where the GPU's time goes.

    Attributes:
        traces: one entry a trace: ``breakdown.categories``, ``breakdown.devices``, ``utilisation`` over time.
    """

    traces: "Sequence[Shares]"

    @property
    def contents(self) -> dict[str, Any]:
        """Everything, as ``kprof trace breakdown --json`` writes it."""
        return {"schema": "kprof.trace.breakdown/1", "traces": [_document(one) for one in self.traces]}

    @property
    def conclusion(self) -> str:
        """How busy the GPUs were, and the largest category."""
        from kprof.reporters.trace_breakdown_text import verdict

        return verdict(self.traces)

    def to_frame(self) -> "pd.DataFrame":
        """A row a trace and category: ``path``, ``category``, ``total_ns``, ``count``, ``share`` of 1, ``largest``."""
        from kprof.reporters._frames import struct_frame
        from kprof_analyzers.profiles.timeline.breakdown import CategoryTime

        rows = [({"path": one.breakdown.path}, each) for one in self.traces for each in one.breakdown.categories]
        return struct_frame(CategoryTime, rows, ("path",))

    def draw(self, path: Path_, *, bars: bool = False, timeline: bool = False) -> None:
        """Write a picture: a donut for one trace, stacked bars for several.

        Args:
            path: ``.svg``, or ``.png`` where CairoSVG is installed.
            bars: bars for one trace, too.
            timeline: utilisation over time instead.

        Raises:
            KprofError: another ending, no CairoSVG, or the file cannot be written.
        """
        picture(path, lambda: self._svg(bars=bars, timeline=timeline))

    def _svg(self, *, bars: bool, timeline: bool) -> str:
        from kprof.reporters._trace_format import label
        from kprof_analyzers.profiles.timeline.pictures.donut import donut
        from kprof_analyzers.profiles.timeline.pictures.stacked_bars import stacked_bars
        from kprof_analyzers.profiles.timeline.pictures.utilisation import utilisation_svg

        if timeline:
            return utilisation_svg([u for s in self.traces for u in s.utilisation], "GPU utilisation over time")
        rows = [
            (label(s.breakdown.path), {r.category: r.total_ns for r in s.breakdown.categories}) for s in self.traces
        ]
        if len(rows) == 1 and not bars:
            return donut(rows[0][1], rows[0][0])
        return stacked_bars(rows, "GPU time by category")


def trace_breakdown(
    *paths: Path_,
    categories: str | None = None,
    by_name: bool = False,
    jobs: int = 1,
    scheduler: str | None = None,
    repairs: "Repairs" = (),
) -> TraceBreakdown:
    """Where the GPU's time goes: attention, its GEMMs, MLP GEMMs, norms, communication, memory, ...

    Args:
        paths: traces, folders of them, or the tables that ``kprof ingest trace`` wrote.
        categories: a TOML file with rules of your own, read before those that come with kprof.
        by_name: by kernels' names only: bounded memory, whatever the size.
        jobs: processes, 0 for one a core.
        scheduler: a Dask scheduler that does the per-file step instead: ``tcp://host:8786``.
        repairs: ``exclude-warm-up``, ``cap-durations``: what to repair in each trace; nothing by default.

    Raises:
        InputError: a named file is missing or cannot be read, or none in a folder can.
        KprofError: the rules cannot be used.
    """
    from kprof_analyzers.profiles.timeline.steps import shares_step

    options = {"categories": categories, "by_name": by_name}
    found, left_out = per_file(shares_step, paths, jobs=jobs, scheduler=scheduler, repairs=repairs, **options)
    return TraceBreakdown(left_out, found)


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
