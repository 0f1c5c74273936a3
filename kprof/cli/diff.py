"""``kprof diff``: what changed between two compiles, and why it got worse."""

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.cli._compile_options import MEASURED, NO_OPTIONS, compile_options
from kprof.cli._completion import targets
from kprof.cli._format_options import format_options
from kprof.cli._programs import program_of
from kprof.cli.common import JobsOption, NoColorOption, QuietOption, VerboseOption
from kprof.errors import KprofError
from kprof.inputs.assignments import assignments
from kprof.output.status_line import StatusLine
from kprof.output.terminal import terminal
from kprof.output.writing import log
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

if TYPE_CHECKING:
    from kprof.api.diff import Comparison

HELP = "Compare two compiles, or one kernel under several Tritons, and explain what got worse."

_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}

TargetsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TARGET",
        help="Two of these, old and new: a --json report, a capture or Triton cache directory, an .amdgcn, .hsaco "
        "or .co file, a kernel. Or one kernel, or capture, with --triton; or --triton ... -- PROGRAM, "
        "or --triton ... FILE.py::FUNCTION -- ARGS.",
        autocompletion=targets,
    ),
]
TritonOption = Annotated[
    list[str],
    typer.Option(
        "--triton",
        "-t",
        help="A Triton to compile with, old to new; give it two or more times. 'installed' is the running one. "
        "For a program also a Python interpreter, or a .whl file.",
        metavar="VERSION",
    ),
]
WithOption = Annotated[
    list[str], typer.Option("--with", help="A package that the program after -- needs besides.", metavar="REQUIREMENT")
]
ExplainOption = Annotated[
    bool | None,
    typer.Option(
        "--explain/--no-explain",
        help="Look for cause and cures by recompiling; on by default with --triton, possible with two captures.",
    ),
]
BudgetOption = Annotated[
    float, typer.Option("--budget", help="Seconds for explanations; no compile is begun afterwards.", min=1)
]
FailOnOption = Annotated[
    str, typer.Option("--fail-on", help="Exit with 1 on a change for the worse of: note, warning or error.")
]
ToleranceOption = Annotated[
    list[str],
    typer.Option("--tolerance", help="What may get worse: vgpr_spills=4,loop_instructions=20%.", metavar="K=V,..."),
]


@format_options("diff")
@compile_options(without=["grid", "value", "passes", *MEASURED])
def command(
    targets: TargetsArgument = None,
    triton: TritonOption = [],
    with_: WithOption = [],
    compile_with: Mapping[str, Any] = NO_OPTIONS,
    explain: ExplainOption = None,
    budget: BudgetOption = 60.0,
    fail_on: FailOnOption = "warning",
    tolerance: ToleranceOption = [],
    outputs: Outputs = NO_OUTPUTS,
    jobs: JobsOption = 0,
    verbose: VerboseOption = 0,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Compare two compiles, or one kernel under several Tritons, and explain what got worse. No GPU is used.

    kprof diff old.json new.json

    kprof diff gemm --arch gfx950 --triton 3.6.0 --triton 3.9.0

    kprof diff --triton 3.6.0 --triton 3.9.0 --arch gfx950 -- python program.py

    kprof diff --triton 3.6.0 --triton 3.9.0 program.py::fn -- ARGS

    Exit codes: 0 nothing is worse, 1 something is, 2 cannot tell.
    """
    from kprof.api.diff import diff

    named, program = program_of(targets or [])
    if program is None and "--" in sys.argv:
        # Only options stand before it: a command line.
        named, program = [], named
    if program is None and (len(named) > 2 or not named or (len(named) == 1 and not triton)):
        raise KprofError(
            f"two things are compared, got {len(named)}",
            hint="kprof diff OLD NEW, or kprof diff KERNEL --triton 3.6.0 --triton 3.9.0",
        )
    with StatusLine() as status:
        found = diff(
            *named,
            program=program,
            packages=with_,
            triton=",".join(triton),
            **compile_with,
            explain=explain,
            budget=budget,
            fail_on=fail_on,
            tolerance=assignments(tolerance, "--tolerance"),
            jobs=jobs,
            progress=status.draw,
            waiting=_waiting(status),
        )
    outputs.write(found.document, lambda: _show(found, verbose=verbose, quiet=quiet, no_color=no_color))
    raise typer.Exit(_EXIT[found.document.verdict.status])


def _waiting(status: StatusLine) -> Callable[[str], None]:
    """Downloads and waits are reported in a log, too, where no status line can be drawn."""
    return status.draw if status.terminal else log


def _show(found: "Comparison", *, verbose: int, quiet: bool, no_color: bool) -> None:
    from kprof.reporters.diff_text import DiffTextReporter

    reporter = DiffTextReporter(terminal(no_color=no_color), verbose)
    if quiet:
        reporter.verdict(found.document)
    else:
        reporter.show(found.document)
