"""``kprof doctor``: is this machine set up to compile, run and time kernels."""

import shutil
import sys

import typer

from kprof.cli._options import takes_options
from kprof.errors import KprofError
from kprof.options.tools import DoctorCommandOptions
from kprof.output.colour import coloured
from kprof.output.writing import print_styled
from kprof.reporters.outputs import Outputs

HELP = "Check whether this machine is set up for kernel work."


@takes_options("doctor")
def command(options: DoctorCommandOptions, outputs: Outputs) -> None:
    """Check whether this machine is set up for kernel work, as AMD's guides ask. Nothing is changed, nothing is run.

    Without a GPU it says what works without one.

    Variables, kernel parameters and libraries are compared with AMD's guides. What differs is shown, with --workload
    also what that workload wants and is not set; -v shows what is right, too.

    Exit codes: 0 fine, 1 something would make measurements wrong.
    """
    from kprof.api.diagnose import diagnose
    from kprof.reporters.doctor_text import DoctorTextReporter

    if options.fix and outputs.quiet:
        raise KprofError("--fix and --quiet exclude each other")
    if options.fix and outputs.to_stdout:
        raise KprofError("--fix prints to standard output, and so does the other format")
    found = diagnose(options=options)

    def text() -> None:
        if options.fix:
            sys.stdout.write(found.script())
            return
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 100
        reporter = DoctorTextReporter(width, colour=coloured(no_color=outputs.no_color), verbose=outputs.verbose)
        print_styled(reporter.verdict(found.document) if outputs.quiet else reporter.render(found.document))

    outputs.write(found.document, text)
    raise typer.Exit(0 if found.ok else 1)
