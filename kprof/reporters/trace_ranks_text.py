"""``kprof trace ranks`` for people: who computes longer, who waits, and for whom."""

from kprof.output.sizes import decimal_bytes
from kprof.reporters._trace_format import milliseconds
from kprof.reporters.trace_breakdown_text import device_lines
from kprof_analyzers.profiles.timeline.collectives import CollectiveBandwidth
from kprof_analyzers.profiles.timeline.ranks import RankReport

_BANDWIDTHS = 8
"""Rows of the table of bandwidths."""


def lines(report: RankReport) -> list[str]:
    """Devices, and the collectives that were waited for longest."""
    from kprof.output.tables import rows_table

    shown = device_lines(report.devices)
    if report.collectives:
        rows = [
            (
                milliseconds(c.waited_ns),
                # Without all ranks the one that came last may not be here.
                "?" if report.missing else f"rank {c.last}",
                f"#{c.number}",
                c.name,
                " ".join(f"{rank}:{ns / 1000:,.0f}" for rank, ns in list(c.durations.items())[:8]),
            )
            for c in report.collectives
        ]
        headings = ("waited ms", "came last", "no.", "collective", "us by rank")
        shown += ["", *rows_table(headings, rows, wide=(3, 4)).splitlines()]
    if report.bandwidths:
        shown += ["", *_bandwidth_lines(report.bandwidths)]
    if report.point_to_point:
        most = sorted(report.point_to_point.items(), key=lambda item: -item[1])[:8]
        shown.append("Sends and receives, ms: " + ", ".join(f"rank {rank} {milliseconds(ns)}" for rank, ns in most))
    return [*shown, ""]


def _bandwidth_lines(found: list[CollectiveBandwidth]) -> list[str]:
    from kprof.output.tables import rows_table

    rows = [
        (
            milliseconds(one.transfer_ns),
            milliseconds(one.waited_ns) if one.whole else "?",
            f"{one.count:,}",
            "?" if one.bytes is None else decimal_bytes(one.bytes),
            _bandwidth(one.algorithm_gbps, one.whole),
            _bandwidth(one.bus_gbps, one.whole),
            f"{one.collective} of {one.ranks} ranks" + (f", group {one.group}" if one.group else ""),
        )
        for one in found[:_BANDWIDTHS]
    ]
    headings = ("transfer ms", "waited ms", "count", "size", "alg GB/s", "bus GB/s", "collective")
    shown = rows_table(headings, rows, wide=(6,)).splitlines()
    if len(found) > _BANDWIDTHS:
        shown.append(f"and {len(found) - _BANDWIDTHS:,} more kinds and sizes (--json has all)")
    if not all(one.whole for one in found):
        shown.append("≥: not all ranks of the group are here, so the time holds waiting for them, too.")
    return shown


def _bandwidth(value: float | None, whole: bool) -> str:
    return "?" if value is None else f"{value:,.1f}" if whole else f"≥ {value:,.1f}"


def verdict(report: RankReport) -> str:
    """The skew, and the rank that the others wait for."""
    ranks = len({d.rank for d in report.devices})
    if ranks < 2:
        return "one rank only: nothing to compare"
    skew = f"compute skew {100 * report.compute_skew:.1f} %"
    if report.missing:
        seen = f"{ranks} of {report.world_size} ranks, {skew} among them"
        return f"{seen}; who is waited for cannot be determined without the rest"
    if not report.stragglers:
        return f"{ranks} ranks, {skew}; no collectives could be matched"
    rank, waited = next(iter(report.stragglers.items()))
    whole = sum(report.stragglers.values())
    share = f"{100 * waited / whole:.0f} % of {milliseconds(whole)} ms waiting" if whole else "no rank waits"
    return f"{ranks} ranks, {skew}; rank {rank} comes last most: {share} in {report.matched} collectives"
