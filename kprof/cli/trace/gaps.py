"""``kprof trace gaps``: when the GPU stood still, and what the CPU did meanwhile."""

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

HELP = "Idle stretches of the GPU, their cause, and what the CPU did."


@format_options("trace")
@repair_options
def command(
    paths: PathsArgument,
    at_least: Annotated[float, typer.Option("--at-least", help="Leave out gaps shorter than this, in us.", min=0)] = 0,
    limit: LimitOption = 10,
    categories: CategoriesOption = None,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    repairs: tuple[str, ...] = (),
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """The largest gaps between GPU activities, and the stretches where launching cannot keep up.

    launch-bound: the next kernel had not been launched yet when the gap began. synchronisation: and the CPU waited for
    the GPU or for memory in it. queued: it had been launched, and the GPU waited for something else.

    Example:  kprof trace gaps trace.json.gz --at-least 50
    """
    from kprof.api.trace.gaps import trace_gaps
    from kprof.reporters.trace_gaps_text import lines

    found = trace_gaps(
        *paths,
        at_least_us=at_least,
        limit=limit,
        categories=categories,
        jobs=jobs,
        scheduler=scheduler,
        repairs=repairs,
    )
    several = len(found.traces) > 1
    answer(found, lambda: [row for one in found.traces for row in lines(one, several=several)], outputs, quiet=quiet)
