"""``kprof analyze``: what a GPU will do with a kernel."""

from functools import partial
from typing import TYPE_CHECKING

import typer

from kprof.cli._arguments import TargetsArgument
from kprof.cli._groups import SuggestingGroup, group
from kprof.cli._options import takes_options
from kprof.cli._programs import program_of
from kprof.errors import TargetError
from kprof.options.kernels import AnalyzeCommandOptions
from kprof.output.terminal import terminal
from kprof.output.writing import log, write_output
from kprof.reporters.outputs import Outputs

if TYPE_CHECKING:
    from kprof.api.analyze import Analysis

HELP = "Compile or read a kernel and show what holds it back."
_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}


class AnalyzeGroup(SuggestingGroup):
    """``kprof analyze TARGET`` is short for ``kprof analyze kernel TARGET``."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """As usual; what is no command is a target, or an option of the only command."""
        known = {*self.list_commands(ctx), *ctx.help_option_names}
        if args and args[0] not in known:
            args = ["kernel", *args]
        return super().parse_args(ctx, args)


app = group(AnalyzeGroup)


@app.callback()
def _group() -> None:
    """Compile or read a kernel and show what holds it back. kprof analyze TARGET is short for kernel TARGET."""


@app.command()
@takes_options("report")
def kernel(targets: TargetsArgument, options: AnalyzeCommandOptions, outputs: Outputs) -> None:
    """Show what an AMD GPU will do with a kernel and what holds it back. No GPU is used.

    FILE.py::FUNCTION imports the file; every other target is only read. FILE.py -- ARGS runs the file with ARGS on the
    simulated GPU and shows what it launches; FILE.py::FUNCTION -- ARGS takes that function's launches.

    kprof rules explain KP301 says what a finding means and what to try, kprof advise tries it, kprof report TARGET
    -o page.html writes everything on one page.

    Example:  kprof analyze kernel my.py::fn --arch MI300X --signature '*fp16,*fp16,i32:16' --constexpr BLOCK=1024
    """
    from kprof.api.analyze import analyze

    named, program = program_of(targets)
    if options.time_limit is not None and program is None:
        raise TargetError("--time-limit is for a program that is run", hint="kprof analyze kernel FILE.py -- ARGS")
    kept = options.timeline is not None or outputs.wants("html")
    found = analyze(*named, options=options, keep_going=True, keep_programs=kept, program=program)
    for failure in found.failures:
        log(f"kprof: {failure}")
    if options.timeline is not None:
        write_output(options.timeline, found.timeline())
    outputs.write(found.document, partial(_show, found, outputs), found.details)
    raise typer.Exit(_EXIT[found.document.verdict.status])


def _show(found: "Analysis", outputs: Outputs) -> None:
    from kprof.reporters.console import ConsoleReporter

    reporter = ConsoleReporter(terminal(no_color=outputs.no_color), outputs.verbose)
    if outputs.quiet:
        reporter.verdict(found.document)
    else:
        reporter.show(found.document)
