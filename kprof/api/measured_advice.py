"""``kprof advise --counters --trace``: the measured part."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.errors import KprofError
from kprof.output.writing import log

if TYPE_CHECKING:
    from rich.console import Console

    from kprof.document import KernelReport
    from kprof.targets.options import Options
    from kprof_analyzers.profiles.measured.model import Fact, Judgement, Match, Measured
    from kprof_analyzers.profiles.measured.reading import Measurement

CountersOption = Annotated[
    list[str],
    typer.Option("--counters", help="Files or folders of a ROCm profiler with this kernel.", metavar="PATH"),
]
TraceOption = Annotated[
    list[str],
    typer.Option("--trace", help="PyTorch traces, or folders of them, with this kernel.", metavar="PATH"),
]
NoSearchOption = Annotated[
    bool, typer.Option("--no-search", help="Only judge by --counters and --trace: try no other knobs.")
]
_STYLE = {"confirmed": "bold red", "refuted": "green", "not measured": "dim"}


def read(counters: "list[str]", traces: "list[str]", asked: str | None, *, search: bool) -> "Measurement | None":
    """The measurement, ``None`` when no file was given.

    Raises:
        KprofError: as :func:`kprof_analyzers.profiles.measured.reading.read`; or nothing is left to do.
    """
    if not counters and not traces:
        if not search:
            raise KprofError("--no-search leaves nothing to do", hint="Give measurements: --counters, --trace or both.")
        return None
    from kprof_analyzers.profiles.measured import reading

    measurement = reading.read(counters, traces, asked)
    if asked is None and measurement.name is not None:
        log(f"compiling for {measurement.name}, which was measured")
    return measurement


def judge(target: str, arch: str, options: "Options", measurement: "Measurement") -> "tuple[KernelReport, Measured]":
    """Compile (or read) the kernel, and hold its findings against the measurement.

    Raises:
        KprofError: the target is no single kernel, or was not measured.
    """
    from dataclasses import replace

    from kprof.targets.resolver import load
    from kprof_analyzers.pipeline import analyze
    from kprof_analyzers.profiles.measured.join import subject_of
    from kprof_analyzers.profiles.measured.judge import judge as judged

    kernels = list(load(target, replace(options, archs=[arch])))
    if len(kernels) != 1:
        names = ", ".join(kernel.name for kernel in kernels)
        raise KprofError(f"this is {len(kernels)} kernels: {names}", hint="Measurements are joined to one at a time.")
    report = analyze(kernels[0])
    return report, judged(report, subject_of(kernels[0], report, kernels[0].arch), measurement)


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


def document(report: "KernelReport", measured: "Measured") -> dict[str, Any]:
    """The fields of the advice document when nothing was searched."""
    import msgspec

    return {
        "schema": "kprof.advice/1",
        "kernel": report.name,
        "arch": report.arch,
        "triton": report.triton if isinstance(report.triton, str) else None,
        "findings": msgspec.to_builtins(report.findings),
        "measured": msgspec.to_builtins(measured),
    }


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
