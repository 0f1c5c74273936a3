"""``kprof trace tree``: GPU time by module and operator."""

from typing import Annotated

import typer

from kprof.cli._format_options import format_options
from kprof.cli.common import JobsOption, QuietOption
from kprof.cli.trace._shared import Levels, PathsArgument, SchedulerOption, answer, repair_options
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "GPU time as a tree of nn.Modules and operators."


@format_options("trace")
@repair_options
def command(
    paths: PathsArgument,
    by: Annotated[Levels, typer.Option("--by", help="What the tree is made of.")] = Levels.modules,
    each: Annotated[bool, typer.Option("--each", help="Modules of one class apart, not put together.")] = False,
    depth: Annotated[int, typer.Option("--depth", help="Levels to show; 0 shows all.", min=0)] = 4,
    least: Annotated[
        float, typer.Option("--min-share", help="Leave out what takes less than this percentage of the time.", min=0)
    ] = 1.0,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    repairs: tuple[str, ...] = (),
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """Where in the model the GPU's time goes.

    Modules need a trace taken with with_modules=True or with_stack=True; without them the tree is of operators. A
    backward pass stands under "backward", at the modules of its forward pass.
    Kernels of a replayed graph stand by category.

    Example:  kprof trace tree trace.json.gz --depth 6
    """
    from kprof.api.trace.tree import trace_tree
    from kprof.reporters.trace_tree_text import lines

    found = trace_tree(*paths, by=by.value, each=each, jobs=jobs, scheduler=scheduler, repairs=repairs)
    several = len(found.traces) > 1
    answer(
        found,
        lambda: [row for one in found.traces for row in lines(one, depth, least / 100, several=several)],
        outputs,
        quiet=quiet,
    )
