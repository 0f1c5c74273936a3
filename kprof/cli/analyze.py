"""``kprof analyze``: what a GPU will do with a kernel."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.cli._compile_options import NO_OPTIONS, TargetsArgument, compile_options
from kprof.cli._format_options import format_options
from kprof.cli._groups import group
from kprof.cli._programs import program_of
from kprof.cli.common import JobsOption, NoColorOption, QuietOption, VerboseOption
from kprof.errors import TargetError
from kprof.output.terminal import terminal
from kprof.output.writing import log, write_output
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

if TYPE_CHECKING:
    from kprof.api.analyze import Analysis

HELP = "Compile or read a kernel and show what holds it back."

app = group()

_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}

FailOnOption = Annotated[
    str | None, typer.Option("--fail-on", help="Exit with 1 on a finding this bad: note, warning or error.")
]


@app.callback()
def _group() -> None:
    """Compile or read a kernel and show what holds it back."""


@app.command()
@format_options("report")
@compile_options()
def kernel(
    targets: TargetsArgument,
    compile_with: Mapping[str, Any] = NO_OPTIONS,
    dump: Annotated[
        Path | None, typer.Option("--dump", help="Write each stage, and with --passes each pass, to this folder.")
    ] = None,
    timeline: Annotated[
        str | None,
        typer.Option("--timeline", help="Write a SIMD's modelled wavefronts for ui.perfetto.dev.", metavar="PATH"),
    ] = None,
    fail_on: FailOnOption = None,
    no_try: Annotated[
        bool, typer.Option("--no-try", help="Do not compile the cheap cures of findings that cost more than 5 %.")
    ] = False,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Seconds that a program after -- may run; 600.", min=1)
    ] = None,
    jobs: JobsOption = 0,
    outputs: Outputs = NO_OUTPUTS,
    verbose: VerboseOption = 0,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Show what an AMD GPU will do with a kernel and what holds it back. No GPU is used.

    FILE.py::FUNCTION imports the file; every other target is only read. FILE.py -- ARGS runs the file with ARGS on the
    simulated GPU and shows what it launches; FILE.py::FUNCTION -- ARGS takes that function's launches.

    kprof rules explain KP301 says what a finding means and what to try, kprof advise tries it, kprof report TARGET
    -o page.html writes everything on one page.

    Example:  kprof analyze kernel my.py::fn --arch MI300X --signature '*fp16,*fp16,i32:16' --constexpr BLOCK=1024
    """
    from kprof.api.analyze import analyze

    named, program = program_of(targets)
    if time_limit is not None and program is None:
        raise TargetError("--time-limit is for a program that is run", hint="kprof analyze kernel FILE.py -- ARGS")
    found = analyze(
        *named,
        **compile_with,
        dump=dump,
        fail_on=fail_on,
        try_cures=not no_try,
        jobs=jobs,
        keep_going=True,
        keep_programs=timeline is not None or outputs.wants("html"),
        program=program,
        time_limit=time_limit,
    )
    for failure in found.failures:
        log(f"kprof: {failure}")
    if timeline is not None:
        write_output(timeline, found.timeline())
    show = partial(_show, found, verbose=verbose, quiet=quiet, no_color=no_color)
    outputs.write(found.document, show, found.details)
    raise typer.Exit(_EXIT[found.document.verdict.status])


def _show(found: "Analysis", *, verbose: int, quiet: bool, no_color: bool) -> None:
    from kprof.reporters.console import ConsoleReporter

    reporter = ConsoleReporter(terminal(no_color=no_color), verbose)
    if quiet:
        reporter.verdict(found.document)
    else:
        reporter.show(found.document)
