"""``kprof diff``: compare two compiles, and explain regressions."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._arguments import targets
from kprof.cli._options import takes_options
from kprof.cli._programs import program_of
from kprof.errors import KprofError
from kprof.options.searches import DiffOptions
from kprof.output.status_line import StatusLine
from kprof.output.terminal import terminal
from kprof.output.writing import log
from kprof.reporters.outputs import Outputs

if TYPE_CHECKING:
    from kprof.api.diff import Comparison

HELP = "Compare two compiles, or one kernel under several Tritons, and explain regressions."

EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}
"""Exit codes by verdict."""

TargetsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TARGET",
        help="Two of these, old and new: a --json report, a capture or Triton cache directory, an .amdgcn, .hsaco "
        "or .co file, a kernel. Or one kernel or capture with --triton; or --triton ... -- PROGRAM, "
        "or --triton ... FILE.py::FUNCTION -- ARGS. With --since, any Python files and folders.",
        autocompletion=targets,
    ),
]


@takes_options("diff")
def command(
    options: DiffOptions,
    outputs: Outputs,
    targets: TargetsArgument = None,
    list_tests: Annotated[
        bool,
        typer.Option("--list-tests", help="With --since: print only the tests of kernels that may have changed."),
    ] = False,
) -> None:
    """Compare two compiles, or one kernel under several Tritons, and explain regressions. No GPU is used.

    kprof diff old.json new.json

    kprof diff gemm --arch gfx950 --triton 3.6.0 --triton 3.9.0

    kprof diff --triton 3.6.0 --triton 3.9.0 --arch gfx950 -- python program.py

    kprof diff --triton 3.6.0 --triton 3.9.0 program.py::fn -- ARGS

    kprof diff --since main

    Exit codes: 0 nothing got worse, 1 something got worse, 2 cannot tell.
    """
    from kprof.api.diff import diff

    named, program = program_of(targets or [])
    if program is None and "--" in sys.argv:
        # Only options precede ``--``, so the words after it are a program's command.
        named, program = [], named
    if list_tests and not options.since:
        raise KprofError("--list-tests can only be used with --since", hint="kprof diff --since main --list-tests")
    if options.since and program is None:
        with StatusLine() as status:
            found = diff(targets=named, options=options, progress=status.draw)
        if list_tests:
            outputs.write(found.document, lambda: print(*found.tests, sep="\n", end="\n" * bool(found.tests)))
            for line in found.unknown:
                log(f"kprof: {line}")
            raise typer.Exit(EXIT["cannot_tell" if found.unknown else "ok"])
        outputs.write(found.document, lambda: show(found, outputs))
        raise typer.Exit(EXIT[found.document.verdict.status])
    if program is None and (len(named) > 2 or not named or (len(named) == 1 and not options.triton)):
        raise KprofError(
            f"two targets are required, got {len(named)}",
            hint="kprof diff OLD NEW, or kprof diff KERNEL --triton 3.6.0 --triton 3.9.0",
        )
    with StatusLine() as status:
        found = diff(*named, options=options, program=program, progress=status.draw, waiting=waiting(status))
    outputs.write(found.document, lambda: show(found, outputs))
    raise typer.Exit(EXIT[found.document.verdict.status])


def waiting(status: StatusLine) -> Callable[[str], None]:
    """Return a function that reports downloads and waits, in the status line on a terminal, else in the log."""
    return status.draw if status.terminal else log


def show(found: "Comparison", outputs: Outputs) -> None:
    """Print the comparison, or with ``--quiet`` only its verdict."""
    from kprof.reporters.diff_text import DiffTextReporter

    reporter = DiffTextReporter(terminal(no_color=outputs.no_color), outputs.verbose)
    if outputs.quiet:
        reporter.verdict(found.document)
    else:
        reporter.show(found.document)
