"""``kprof doctor``: is this machine set up to compile, run and time kernels."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from kprof.cli.common import JsonOption, NoColorOption, QuietOption, VerboseOption
from kprof.errors import KprofError
from kprof.output.colour import coloured
from kprof.output.writing import print_styled, write_output

HELP = "Look whether this machine is set up for kernel work."

_EXIT = {"ok": 0, "fail": 1}


def command(
    root: Annotated[
        Path, typer.Option("--root", help="Where the machine's /proc, /sys, /dev and /opt are: /host in a container.")
    ] = Path("/"),
    json: JsonOption = None,
    verbose: VerboseOption = 0,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Look whether this machine is set up for kernel work, as AMD's guides ask. Nothing is changed, nothing is run.

    Without a GPU it says what works without one.

    Exit codes: 0 fine, 1 something would make measurements wrong.
    """
    from kprof.doctor import Machine, examine
    from kprof.reporters.doctor_text import DoctorTextReporter

    if not root.is_dir():
        raise KprofError("no such folder", path=str(root), hint="--root takes the folder that holds proc, sys and dev.")
    found = examine(Machine(root=root))
    if json:
        from kprof.reporters.doctor_json import render

        write_output(json, render(found))
    if json != "-":
        colour = coloured(no_color=no_color)
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 100
        reporter = DoctorTextReporter(width, colour=colour, verbose=verbose)
        print_styled(reporter.verdict(found) if quiet else reporter.render(found))
    raise typer.Exit(_EXIT[found.verdict.status])
