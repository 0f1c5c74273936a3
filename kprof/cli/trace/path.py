"""``kprof trace path``: what decides how long a run takes."""

from kprof.cli._format_options import format_options
from kprof.cli.common import JobsOption, QuietOption
from kprof.cli.trace._shared import (
    LimitOption,
    PathsArgument,
    SchedulerOption,
    answer,
    repair_options,
)
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "The critical path: what a run's length is made of, and what would shorten it."


@format_options("trace")
@repair_options
def command(
    paths: PathsArgument,
    limit: LimitOption = 15,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    repairs: tuple[str, ...] = (),
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """What decides how long a run takes, followed back from the end of each rank's last GPU activity.

    An activity waited for the one before it on its stream, for its launch, or for another stream, whichever was ready
    last; a launch for the CPU's work before it, back to where a thread waited for the GPU. What is not on the path
    shortens nothing; what is shortens the run by at most its time there.

    Example:  kprof trace path trace.json.gz
    """
    from kprof.api.trace.path import trace_path
    from kprof.reporters.trace_path_text import lines

    found = trace_path(*paths, jobs=jobs, scheduler=scheduler, repairs=repairs)
    several = len(found.paths) > 1
    answer(
        found, lambda: [row for one in found.paths for row in lines(one, limit, several=several)], outputs, quiet=quiet
    )
