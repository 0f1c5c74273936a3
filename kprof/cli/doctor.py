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

HELP = "Look whether this machine is set up for kernel work."

_EXIT = {"ok": 0, "fail": 1}


@format_options("doctor")
def command(
    root: Annotated[
        Path, typer.Option("--root", help="Where the machine's /proc, /sys, /dev and /opt are: /host in a container.")
    ] = Path("/"),
    outputs: Outputs = NO_OUTPUTS,
    verbose: VerboseOption = 0,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Look whether this machine is set up for kernel work, as AMD's guides ask. Nothing is changed, nothing is run.

    Without a GPU it says what works without one.

    Exit codes: 0 fine, 1 something would make measurements wrong.
    """
    from kprof.doctor import Host, examine
    from kprof.reporters.doctor_text import DoctorTextReporter

    if not root.is_dir():
        raise KprofError("no such folder", path=str(root), hint="--root takes the folder that holds proc, sys and dev.")
    found = examine(Host(root=root))

    def text() -> None:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 100
        reporter = DoctorTextReporter(width, colour=coloured(no_color=no_color), verbose=verbose)
        print_styled(reporter.verdict(found) if quiet else reporter.render(found))

    outputs.write(found, text)
    raise typer.Exit(_EXIT[found.verdict.status])
