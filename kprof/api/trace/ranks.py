"""``kprof.trace_ranks``: the ranks of a distributed job side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kprof.api.trace.answer import Path_, TraceAnswer, all_rows, device_document, per_file

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.completeness import Repairs
    from kprof.inputs.torch_profiler.issues import TraceIssue
    from kprof_analyzers.profiles.timeline.ranks import RankPart, RankReport


LAST_RANK = "the rank that the others wait for"


@dataclass(frozen=True, eq=False, repr=False)
class TraceRanks(TraceAnswer):
    """Who computes longer, who waits, and for whom.

    Attributes:
        report: devices, skew of the compute time, and the collectives that were waited for longest.
        parts: what each file gave.
    """

    report: "RankReport"
    parts: "Sequence[RankPart]"

    @property
    def issues(self) -> "list[TraceIssue]":
        """What was met while reading, trace by trace."""
        from kprof.inputs.completeness import missing_ranks
        from kprof.inputs.torch_profiler.issues import TraceIssue

        found = [issue for part in self.parts for issue in part.issues]
        missing = missing_ranks(self.report.world_size, {device.rank for device in self.report.devices})
        return [*found, TraceIssue("missing-ranks", missing, unknown=(LAST_RANK,))] if missing else found

    @property
    def contents(self) -> dict[str, Any]:
        """Everything, as ``kprof trace ranks --json`` writes it."""
        report = self.report
        return {
            "schema": "kprof.trace.ranks/1",
            "devices": [device_document(d) for d in report.devices],
            "compute_skew": report.compute_skew,
            "stragglers": {str(rank): waited for rank, waited in report.stragglers.items()},
            "collectives": report.collectives,
            "matched": report.matched,
            "unmatched": report.unmatched,
            "notes": report.notes,
            "point_to_point": {str(rank): time for rank, time in report.point_to_point.items()},
            "world_size": report.world_size,
            "missing": report.missing,
            "bandwidths": report.bandwidths,
        }

    @property
    def conclusion(self) -> str:
        """The skew, and the rank that the others wait for."""
        from kprof.reporters.trace_ranks_text import verdict

        return verdict(self.report)

    def to_frame(self, table: Literal["collectives", "bandwidths"] = "collectives") -> "pd.DataFrame":
        """A table.

        Args:
            table: ``collectives``, a row each, the one that was waited for longest first: ``name``, ``number``,
                ``durations`` (rank to ns), ``last`` (the rank that came last), ``waited_ns``; or ``bandwidths``, a row
                a kind, size and group: ``collective``, ``group``, ``ranks``, ``bytes``, ``count``, ``transfer_ns``,
                ``waited_ns``, ``algorithm_gbps``, ``bus_gbps``, ``whole``.
        """
        from kprof.reporters._frames import struct_frame
        from kprof_analyzers.profiles.timeline.collectives import CollectiveBandwidth
        from kprof_analyzers.profiles.timeline.ranks import Collective

        if table == "bandwidths":
            return struct_frame(CollectiveBandwidth, [({}, each) for each in self.report.bandwidths])
        return struct_frame(Collective, [({}, each) for each in self.report.collectives])


def trace_ranks(
    *paths: Path_,
    limit: int = 0,
    categories: str | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    repairs: "Repairs" = (),
) -> TraceRanks:
    """Several files, one a rank, or one merged trace: who computes longer, who waits, and for whom.

    A collective ends on all ranks together: the rank whose kernel is shortest came last, and the others waited. Sends
    and receives have no common end and are summed apart. Without all ranks of the job none is named.

    Args:
        paths: traces, folders of them, or the tables that ``kprof ingest trace`` wrote.
        limit: how many collectives; 0 for all.
        categories: a TOML file with rules of your own, read before those that come with kprof.
        jobs: processes, 0 for one a core.
        scheduler: a Dask scheduler that does the per-file step instead: ``tcp://host:8786``.
        repairs: ``exclude-warm-up``, ``cap-durations``: what to repair in each trace; nothing by default.

    Raises:
        InputError: a named file is missing or cannot be read, or none in a folder can.
        KprofError: the rules cannot be used.
    """
    from kprof_analyzers.profiles.timeline.ranks import compare_ranks
    from kprof_analyzers.profiles.timeline.steps import rank_step

    parts, left_out = per_file(rank_step, paths, jobs=jobs, scheduler=scheduler, repairs=repairs, categories=categories)
    return TraceRanks(left_out, compare_ranks(parts, limit=all_rows(limit)), parts)
