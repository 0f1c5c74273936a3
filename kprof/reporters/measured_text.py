"""Findings held against measurements, on the terminal."""

from typing import TYPE_CHECKING, Any

from kprof.output.writing import log

if TYPE_CHECKING:
    from rich.console import Console

    from kprof.document import KernelReport
    from kprof_analyzers.profiles.measured.model import Fact, Judgement, Match, Measured

_STYLE = {"confirmed": "bold red", "refuted": "green", "not measured": "dim"}


def show(report: "KernelReport", measured: "Measured", console: "Console") -> None:
    """Which kernel it is, what its findings are worth, and what else was measured."""
    console.print(f"[bold]{report.name}[/bold]   measured on {measured.gpu}", highlight=False)
    for match in measured.matches:
        console.print(_match(match), style="dim", markup=False)
    for note in measured.notes:
        log(note)
    console.print()
    if measured.judgements:
        console.print(_judgements(measured.judgements))
        console.print()
    if measured.facts:
        console.print(_facts(measured.facts))
        console.print()
    if measured.collect:
        console.print("To decide the others, one run of the program each:", style="dim")
        for option in measured.collect:
            console.print(f"rocprofv3 {option} -f csv -d counters -- your_program", markup=False, soft_wrap=True)
        console.print()
    print(verdict(measured))


def verdict(measured: "Measured") -> str:
    """One line."""
    total = len(measured.judgements)
    counts = [f"{measured.count(s)} {s}" for s in ("confirmed", "refuted", "not measured") if measured.count(s)]
    found = f"{total} finding{'' if total == 1 else 's'}: {', '.join(counts)}" if total else "no findings to judge"
    doubt = "; the match is doubtful" if any(m.confidence == "doubtful" for m in measured.matches) else ""
    return f"measured: {found}{doubt}"


def _match(match: "Match") -> str:
    keys = [f"{key.name} {key.measured}" + ("" if key.agrees else f" (compiled {key.computed})") for key in match.keys]
    runs = f"{match.dispatches:,} run{'' if match.dispatches == 1 else 's'}"
    return f"{match.source}: {runs}, {match.confidence} to be it: {', '.join(keys)}"


def _judgements(judgements: "list[Judgement]") -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for one in judgements:
        rule = Text(f"{one.rule} {one.name}")
        words = Text(one.words)
        words.append(f"\n{one.place} {one.message}" if one.place else f"\n{one.message}", style="dim")
        table.add_row(Text(one.standing, style=_STYLE[one.standing]), rule, words)
    return table


def _facts(facts: "list[Fact]") -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column()
    for fact in facts:
        of = f" of {fact.computed:g}" if fact.computed is not None else ""
        table.add_row(Text(fact.title), Text(f"{fact.value:,.4g}{of} {fact.unit}"), Text(fact.remark, style="dim"))
    return table
