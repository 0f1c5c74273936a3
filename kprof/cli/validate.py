"""``kprof validate``: how far the performance model is off, compared with measurements."""

from collections.abc import Mapping
from typing import Any

import typer

from kprof.cli._compile_options import NO_OPTIONS, KernelOption, TargetsArgument, compile_options
from kprof.cli._format_options import format_options
from kprof.cli._programs import program_of
from kprof.cli.common import JobsOption, NoColorOption, QuietOption
from kprof.output.headline import tell_first, tell_last
from kprof.output.terminal import terminal
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "Compare the model's time and loops with measurements."

_EXIT = {"confirmed": 0, "refuted": 1, "cannot tell": 2}


@format_options("validation")
@compile_options(without=["passes"])
def command(
    targets: TargetsArgument,
    compile_with: Mapping[str, Any] = NO_OPTIONS,
    kernel: KernelOption = None,
    jobs: JobsOption = 0,
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """How far the model is off, and in which loop: measured and modelled side by side.

    Exit code 0 when each time lies within the model's range, 1 when one lies outside, 2 when it cannot be determined:
    another build or another launch was measured, or only a thread trace is there.

    Example:  kprof validate gemm --shape M=4096,N=4096,K=4096 --counters results/
    """
    from kprof.api.validate import validate

    named, program = program_of(targets)
    found = validate(
        *named,
        **compile_with,
        program=program,
        kernel=kernel,
        jobs=jobs,
    )

    def text() -> None:
        from kprof.reporters.validation_text import show

        if not quiet:
            tell_first(found.summary)
            show(found.kernels, terminal(no_color=no_color))
        tell_last(found.summary, alone=quiet)

    outputs.write(found.document, text)
    raise typer.Exit(_EXIT[found.standing])
