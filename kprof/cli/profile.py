"""``kprof profile``: predict where a program spends its time on a GPU, without that GPU."""

import functools
from typing import Annotated

import typer

from kprof.cli._options import takes_options
from kprof.errors import KprofError
from kprof.options.programs import ProfileOptions
from kprof.reporters.outputs import Outputs

CONTEXT_SETTINGS = {"allow_interspersed_args": True}
_INCOMPLETE = 2
HELP = "Predict where a program spends its time on a GPU, without that GPU."


@takes_options("profile", compiles=True)
def command(
    program: Annotated[
        list[str], typer.Argument(metavar="CAPTURE | -- PROGRAM", help="A capture, or a program: -- python step.py")
    ],
    options: ProfileOptions,
    outputs: Outputs,
) -> None:
    """Predict where a program's GPU time goes: Triton kernels by the model, torch operators by their work.

    Nothing is measured, and no GPU is needed. Kernels and operators that cannot be predicted are listed without a
    time. Host time, overlap and other ranks are not modelled.

    Exit codes: 0 predicted; 2 nothing could be predicted, a Triton kernel has no time (the sum is then a lower bound),
    or the program failed before its first launch.

    -o writes the step as a trace in Kineto's format. With --html, each Triton kernel gets its own page next to PATH.

    With several GPUs the program runs once for each, and their times are shown side by side.

    Example:  kprof profile --arch MI300X,MI355X -- python step.py
    """
    from kprof.api.profile import profile
    from kprof.reporters import profile_text

    one = len(program) == 1 and not program[0].endswith(".py")
    if len(program) == 1 and program[0].endswith(".py"):
        raise KprofError("is a file, but a command is needed", path=program[0], hint=f"-- python {program[0]}")
    found = profile(program[0] if one else program, options=options)
    lines = functools.partial(profile_text.lines, found.document, options.rows_by, options.top)
    outputs.tell(found, lambda: print("\n".join(lines())))
    if not all(one.complete for one in (found.document, *found.document.other_gpus)):
        raise typer.Exit(_INCOMPLETE)
