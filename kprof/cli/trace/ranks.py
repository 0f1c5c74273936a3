"""``kprof trace ranks``: the ranks of a distributed job side by side."""

from typing import TYPE_CHECKING

from kprof.cli.common import JobsOption, JsonOption, QuietOption
from kprof.cli.trace._shared import (
    CategoriesOption,
    LimitOption,
    PathsArgument,
    SchedulerOption,
    dump,
    milliseconds,
    per_file,
    quiet_with_json,
    tell_issues,
)
from kprof.cli.trace.breakdown import device_document, device_lines
from kprof.output.writing import log

if TYPE_CHECKING:
    from kprof_analyzers.profiles.timeline.ranks import RankReport

HELP = "Ranks compared: skew, stragglers, waits in collectives."


def command(
    paths: PathsArgument,
    limit: LimitOption = 5,
    categories: CategoriesOption = None,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Several files, one a rank, or one merged trace: who computes longer, who waits, and for whom.

    A collective ends on all ranks together: the rank whose kernel is shortest came last, and the others waited. Sends
    and receives have no common end and are summed apart. Without all ranks of the job nobody is named.

    Example:  kprof trace ranks rank_*.json.gz -j 0
    """
    from kprof_analyzers.profiles.timeline.ranks import compare_ranks
    from kprof_analyzers.profiles.timeline.steps import rank_step

    parts = per_file(rank_step, paths, jobs, scheduler, categories=categories)
    report = compare_ranks(parts, limit=limit or 1_000_000)
    if not quiet_with_json(json, quiet):
        print("\n".join(_lines(report)))
    for part in parts:
        tell_issues(part.issues)
    for note in report.notes:
        log(f"remark: {note}")
    if json:
        dump(
            json,
            {
                "schema": "kprof.trace.ranks/1",
                "devices": [device_document(d) for d in report.devices],
                "compute_skew": report.compute_skew,
                "stragglers": {str(k): v for k, v in report.stragglers.items()},
                "collectives": report.collectives,
                "matched": report.matched,
                "unmatched": report.unmatched,
                "notes": report.notes,
                "point_to_point": {str(k): v for k, v in report.point_to_point.items()},
                "world_size": report.world_size,
                "missing": report.missing,
            },
        )
    if json != "-":
        print(_verdict(report))


def _lines(report: "RankReport") -> list[str]:
    from kprof.output.tables import rows_table

    lines = device_lines(report.devices)
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
        lines += ["", *rows_table(headings, rows, wide=(3, 4)).splitlines()]
    if report.point_to_point:
        shown = sorted(report.point_to_point.items(), key=lambda item: -item[1])[:8]
        lines.append("Sends and receives, ms: " + ", ".join(f"rank {rank} {milliseconds(ns)}" for rank, ns in shown))
    return [*lines, ""]


def _verdict(report: "RankReport") -> str:
    ranks = len({d.rank for d in report.devices})
    if ranks < 2:
        return "one rank only: nothing to compare"
    skew = f"compute skew {100 * report.compute_skew:.1f} %"
    if report.missing:
        seen = f"{ranks} of {report.world_size} ranks, {skew} among them"
        return f"{seen}; who is waited for cannot be told without the rest"
    if not report.stragglers:
        return f"{ranks} ranks, {skew}; no collectives could be matched"
    rank, waited = next(iter(report.stragglers.items()))
    whole = sum(report.stragglers.values())
    share = f"{100 * waited / whole:.0f} % of {milliseconds(whole)} ms waiting" if whole else "nobody waits"
    return f"{ranks} ranks, {skew}; rank {rank} comes last most: {share} in {report.matched} collectives"
