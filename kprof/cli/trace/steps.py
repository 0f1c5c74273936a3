"""``kprof trace steps``: statistics by step."""

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

HELP = "Steps: kernels and time of each, prefill and decode apart, the slow ones."


@format_options("trace")
@repair_options
def command(
    paths: PathsArgument,
    limit: LimitOption = 20,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    repairs: tuple[str, ...] = (),
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """Kernels by the step that launched them.

    A step is what torch.profiler's schedule marks (ProfilerStep#7) or a batch that vLLM or SGLang marks. A step is slow
    when its kernels take more than 1.25 of the median of its phase, and cut when kernels that it launched are missing.

    Example:  kprof trace steps trace.json.gz
    """
    from kprof.api.trace.steps import trace_steps
    from kprof.reporters.trace_steps_text import lines

    found = trace_steps(*paths, jobs=jobs, scheduler=scheduler, repairs=repairs)
    several = len(found.traces) > 1
    answer(
        found, lambda: [row for one in found.traces for row in lines(one, limit, several=several)], outputs, quiet=quiet
    )
