"""``kprof trace ranks``: the ranks of a distributed job side by side."""

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

HELP = "Ranks compared: skew, stragglers, waits in collectives."


@format_options("trace")
@repair_options
def command(
    paths: PathsArgument,
    limit: LimitOption = 5,
    categories: CategoriesOption = None,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    repairs: tuple[str, ...] = (),
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """Several files, one a rank, or one merged trace: who computes longer, who waits, and for whom.

    A collective ends on all ranks together: the rank whose kernel is shortest came last, and the others waited. Sends
    and receives have no common end and are summed apart. Without all ranks of the job none is named.

    Example:  kprof trace ranks rank_*.json.gz -j 0
    """
    from kprof.api.trace.ranks import trace_ranks
    from kprof.reporters.trace_ranks_text import lines

    found = trace_ranks(*paths, limit=limit, categories=categories, jobs=jobs, scheduler=scheduler, repairs=repairs)
    answer(found, lambda: lines(found.report), outputs, quiet=quiet, notes=found.report.notes)
