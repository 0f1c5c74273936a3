"""``kprof trace breakdown``: GPU time by category, and how busy each GPU was."""

from typing import Annotated

import typer

from kprof.cli._format_options import format_options
from kprof.cli.common import JobsOption, QuietOption
from kprof.cli.trace._shared import (
    CategoriesOption,
    PathsArgument,
    PictureOption,
    SchedulerOption,
    answer,
    repair_options,
)
from kprof.output.writing import log
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "GPU time by category; busy, idle and exposed communication."


@format_options("trace")
@repair_options
def command(
    paths: PathsArgument,
    categories: CategoriesOption = None,
    by_name: Annotated[
        bool, typer.Option("--by-name", help="Kernel names only: bounded memory, whatever the size.")
    ] = False,
    picture: PictureOption = None,
    bars: Annotated[bool, typer.Option("--bars", help="The picture is bars, also for one trace.")] = False,
    timeline: Annotated[bool, typer.Option("--timeline", help="The picture is utilisation over time.")] = False,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    repairs: tuple[str, ...] = (),
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """Where the GPU's time goes: attention, its GEMMs, MLP GEMMs, norms, communication, memory, ...

    One trace: a table and a donut (--picture share.svg). Several: a table each and stacked bars over all of them.

    Example:  kprof trace breakdown bs1.json bs8.json --picture bars.svg
    """
    from kprof.api.trace.breakdown import trace_breakdown
    from kprof.reporters.trace_breakdown_text import lines

    found = trace_breakdown(
        *paths, categories=categories, by_name=by_name, jobs=jobs, scheduler=scheduler, repairs=repairs
    )
    several = len(found.traces) > 1
    if picture is not None:
        found.draw(picture, bars=bars, timeline=timeline)
        log(f"drawn: {picture}")
    answer(found, lambda: [row for one in found.traces for row in lines(one, several=several)], outputs, quiet=quiet)
