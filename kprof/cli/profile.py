"""``kprof profile``: where a program's time would go on a GPU that it does not run on."""

from pathlib import Path
from typing import Annotated

import typer

from kprof.cli._completion import architectures
from kprof.cli._format_options import format_options
from kprof.cli.common import JobsOption, QuietOption
from kprof.errors import KprofError
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

CONTEXT_SETTINGS = {"allow_interspersed_args": True}
HELP = "Predict where a program's time goes, step by step, on a GPU that it does not run on."


@format_options("profile")
def command(
    program: Annotated[
        list[str], typer.Argument(metavar="CAPTURE | -- PROGRAM", help="A capture, or a program: -- python step.py")
    ],
    arch: Annotated[
        str,
        typer.Option(
            "--arch",
            "-a",
            help="Products, comma separated: MI300X,MI355X. The capture's own when not given.",
            metavar="GPU[,GPU]",
            autocompletion=architectures,
        ),
    ] = "",
    by: Annotated[
        str, typer.Option("--by", help="A row for each: name, shapes, module, phase or range; or module,name.")
    ] = "name",
    within: Annotated[
        str,
        typer.Option("--within", help="Only what runs in torch.profiler.record_function(NAME).", metavar="NAME"),
    ] = "",
    limit: Annotated[int, typer.Option("-n", "--limit", help="Rows to show, 0 for all.", min=0)] = 20,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the step as a trace in Kineto's form.", metavar="FILE"),
    ] = None,
    html: Annotated[
        str | None,
        typer.Option("--html", help="Write a page of it, and one beside it for each Triton kernel.", metavar="FILE"),
    ] = None,
    advise: Annotated[
        float | None,
        typer.Option(
            "--advise",
            help="Search configurations of the Triton kernels that take most of it, for so many seconds.",
            min=1,
            metavar="SECONDS",
        ),
    ] = None,
    layers: Annotated[
        str,
        typer.Option(
            "--layers",
            help="The model's layers, from runs with 1 and 2 in place of {layers}; 4,8,N: with 4 and 8.",
            metavar="N",
        ),
    ] = "",
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="Seconds that the program may run.", min=1)
    ] = 3600.0,
    jobs: JobsOption = 0,
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """Predict where a program's GPU time goes: Triton's kernels by the model, torch's operators by their work.

    Nothing is measured, and no GPU is needed. What cannot be predicted is listed with its calls and no time. Host
    time, overlap and other ranks are outside.

    Exit codes: 0 predicted, 2 nothing could be, or the program failed before it did anything.

    For several GPUs the program runs once for each, and their times stand side by side.

    Example:  kprof profile --arch MI300X,MI355X -- python step.py
    """
    from kprof.api.profile import profile
    from kprof.output.headline import tell_first, tell_last
    from kprof.output.writing import write_output
    from kprof.reporters import profile_text

    if output is not None and len(arch.strip(",").split(",")) > 1:
        raise KprofError("--output writes a trace, which is of one GPU", hint="name one GPU with --arch")
    one = len(program) == 1 and not program[0].endswith(".py")
    if len(program) == 1 and program[0].endswith(".py"):
        raise KprofError("is a file, and a program is needed", path=program[0], hint=f"-- python {program[0]}")
    target = program[0] if one else program
    found = profile(
        target,
        arch=arch,
        by=by,
        within=within,
        html=html,
        advise=advise or 0.0,
        layers=layers,
        jobs=jobs,
        time_limit=time_limit,
    )

    def text() -> None:
        if not quiet:
            tell_first(found.summary)
            print("\n".join(profile_text.lines(found.document, by, limit)))
        tell_last(found.summary, alone=quiet)

    outputs.write(found.document, text)
    if output is not None:
        write_output(str(output), found.to_kineto())
