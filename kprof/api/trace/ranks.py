"""``kprof trace ranks``: compare the ranks of a distributed job."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.api.trace.breakdown import DEVICES, device_document
from kprof.api.views import TraceView, function_of
from kprof.options.measurements import CategoryOptions
from kprof.output.quantities import decimal_bytes, milliseconds
from kprof.reporters.grids import Column, ViewTable

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.issues import TraceIssue
    from kprof.inputs.torch_profiler.model import LinkedTrace
    from kprof_analyzers.profiles.timeline.files import LeftOut
    from kprof_analyzers.profiles.timeline.ranks import RankPart, RankReport

LAST_RANK = "the rank that the others wait for"


@dataclass(frozen=True, eq=False, repr=False)
class TraceRanks(TraceView):
    """Compare ranks, from one file per rank or one merged trace: which rank computes longer, and which ranks wait.

    A collective ends at the same time on all ranks: the rank with the shortest kernel came last, and the others waited.
    Sends and receives have no common end and are summed separately. If ranks of the job are missing, the last rank
    cannot be determined.

    Example:  kprof trace ranks rank_*.json.gz

    Attributes:
        traces: data of each file.
        report: devices, skew of the compute time, and the collectives with the longest waits.
    """

    help = "Ranks compared: skew, stragglers, waits in collectives."
    options = CategoryOptions
    limited = True
    needs_details = True
    place = 60
    traces: "Sequence[RankPart]"
    report: "RankReport"

    @classmethod
    def of_trace(cls, trace: "LinkedTrace", options: Any, **_further: Any) -> "RankPart":
        """Read the ranks of one trace."""
        from kprof_analyzers.profiles.timeline.categories import load_categories
        from kprof_analyzers.profiles.timeline.ranks import rank_part

        return rank_part(trace, load_categories(options.categories))

    @classmethod
    def answer(cls, paths: Sequence[Any], options: Any, **further: Any) -> "TraceRanks":
        """Compare the ranks of all files, and list at most ``rows`` collectives (0: all)."""
        rows = further.pop("rows", 0)
        found = super().answer(paths, options, **further)
        return cls.combined(found.left_out, found.traces, rows) if rows else found

    @classmethod
    def combined(cls, left_out: "Sequence[LeftOut]", found: Sequence[Any], rows: int = 0) -> "TraceRanks":
        """Compare the ranks of all files."""
        from kprof_analyzers.profiles.timeline.ranks import compare_ranks

        return cls(left_out, found, compare_ranks(found, limit=rows or 1_000_000))

    @property
    def parts(self) -> Sequence[tuple[str, Any]]:
        """The comparison of all ranks, which is the only part."""
        return [("", self.report)]

    def leading(self, part: Any) -> Mapping[str, Any]:  # noqa: ARG002 - rows belong to all traces
        """Return no additional first columns for data frames, because each row belongs to all traces."""
        return {}

    @property
    def issues(self) -> "list[TraceIssue]":
        """Issues found while reading, in the order of traces, followed by missing ranks."""
        from kprof.inputs.completeness import missing_ranks
        from kprof.inputs.torch_profiler.issues import TraceIssue

        missing = missing_ranks(self.report.world_size, {device.rank for device in self.report.devices})
        lacking = [TraceIssue("missing-ranks", missing, unknown=(LAST_RANK,))] if missing else []
        return [*super().issues, *lacking]

    def remarks(self) -> Iterable[str]:
        """Return remarks on problems while reading and comparing the traces."""
        return [*super().remarks(), *(f"remark: {note}" for note in self.report.notes)]

    @property
    def contents(self) -> dict[str, Any]:
        """The document without ``incomplete``, the sentence about missing data."""
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

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the tables of this view; rows of ``collectives`` pair a collective with whether ranks are missing."""
        from kprof_analyzers.profiles.timeline.collectives import CollectiveBandwidth
        from kprof_analyzers.profiles.timeline.ranks import Collective

        collectives = (
            Column("waited ms", lambda row: milliseconds(row[0].waited_ns)),
            # If ranks are missing, the last rank may be one of them.
            Column("came last", lambda row: "?" if row[1] else f"rank {row[0].last}"),
            Column("no.", lambda row: f"#{row[0].number}"),
            Column("collective", lambda row: row[0].name, wide=True),
            Column("us by rank", lambda row: " ".join(f"{rank}:{ns / 1000:,.0f}"
                                                      for rank, ns in list(row[0].durations.items())[:8]), wide=True),
        )  # fmt: skip
        bandwidths = (
            Column("transfer ms", lambda one: milliseconds(one.transfer_ns)),
            Column("waited ms", lambda one: milliseconds(one.waited_ns) if one.whole else "?"),
            Column("count", lambda one: f"{one.count:,}"),
            Column("size", lambda one: "?" if one.bytes is None else decimal_bytes(one.bytes)),
            Column("alg GB/s", lambda one: _bandwidth(one.algorithm_gbps, one.whole)),
            Column("bus GB/s", lambda one: _bandwidth(one.bus_gbps, one.whole)),
            Column("collective", lambda one: f"{one.collective} of {one.ranks} ranks"
                   + (f", group {one.group}" if one.group else ""), wide=True),
        )  # fmt: skip
        return (
            ViewTable("collectives", collectives, lambda one: [(each, one.missing) for each in one.collectives],
                  Collective, title="Collectives by waiting"),
            ViewTable("bandwidths", bandwidths, lambda one: one.bandwidths, CollectiveBandwidth,
                  title="Collectives by size", remarks=_remarks),
            ViewTable("devices", DEVICES, lambda one: one.devices, title="Devices", remarks=_sent),
        )  # fmt: skip

    @property
    def conclusion(self) -> str:
        """The compute skew, and the rank that the others wait for, in one line."""
        report = self.report
        ranks = len({d.rank for d in report.devices})
        if ranks < 2:
            return "one rank only: nothing to compare"
        skew = f"compute skew {100 * report.compute_skew:.1f} %"
        if report.missing:
            seen = f"{ranks} of {report.world_size} ranks, {skew} among them"
            return f"{seen}; the rank that others wait for cannot be determined without the rest"
        if not report.stragglers:
            return f"{ranks} ranks, {skew}; no collectives could be matched"
        rank, waited = next(iter(report.stragglers.items()))
        whole = sum(report.stragglers.values())
        share = f"{100 * waited / whole:.0f} % of {milliseconds(whole)} ms waiting" if whole else "no rank waits"
        return f"{ranks} ranks, {skew}; rank {rank} is last most often: {share} in {report.matched} collectives"


def _bandwidth(value: float | None, whole: bool) -> str:
    return "?" if value is None else f"{value:,.1f}" if whole else f"≥ {value:,.1f}"


def _remarks(one: "RankReport") -> Iterable[str]:
    if not all(each.whole for each in one.bandwidths):
        yield "≥: ranks of the group are missing, so the time includes waiting for them."


def _sent(one: "RankReport") -> Iterable[str]:
    if one.point_to_point:
        most = sorted(one.point_to_point.items(), key=lambda item: -item[1])[:8]
        yield "Sends and receives, ms: " + ", ".join(f"rank {rank} {milliseconds(ns)}" for rank, ns in most)


trace_ranks = function_of(TraceRanks)
