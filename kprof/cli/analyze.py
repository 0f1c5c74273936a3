"""``kprof analyze``: analyse how a kernel will run on an AMD GPU."""

import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import typer

from kprof.cli._arguments import TargetsArgument
from kprof.cli._groups import SuggestingGroup, group
from kprof.cli._options import takes_options
from kprof.cli._programs import program_of
from kprof.errors import TargetError
from kprof.options.kernels import AnalyzeCommandOptions, WatchOptions
from kprof.options.option import declared
from kprof.output.terminal import terminal
from kprof.output.writing import log, write_output
from kprof.reporters.outputs import TEXT, Outputs

if TYPE_CHECKING:
    from kprof.api.analyze import Analysis
    from kprof.api.live.watch import Update

HELP = "Compile or read a kernel and show what limits its performance."
_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}


class AnalyzeGroup(SuggestingGroup):
    """``kprof analyze TARGET`` is short for ``kprof analyze kernel TARGET``."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the arguments. If the first one is not a command, all of them are arguments of ``kernel``."""
        known = {*self.list_commands(ctx), *ctx.help_option_names}
        if args and args[0] not in known:
            args = ["kernel", *args]
        return super().parse_args(ctx, args)


app = group(AnalyzeGroup)


@app.callback()
def _group() -> None:
    """Compile or read a kernel and show what limits it. kprof analyze TARGET is short for kernel TARGET."""


@app.command()
@takes_options("report", compiles=True)
def kernel(targets: TargetsArgument, options: AnalyzeCommandOptions, outputs: Outputs) -> None:
    """Show how a kernel will run on an AMD GPU and what limits its performance. No GPU is used.

    FILE.py::FUNCTION imports the file; every other target is only read. FILE.py -- ARGS runs the file with ARGS on the
    simulated GPU and shows the kernels it launches; FILE.py::FUNCTION -- ARGS shows only that function's launches.

    With --watch the target is analysed again whenever its file or one that it imports is saved, until Ctrl-C; each
    screen ends with the changes in the compiled code.

    kprof explain KP301 explains a finding and what to try, kprof advise tries it, and kprof report TARGET -o page.html
    writes all results to one page.

    Example:  kprof analyze kernel my.py::fn --arch MI300X --signature '*fp16,*fp16,i32:16' --constexpr BLOCK=1024
    """
    run(targets, options, outputs)


def run(targets: list[str], options: AnalyzeCommandOptions, outputs: Outputs) -> None:
    """Run the command.

    Raises:
        KprofError: as :func:`kprof.analyze`, or an option does not apply to a target.
        typer.Exit: always, with the command's exit code.
    """
    from kprof.api.analyze import analyze

    named, program = program_of(targets)
    if options.time_limit is not None and program is None:
        raise TargetError("--time-limit can only be used with a program", hint="kprof analyze kernel FILE.py -- ARGS")
    if options.watch:
        if program is not None or len(named) != 1:
            raise TargetError("--watch takes one target", hint="kprof analyze my.py::fn --watch")
        _watch(named[0], _of_watch(options, outputs), outputs)
        return
    kept = options.timeline is not None or outputs.wants("html")
    found = analyze(*named, options=options, keep_going=True, keep_programs=kept, program=program)
    for failure in found.failures:
        log(f"kprof: {failure}")
    if options.timeline is not None:
        write_output(options.timeline, found.timeline())
    outputs.write(found.document, partial(_show, found, outputs), found.details)
    raise typer.Exit(_EXIT[found.document.verdict.status])


def _of_watch(options: AnalyzeCommandOptions, outputs: Outputs) -> WatchOptions:
    """Return the options of ``--watch``.

    Raises:
        TargetError: an option is set that cannot be combined with ``--watch``.
    """
    usable = {each.name: each.flag for each in declared(WatchOptions)}
    left = [each.flag for each in declared(type(options)) if each.name in options.given().keys() - {"watch", *usable}]
    left += [f"--{name}" for name in (*outputs.paths, *outputs.flags)]
    left += ["--format"] * (outputs.shown != TEXT)
    if left:
        raise TargetError(f"--watch cannot be combined with {', '.join(left)}")
    return options.part(WatchOptions)


def _watch(target: str, options: WatchOptions, outputs: Outputs) -> None:
    """Analyse a target at each save of its files, until Ctrl-C."""
    from kprof.api.live.watch import watch

    try:
        for update in watch(target, options):
            _show_update(update, outputs)
    except KeyboardInterrupt:
        # Ctrl-C is the normal way to end --watch, so the exit code is 0.
        raise typer.Exit(0) from None


def _show_update(update: "Update", outputs: Outputs) -> None:
    from kprof.reporters.console import ConsoleReporter
    from kprof.reporters.diff_text import DiffTextReporter

    console = terminal(no_color=outputs.no_color)
    if console.is_terminal:
        console.clear()
    if update.analysis is not None:
        reporter = ConsoleReporter(console, outputs.verbose)
        (reporter.verdict if outputs.quiet else reporter.show)(update.analysis.document)
    if update.changed is not None:
        print()
        DiffTextReporter(console, outputs.verbose).show(update.changed.document)
    if update.error is not None:
        console.print(f"kprof: {update.error}", style="bold red", markup=False)
        if update.last is not None:
            console.print(f"last successful compile: {update.last.summary}", style="dim", markup=False)
    console.print(f"{time.strftime('%H:%M:%S')}: waiting for the next save; Ctrl-C ends", style="dim", markup=False)
    sys.stdout.flush()


def _show(found: "Analysis", outputs: Outputs) -> None:
    from kprof.reporters.console import ConsoleReporter

    reporter = ConsoleReporter(terminal(no_color=outputs.no_color), outputs.verbose)
    if outputs.quiet:
        reporter.verdict(found.document)
    else:
        reporter.show(found.document)
