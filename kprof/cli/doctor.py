"""``kprof doctor``: is this machine set up to compile, run and time kernels."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from kprof.cli._format_options import format_options
from kprof.cli.common import NoColorOption, QuietOption, VerboseOption
from kprof.errors import KprofError
from kprof.output.colour import coloured
from kprof.output.writing import print_styled
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "Check whether this machine is set up for kernel work."


@format_options("doctor")
def command(
    root: Annotated[
        Path, typer.Option("--root", help="Where the machine's /proc, /sys, /dev and /opt are: /host in a container.")
    ] = Path("/"),
    workload: Annotated[
        str | None,
        typer.Option(
            "--workload",
            metavar="NAME",
            help="What the settings are for: inference, training, tuning, multi-gpu, vllm or sglang.",
        ),
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Print a shell script of what to change, and run nothing of it.")
    ] = False,
    outputs: Outputs = NO_OUTPUTS,
    verbose: VerboseOption = 0,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Check whether this machine is set up for kernel work, as AMD's guides ask. Nothing is changed, nothing is run.

    Without a GPU it says what works without one.

    Variables, kernel parameters and libraries are compared with AMD's guides. What differs is shown, with --workload
    also what that workload wants and is not set; -v shows what is right, too.

    Exit codes: 0 fine, 1 something would make measurements wrong.
    """
    from kprof.api.diagnose import diagnose
    from kprof.reporters.doctor_text import DoctorTextReporter

    if fix and quiet:
        raise KprofError("--fix and --quiet exclude each other")
    if fix and outputs.to_stdout:
        raise KprofError("--fix prints to standard output, and so does the other format")
    found = diagnose(root=root, workload=workload)

    def text() -> None:
        if fix:
            sys.stdout.write(found.script())
            return
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 100
        reporter = DoctorTextReporter(width, colour=coloured(no_color=no_color), verbose=verbose)
        print_styled(reporter.verdict(found.document) if quiet else reporter.render(found.document))

    outputs.write(found.document, text)
    raise typer.Exit(0 if found.ok else 1)
