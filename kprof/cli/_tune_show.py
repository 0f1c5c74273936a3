"""The terminal output of ``kprof tune``."""

import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kprof.cli.common import terminal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from kprof.tuning.document import Ranked, TunedProblem, TuneReport

_REASONS = 4
_ENDED = {"complete": "", "budget": ", the budget is spent", "interrupted": ", stopped by Ctrl-C"}


def show(report: "TuneReport", *, top: int, no_color: bool) -> None:
    """Print everything but the verdict."""
    console = terminal(no_color=no_color)
    product = f" · {report.product}" if report.product else ""
    measured = f"   measured on {report.measured_on}" if report.measured_on else "   predicted, nothing was run"
    console.print(
        f"[bold]{report.kernel}[/bold]   {report.arch}{product}   Triton {report.triton}{measured}", highlight=False
    )
    if len(report.problems) > 1:
        console.print()
        _dispatch(console, report)
    for problem in report.problems[: 1 if len(report.problems) > 1 and top <= 1 else None]:
        console.print()
        _problem(console, problem, top=top)
    console.print()
    _footer(console, report)


def verdict(report: "TuneReport") -> str:
    """The last line."""
    ended = _ENDED[report.search.ended]
    gains = [p.own.time_us / p.ranking[0].time_us for p in report.problems if p.own is not None and p.ranking]
    if len(report.problems) > 1 and len(gains) == len(report.problems):
        gain = f"{min(gains):.2f}x to {max(gains):.2f}x the kernel's own by prediction"
        return f"tune {report.kernel} on {report.arch}: {len(report.problems)} problems, {gain}{ended}"
    if len(report.problems) != 1 or not report.problems[0].ranking:
        return f"tune {report.kernel} on {report.arch}: {report.verdict['summary']}{ended}"
    best = report.problems[0].ranking[0]
    time = f"{microseconds(best.time_us)} predicted (likely {span(best.low_us, best.high_us)})"
    if best.measured_ms is not None:
        time = f"{microseconds(1000 * best.measured_ms)} measured"
    gain = f", {gains[0]:.2f}x the kernel's own" if gains and gains[0] >= 1.005 else ""
    return f"tune {report.kernel} on {report.arch}: {knobs(best.config)}: {time}{gain}{ended}"


def microseconds(value: float) -> str:
    """A time for people: ``3.2 us``, ``210 us``, ``6.31 ms``."""
    if value >= 10000:
        return f"{value / 1000:.3g} ms" if value < 1e6 else f"{value / 1000:,.0f} ms"
    return f"{value:,.0f} us" if value >= 100 else f"{value:.3g} us"


def knobs(config: Mapping[str, Any]) -> str:
    """``BLOCK_M=256 num_warps=8``."""
    return " ".join(f"{name}={value}" for name, value in config.items())


