"""Text of ``kprof bench``: the device, one row per measurement, published times."""

from collections.abc import Sequence

from kprof.bench.document import BenchReport, Measurement
from kprof.output.quantities import duration
from kprof.output.terminal import terminal

_HEADINGS = ("case", "provider", "ms", "p10", "p90", "TFLOP/s", "GB/s", "% of limit", "error")
_SPARE = {"p10", "p90"}
_MARKS = {"ok": "", "unchecked": "not checked", "inaccurate": "less accurate"}


def show(report: BenchReport, *, no_color: bool) -> None:
    """Print the device, one row per measurement, and results that others published."""
    from rich.table import Table

    console = terminal(no_color=no_color)
    console.print(_heading(report), markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    cells = [_row(found) for found in report.measurements]
    shown = _fitting(cells, console.width)
    for name in (_HEADINGS[place] for place in shown):
        words = name in {"case", "provider"}
        table.add_column(name, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for line in cells:
        table.add_row(*(line[place] for place in shown))
    console.print(table)
    for found in report.measurements:
        values = "" if found.values == "own" else f"values: {found.values}"
        said = "; ".join(filter(None, [found.message, values, found.timing.note if found.timing else ""]))
        if said:
            console.print(f"{found.case} {found.who}: {found.status}: {said}", markup=False)
    for note in report.notes:
        console.print(note, markup=False)
    for source in dict.fromkeys(row["source"] for row in report.published):
        console.print(f"\npublished, not measured here: {source}", markup=False)
        for case in dict.fromkeys(r["case"] for r in report.published if r["source"] == source):
            rows = [r for r in report.published if (r["source"], r["case"]) == (source, case)]
            times = ", ".join(f"{r['provider']} {duration(1000 * r['ms'])}" for r in rows)
            console.print(f"  {case} on {rows[0]['device']}: {times}", markup=False)


def _fitting(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the indices of the columns to show: non-empty ones, without the percentiles if there is no room."""
    columns = list(zip(_HEADINGS, *rows, strict=True))
    kept = [place for place, (_, *cells) in enumerate(columns) if not rows or any(cell != "-" for cell in cells)]
    needed = sum(max(map(len, columns[place])) + 2 for place in kept)
    return [place for place in kept if needed <= width or _HEADINGS[place] not in _SPARE]


def _heading(report: BenchReport) -> str:
    device = report.device
    versions = ", ".join(f"{name} {version}" for name, version in device.versions.items())
    limits = device.limits
    known = [f"{limits.memory_gbs:,.0f} GB/s ({limits.source.get('memory_gbs')})"] if limits.memory_gbs else []
    for name in ("fp16", "bf16", "fp8"):
        if name in limits.tflops:
            source = limits.source.get(f"tflops {name}") or limits.source.get("tflops")
            known.append(f"{name} {limits.tflops[name]:,.0f} TFLOP/s ({source})")
    return f"{device.name} · {device.arch} · {versions}\nlimits: {', '.join(known) or 'not known'}"


def _row(found: Measurement) -> list[str]:
    timing = found.timing
    times = [f"{t:.4f}" for t in (timing.median, timing.p10, timing.p90)] if timing else ["-", "-", "-"]
    percent = f"{found.percent:.0f} {found.bound}" if found.percent is not None else "-"
    worst = max((e.worst_ratio or 0 for e in found.errors), default=None)
    status = _MARKS.get(found.status, found.status.replace("_", " "))
    error = " ".join(filter(None, [f"{worst:.2g} tol" if worst is not None else "", status]))
    return [
        found.case,
        found.who,
        *times,
        f"{found.tflops:.4g}" if found.tflops else "-",
        f"{found.gbs:,.0f}" if found.gbs else "-",
        percent,
        error,
    ]
