"""``kprof doctor``: is this machine set up to compile, run and time kernels."""

import shutil
import sys
from typing import Annotated

import typer

from kprof.cli._options import takes_options
from kprof.errors import KprofError
from kprof.options.tools import DoctorCommandOptions
from kprof.output.colour import coloured
from kprof.output.writing import print_styled
from kprof.reporters.outputs import Outputs

# What follows the program's name is the program's, with "--" or without.
CONTEXT_SETTINGS = {"allow_interspersed_args": False}
HELP = "Check whether this machine is set up for kernel work."


@takes_options("doctor")
def command(
    options: DoctorCommandOptions,
    outputs: Outputs,
    program: Annotated[
        list[str] | None, typer.Argument(metavar="PROGRAM", help="A command line to judge: -- vllm serve MODEL")
    ] = None,
) -> None:
    """Check whether this machine is set up for kernel work, as AMD's guides ask. Nothing is changed, nothing is run.

    Without a GPU it says what works without one.

    Variables, kernel parameters and libraries are compared with AMD's guides. What differs is shown, with --workload
    also what that workload wants and is not set; -v shows what is right, too.

    After -- comes the command line of vllm, sglang, torchrun or mpirun, with its variables before it. Its variables and
    arguments are compared with the guides, and it is not run. A line that AMD's guides would change is no failure.

    Example:  kprof doctor --workload vllm -- VLLM_ROCM_USE_AITER=1 vllm serve MODEL --tensor-parallel-size 8

    Exit codes: 0 fine, 1 something would make measurements wrong.
    """
    from kprof.api.diagnose import diagnose
    from kprof.reporters.doctor_text import DoctorTextReporter

    if options.fix and outputs.quiet:
        raise KprofError("--fix and --quiet exclude each other")
    if options.fix and outputs.to_stdout:
        raise KprofError("--fix prints to standard output, and so does the other format")
    found = diagnose(program or (), options=options)

    def text() -> None:
        if options.fix:
            sys.stdout.write(found.script())
            return
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 100
        reporter = DoctorTextReporter(width, colour=coloured(no_color=outputs.no_color), verbose=outputs.verbose)
        print_styled(reporter.verdict(found.document) if outputs.quiet else reporter.render(found.document))

    outputs.write(found.document, text)
    raise typer.Exit(0 if found.ok else 1)
