"""``kprof trace breakdown``: GPU time by category, and how busy each GPU was."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.cli.common import JobsOption, JsonOption, QuietOption
from kprof.cli.trace._shared import (
    CategoriesOption,
    PathsArgument,
    PictureOption,
    SchedulerOption,
    draw,
    dump,
    label,
    milliseconds,
    per_file,
    percent,
    quiet_with_json,
    tell_issues,
)
from kprof.output.headline import tell_first, tell_last

if TYPE_CHECKING:
    from kprof_analyzers.profiles.timeline.occupation import DeviceTime
    from kprof_analyzers.profiles.timeline.steps import Shares

# Cells of the line over time: 80 columns are enough for it.
_CELLS = 48
HELP = "GPU time by category; busy, idle and exposed communication."


def command(
    paths: PathsArgument,
    categories: CategoriesOption = None,
    by_name: Annotated[
        bool, typer.Option("--by-name", help="Kernel names only: bounded memory, whatever the size.")
    ] = False,
    picture: PictureOption = None,
    bars: Annotated[bool, typer.Option("--bars", help="The picture is bars, also for one trace.")] = False,
    timeline: Annotated[bool, typer.Option("--timeline", help="The picture is utilisation over time.")] = False,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Where the GPU's time goes: attention, its GEMMs, MLP GEMMs, norms, communication, memory, ...

    One trace: a table and a donut (--picture share.svg). Several: a table each and stacked bars over all of them.

    Example:  kprof trace breakdown bs1.json bs8.json --picture bars.svg
    """
    from kprof_analyzers.profiles.timeline.steps import shares_step

    found = per_file(shares_step, paths, jobs, scheduler, categories=categories, by_name=by_name)
    if not quiet_with_json(json, quiet):
        tell_first(_verdict(found))
        for shares in found:
            print("\n".join(_lines(shares, several=len(found) > 1)))
    for shares in found:
        tell_issues(shares.issues)
    draw(picture, lambda: _picture(found, bars=bars, timeline=timeline))
    if json:
        dump(json, {"schema": "kprof.trace.breakdown/1", "traces": [_document(s) for s in found]})
    if json != "-":
        tell_last(_verdict(found), alone=quiet_with_json(json, quiet))


def _lines(shares: "Shares", *, several: bool) -> list[str]:
    from kprof_analyzers.profiles.timeline.pictures.terminal import bar, sparkline

    found = shares.breakdown
    lines = [label(found.path, 90)] if several else []
    longest = max((len(r.category) for r in found.categories), default=0)
    lines.extend(
        f"  {row.category:<{longest}}  {milliseconds(row.total_ns):>10} ms  {percent(row.share, 1):>7}  "
        f"{row.count:>8,}  {bar(row.share, 30)}"
        for row in found.categories
    )
    lines += ["", *device_lines(found.devices)]
    for device in shares.utilisation[:8]:
        lanes = [max(parts) for parts in zip(*device.lanes.values(), strict=True)]
        step = -(-len(lanes) // _CELLS)
        means = [_mean(lanes[i : i + step]) for i in range(0, len(lanes), step)]
        lines.append(f"  rank {device.rank} busy over time  {sparkline(means)}")
    return [*lines, ""]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def device_lines(devices: "list[DeviceTime]") -> list[str]:
    """One line a device, a heading above."""
    from kprof.output.tables import rows_table

    rows = [
        (
            f"rank {d.rank} GPU {'?' if d.device is None else d.device}",
            milliseconds(d.span_ns),
            percent(d.busy_ns, d.span_ns),
            percent(d.idle_ns, d.span_ns),
            percent(d.compute_ns, d.span_ns),
            percent(d.exposed_communication_ns, d.span_ns),
            percent(d.exposed_memory_ns, d.span_ns),
        )
        for d in devices
    ]
    if not rows:
        return []
    headings = ("device", "span ms", "busy", "idle", "compute", "exposed comm", "exposed copies")
    return ["  " + line for line in rows_table(headings, rows).splitlines()]


def _picture(found: "list[Shares]", *, bars: bool, timeline: bool) -> str:
    from kprof_analyzers.profiles.timeline.pictures.donut import donut
    from kprof_analyzers.profiles.timeline.pictures.stacked_bars import stacked_bars
    from kprof_analyzers.profiles.timeline.pictures.utilisation import utilisation_svg

    if timeline:
        return utilisation_svg([u for s in found for u in s.utilisation], "GPU utilisation over time")
    rows = [(label(s.breakdown.path), {r.category: r.total_ns for r in s.breakdown.categories}) for s in found]
    if len(rows) == 1 and not bars:
        return donut(rows[0][1], rows[0][0])
    return stacked_bars(rows, "GPU time by category")


def _document(shares: "Shares") -> dict[str, Any]:
    found = shares.breakdown
    return {
        "path": found.path,
        "total_ns": found.total_ns,
        "categories": found.categories,
        "devices": [device_document(d) for d in found.devices],
        "by_rank": {str(k): v for k, v in found.by_rank.items()},
        "utilisation": shares.utilisation,
        "by_name_only": shares.by_name_only,
        "issues": shares.issues,
    }


def device_document(device: "DeviceTime") -> dict[str, Any]:
    """A device's times with those that follow from them."""
    import msgspec

    return {**msgspec.structs.asdict(device), "span_ns": device.span_ns, "idle_ns": device.idle_ns}


def _verdict(found: "list[Shares]") -> str:
    from collections import Counter

    totals: Counter[str] = Counter()
    for shares in found:
        for row in shares.breakdown.categories:
            totals[row.category] += row.total_ns
    whole = sum(totals.values())
    if not whole:
        return "no GPU activity in these traces"
    devices = [d for s in found for d in s.breakdown.devices]
    busy, span = sum(d.busy_ns for d in devices), sum(d.span_ns for d in devices)
    name, largest = totals.most_common(1)[0]
    much = f"GPU busy {percent(busy, span)}; " if span else ""
    return f"{much}{name} takes {percent(largest, whole)} of {milliseconds(whole)} ms GPU time"
