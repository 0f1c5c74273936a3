"""``kprof doctor``: check whether this machine is set up to compile, run and time kernels."""

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

# All words after the program's name belong to the program, with or without "--".
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
    """Check whether this machine is set up for kernel work as AMD's guides recommend. Nothing is changed or run.

    Without a GPU, the report says what works without one.

    Variables, kernel parameters and libraries are compared with AMD's guides, and differences are shown. --workload
    also shows settings that the workload needs; -v also shows settings that are correct.

    After --, give the command line of vllm, sglang, torchrun or mpirun, preceded by its variables. Variables and
    arguments are compared with the guides, but the command is not run. A recommended change there is not a failure.

    Example:  kprof doctor --workload vllm -- VLLM_ROCM_USE_AITER=1 vllm serve MODEL --tensor-parallel-size 8

    Exit codes: 0 fine, 1 a setting would make measurements wrong.
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
