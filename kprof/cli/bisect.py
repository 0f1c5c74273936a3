"""``kprof bisect``: find the Triton release in which a kernel got worse, the cause, and a fix."""

import sys
from typing import Annotated

import typer

from kprof.cli._arguments import targets as completed
from kprof.cli._options import takes_options
from kprof.cli._programs import program_of
from kprof.cli.diff import EXIT, show, waiting
from kprof.errors import KprofError
from kprof.options.searches import BisectOptions
from kprof.output.status_line import StatusLine
from kprof.reporters.outputs import Outputs

TargetsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TARGET",
        help="A kernel, a capture, FILE.py::FUNCTION -- ARGS, or -- PROGRAM.",
        autocompletion=completed,
    ),
]

HELP = "Find the Triton release in which a kernel got worse, why, and what fixes it."


@takes_options("diff")
def command(
    options: BisectOptions,
    outputs: Outputs,
    targets: TargetsArgument = None,
) -> None:
    """Find the Triton release in which a kernel got worse, why, and what fixes it. No GPU is used.

    The target is compiled with both releases and the minor releases between them. At the step with the largest
    regression, environment switches are changed one by one, the older release's LLVM IR is compiled by the newer
    release's LLVM, and other knobs are tried. Each reported cause and fix was compiled.

    kprof bisect gemm --good 3.6.0 --bad 3.9.0 --arch gfx950

    kprof bisect --good 3.6.0 --arch MI300X -- python program.py

    Exit codes: 0 nothing got worse, 1 something got worse, 2 cannot tell.
    """
    from kprof.api.diff import bisect

    named, program = program_of(targets or [])
    if program is None and "--" in sys.argv:
        # Only options precede ``--``, so the words after it are a program's command.
        named, program = [], named
    if program is None and len(named) != 1:
        raise KprofError(f"one target is required, got {len(named)}", hint="kprof bisect KERNEL --good 3.6.0")
    with StatusLine() as status:
        found = bisect(*named, options=options, program=program, progress=status.draw, waiting=waiting(status))
    outputs.write(found.document, lambda: show(found, outputs))
    raise typer.Exit(EXIT[found.document.verdict.status])
