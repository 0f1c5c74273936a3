"""Text of findings compared with measurements, for the terminal."""

from typing import TYPE_CHECKING, Any

from kprof.output.headline import tell_first, tell_last
from kprof.output.tables import number
from kprof.output.writing import log

if TYPE_CHECKING:
    from rich.console import Console

    from kprof.document import KernelReport
    from kprof.measured import Fact, Judgement, LineComparison, LoopComparison, Match, Measured, ModelComparison

_ROOM_FOR_WORDS = 100
"""Minimum terminal width in columns for explanations next to the numbers."""

_STYLE = {"confirmed": "bold red", "refuted": "green", "not measured": "dim", "cannot tell": "dim"}


def show(report: "KernelReport", measured: "Measured", console: "Console") -> None:
    """Print the kernel, the verdicts of measurements on its findings, and other measured values."""
    tell_first(verdict(measured))
    console.print(f"[bold]{report.name}[/bold]   measured on {measured.gpu}", highlight=False)
    section(measured, console)
    tell_last(verdict(measured))


def compared(measured: "Measured", console: "Console") -> None:
    """Print the matched kernels, and the quantities that were both measured and modelled."""
    _matched(measured, console)
    _modelled(measured, console)


def section(measured: "Measured", console: "Console") -> None:
    """Print the matched kernels, the findings with the deciding numbers, and the measured values."""
    _matched(measured, console)
    if measured.judgements:
        console.print(_judgements(measured.judgements))
        console.print()
    _modelled(measured, console)
    if measured.facts:
        console.print(_facts(measured.facts))
        console.print()
    if measured.collect:
        console.print("To decide the other findings, run the program once with each line:", style="dim")
        for option in measured.collect:
            console.print(f"rocprofv3 {option} -f csv -d counters -- your_program", markup=False, soft_wrap=True)
        console.print()


def _matched(measured: "Measured", console: "Console") -> None:
    for match in measured.matches:
        console.print(match_words(match), style="dim", markup=False)
    for note in measured.notes:
        log(note)
    console.print()


def _modelled(measured: "Measured", console: "Console") -> None:
    if measured.comparisons:
        narrow = console.width < _ROOM_FOR_WORDS
        console.print(_comparisons(measured.comparisons, words=not narrow))
        for one in measured.comparisons if narrow else ():
            console.print(f"{one.title}: {one.standing}: {one.words}", style="dim", markup=False)
        console.print()
    for loop in measured.loops:
        console.print(_loop(loop))
        console.print()


def verdict(measured: "Measured") -> str:
    """Return the verdict in one line."""
    return f"measured: {standings(measured)}"


def standings(measured: "Measured") -> str:
    """Return the numbers of confirmed and refuted findings, and how certain the match is."""
    total = len(measured.judgements)
    counts = [f"{measured.count(s)} {s}" for s in ("confirmed", "refuted", "not measured") if measured.count(s)]
    found = f"{total} finding{'' if total == 1 else 's'}: {', '.join(counts)}" if total else "no findings to judge"
    doubts = [name for name in ("doubtful", "likely") if any(m.confidence == name for m in measured.matches)]
    doubt = "" if not doubts else "; the match is doubtful" if doubts[0] == "doubtful" else "; the match is not certain"
    return f"{found}{doubt}"


def match_words(match: "Match") -> str:
    """Describe the matching runs and the certainty of the match: the same binary, or the properties that differ."""
    keys = [f"{key.name} {key.measured}" + ("" if key.agrees else f" (compiled {key.computed})") for key in match.keys]
    runs = f"{match.dispatches:,} run{'' if match.dispatches == 1 else 's'}"
    if any(not key.agrees for key in match.keys):
        known = "of the same kernel, another build"
    elif match.confidence == "sure" and match.source == "thread trace":
        known = "of the same binary"
    else:
        known = f"{match.confidence} to be it"
    return f"{match.source}: {runs}, {known}: {', '.join(keys)}"


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


def _comparisons(found: "list[ModelComparison]", *, words: bool) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for heading in ("measured", "modelled", "ratio"):
        table.add_column(heading, no_wrap=True, justify="right")
    for one in found:
        ratio = "" if one.ratio is None else f"{one.ratio:.2f}"
        said = Text(one.standing, style=_STYLE[one.standing]).append(f": {one.words}", style="dim")
        numbers = (quantity(one.measured, one.unit), quantity(one.modelled, one.unit))
        table.add_row(Text(one.title), *map(Text, numbers), ratio, *[said] * words)
    return table


def loop_words(loop: "LoopComparison") -> str:
    """Return the location of a loop, and the number of traced iterations."""
    return f"{loop_place(loop)}, {loop.iterations:,} iterations traced"


def loop_place(loop: "LoopComparison") -> str:
    """Return the location of a loop, ``loop at lines 44-77 of attention.py``, or its label if no line is known."""
    lines = [f"lines {first}-{last} of {file.rpartition('/')[2]}" for file, (first, last) in loop.lines.items()]
    return f"loop at {', '.join(lines)}" if lines else f"loop {loop.header}"


def loop_rows(loop: "LoopComparison") -> list[list[str]]:
    """Return rows for a loop and its lines: place, measured, stalled and modelled cycles per iteration, ratio."""

    def row(place: str, one: "LoopComparison | LineComparison") -> list[str]:
        cycles = ["" if value is None else f"{value:,.0f}" for value in (one.measured, one.stalled, one.modelled)]
        known = one.modelled is not None and one.measured
        return [place, *cycles, f"{(one.modelled or 0.0) / one.measured:.2f}" if known else ""]

    return [row("all", loop), *(row(one.place, one) for one in loop.by_line)]


def _loop(loop: "LoopComparison") -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", title_justify="left")
    table.title = Text(loop_words(loop), style="default")
    table.add_column("cycles per iteration", no_wrap=True)
    for heading in ("measured", "stalled", "modelled", "ratio"):
        table.add_column(heading, no_wrap=True, justify="right")
    for cells in loop_rows(loop):
        table.add_row(*map(Text, cells))
    return table


def _facts(facts: "list[Fact]") -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column()
    for fact in facts:
        table.add_row(Text(fact.title), Text(_value(fact)), Text(fact.remark, style="dim"))
    return table


def _value(fact: "Fact") -> str:
    of = f" of {fact.computed:g}" if fact.computed is not None else ""
    return f"{number(fact.value)}{of} {fact.unit}"


def fact_words(fact: "Fact") -> str:
    """Return the value, unit and remark of a measured fact as text."""
    return f"{_value(fact)}: {fact.remark}" if fact.remark else _value(fact)


def quantity(value: float, unit: str) -> str:
    """Format a number with its unit."""
    return f"{number(value)} {'µs' if unit == 'us' else unit}"