def common(configs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Knobs that have the same value in all of them."""
    if len(configs) < 2:
        return {}
    first = configs[0]
    return {n: v for n, v in first.items() if all(n in c and c[n] == v for c in configs[1:])}


def _problem(console: "Console", problem: "TunedProblem", *, top: int) -> None:
    ranking = problem.ranking[:top]
    console.print(problem.name, style="bold", markup=False)
    if not ranking:
        console.print("  no configuration could be predicted", markup=False)
        if problem.own is None:
            return
    shared = common([one.config for one in ranking])
    console.print(_table(problem, ranking, shared, console.width))
    for text, values in (("all rows", shared), ("assumed", problem.assumed)):
        if values:
            _fold(console, f"{text}: {knobs(values)}")
    if problem.ties > 1:
        more = f", {problem.ties - len(ranking)} of them not shown" if problem.ties > len(ranking) else ""
        _fold(console, f"= {_close()} of the first: not told apart by prediction ({problem.ties} in all{more})")
    parts = dict.fromkeys(name for one in ranking for name in one.parts)
    if parts:
        _fold(console, f"times include what is launched beside the kernel: {', '.join(parts)}")


def _close() -> str:
    from kprof.tuning.candidates import TIE

    return f"within {100 * TIE:.0f} %"


def _table(problem: "TunedProblem", ranking: "Sequence[Ranked]", shared: Mapping[str, Any], width: int) -> "Table":
    """A row a configuration: a column for each knob that differs, or all of them in one where there is no room."""
    from rich.table import Table

    rows = [*ranking, *([problem.own] if problem.own is not None else [])]
    measured = any(one.measured_ms is not None for one in ranking)
    names = list(dict.fromkeys(n for one in rows for n, v in one.config.items() if n not in shared or shared[n] != v))
    headings = ["measured"] * measured + ["time", "likely", "bound", "VGPR", "spills", "LDS", "waves"]
    cells = [_cells(one, measured=measured) for one in rows]
    remarks = [_remark(one) for one in rows]
    taken = sum(2 + max(len(h), *(len(c[i]) for c in cells)) for i, h in enumerate(headings)) + 5
    knob_width = sum(2 + max(len(n), *(len(str(one.config.get(n, "-"))) for one in rows)) for n in names)
    columns = taken + knob_width + max(map(len, remarks)) <= width
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "bound" else "right", no_wrap=True)
    for name in names if columns else ():
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("" if columns else "knobs", overflow="fold")
    for number, (one, row, remark) in enumerate(zip(rows, cells, remarks, strict=True), 1):
        mine = number > len(ranking)
        mark = "own" if mine else f"{number}{'=' if one.tie else ' '}"
        own = [str(one.config.get(name, "-")) for name in names]
        said = knobs({name: one.config[name] for name in names if name in one.config})
        last = [*own, remark] if columns else [" ".join(filter(None, (said, remark)))]
        table.add_row(mark, *row, *last, style="dim" if mine else "bold" if number == 1 else None)
    return table


def _remark(one: "Ranked") -> str:
    alike = f"+{len(one.alike)} alike" if one.alike else ""
    return ", ".join(filter(None, (alike, one.note)))


def _cells(one: "Ranked", *, measured: bool) -> list[str]:
    own = [] if not measured else ["-" if one.measured_ms is None else microseconds(1000 * one.measured_ms)]
    lds = one.resources.get("lds_bytes")
    return [
        *own,
        microseconds(one.time_us),
        span(one.low_us, one.high_us),
        one.bound,
        _count(one.resources, "vgpr_allocated"),
        _count(one.resources, "vgpr_spills"),
        "?" if lds is None else f"{lds / 1024:.4g} KiB" if lds >= 1024 else f"{lds} B",
        _count(one.resources, "waves_per_simd"),
    ]


def span(low: float, high: float) -> str:
    """``138-391 us``."""
    first, last = microseconds(low), microseconds(high)
    unit = last.rpartition(" ")[2]
    return f"{first.removesuffix(' ' + unit)}-{last}" if first.endswith(f" {unit}") else f"{first} - {last}"


def _count(resources: Mapping[str, Any], name: str) -> str:
    value = resources.get(name)
    return "?" if value is None else f"{value:g}"


def _dispatch(console: "Console", report: "TuneReport") -> None:
    """One line a problem: the best configuration, its time, and what it gains over the kernel's own."""
    from rich.table import Table

    shared = common([p.ranking[0].config for p in report.problems if p.ranking])
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("problem", no_wrap=True)
    for heading in ("time", "own", "gain", "ties"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("configuration", overflow="fold")
    for problem in report.problems:
        if not problem.ranking:
            table.add_row(problem.name, "-", "-", "-", "-", "no configuration could be predicted")
            continue
        best, own = problem.ranking[0], problem.own
        gain = f"{own.time_us / best.time_us:.2f}x" if own is not None else "?"
        differs = {n: v for n, v in best.config.items() if n not in shared}
        time = best.measured_ms * 1000 if best.measured_ms is not None else best.time_us
        before = microseconds(own.time_us) if own is not None else "?"
        table.add_row(problem.name, microseconds(time), before, gain, str(problem.ties), knobs(differs))
    console.print(table)
    if shared:
        _fold(console, f"all: {knobs(shared)}")


def _footer(console: "Console", report: "TuneReport") -> None:
    search, space = report.search, report.space
    pruned = sum(space.pruned.values())
    what = f"{space.size:,} combinations of {space.origin}"
    if len(report.problems) > 1:
        what += f" for {len(report.problems)} problems"
    _fold(console, f"Space    {what}: {space.legal:,} worth a compile, {pruned:,} pruned{_reasons(space.pruned)}")
    known = f", {search.resumed:,} known before" if search.resumed else ""
    cached = f" ({search.cached:,} from the cache)" if search.cached else ""
    rate = f", {search.compiled / search.seconds:.1f}/s" if search.seconds and search.compiled else ""
    _fold(
        console,
        f"Search   {search.looked_at:,} looked at{known}: {search.compiled:,} compiled{cached} in "
        f"{search.seconds:.0f} s by {search.workers}{rate}{_ENDED[search.ended]}",
    )
    failed = sum(search.failed.values())
    _fold(
        console,
        f"Of them  {search.duplicates:,} the same program as another, {failed:,} no good{_reasons(search.failed)}",
    )
    if search.example and not any(problem.ranking for problem in report.problems):
        _fold(console, f"Example  {search.example}")
    for said in dict.fromkeys(said for problem in report.problems for said in problem.assumptions):
        _fold(console, f"Assumed  {said}")
    for note in space.notes:
        _fold(console, f"Note     {note}")
    if search.ended != "complete":
        _fold(console, f"Kept in  {search.journal}: the same command goes on from there")


def _reasons(reasons: Mapping[str, int]) -> str:
    shown = [f"{count:,} {why}" for why, count in reasons.items() if count][:_REASONS]
    more = len([count for count in reasons.values() if count]) - len(shown)
    if not shown:
        return ""
    return f" ({'; '.join(shown)}{f'; {more} more reasons' if more > 0 else ''})"


def _fold(console: "Console", text: str) -> None:
    """A paragraph with its continuation lines set in below the first word's end."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else console.width
    indent = (
        " " * 9
        if text[:9].rstrip() in {"Space", "Search", "Of them", "Note", "Kept in", "Assumed", "Example"}
        else "  "
    )
    for line in textwrap.wrap(
        text, max(40, width - 1), subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    ):
        console.print(line, style="dim", markup=False)
