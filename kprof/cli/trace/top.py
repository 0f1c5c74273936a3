"""``kprof trace top``: the kernels and operators that take most GPU time."""

from typing import Annotated

import typer

from kprof.cli._format_options import format_options
from kprof.cli.common import JobsOption, QuietOption
from kprof.cli.trace._shared import (
    CategoriesOption,
    LimitOption,
    PathsArgument,
    SchedulerOption,
    answer,
    repair_options,
)
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "Kernels and operators by GPU time."


@format_options("trace")
@repair_options
def command(
    paths: PathsArgument,
    operators: Annotated[bool, typer.Option("--operators", help="CPU operators by the GPU time they launch.")] = False,
    triton: Annotated[bool, typer.Option("--triton", help="Triton kernels only, with their launch shape.")] = False,
    limit: LimitOption = 20,
    categories: CategoriesOption = None,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    repairs: tuple[str, ...] = (),
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """Which kernels, or which operators, take the time.

    Example:  kprof trace top trace.json.gz --triton -n 20
    """
    from kprof.api.trace.top import trace_top
    from kprof.reporters.trace_top_text import Rows, lines

    found = trace_top(*paths, categories=categories, jobs=jobs, scheduler=scheduler, repairs=repairs)
    rows: Rows = "operators" if operators else "triton" if triton else "kernels"
    several = len(found.traces) > 1
    answer(
        found,
        lambda: [row for one in found.traces for row in lines(one, rows, limit, several=several)],
        outputs,
        quiet=quiet,
    )
