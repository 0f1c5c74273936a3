"""``kprof trace steps``: statistics by step."""

from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING

from kprof.cli.common import JobsOption, JsonOption, QuietOption
from kprof.cli.trace._shared import (
    LimitOption,
    PathsArgument,
    SchedulerOption,
    answer,
    label,
    milliseconds,
    per_file,
    percent,
)

if TYPE_CHECKING:
    from kprof_analyzers.profiles.timeline.profiler_steps import Step, StepTable

HELP = "Steps: kernels and time of each, prefill and decode apart, the slow ones."


def command(
    paths: PathsArgument,
    limit: LimitOption = 20,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Kernels by the step that launched them.

    A step is what torch.profiler's schedule marks (ProfilerStep#7) or a batch that vLLM or SGLang marks. A step is slow
    when its kernels take more than 1.25 of the median of its phase, and cut when kernels that it launched are missing.

    Example:  kprof trace steps trace.json.gz
    """
    from kprof_analyzers.profiles.timeline.steps import step_times_step

    found = per_file(step_times_step, paths, jobs, scheduler)

    def lines(one: "StepTable") -> list[str]:
        head = [label(one.info.path, 90)] if len(found) > 1 else []
        return [*head, *_lines(one, limit), ""]

    answer(found, "kprof.trace.steps/1", lines, _verdict(found), json=json, quiet=quiet)


def _lines(one: "StepTable", limit: int) -> list[str]:
    from kprof.output.tables import rows_table

    if not one.steps:
        return ["no steps are marked in this trace (ProfilerStep, execute_*, step[...])"]
    shown = one.steps[:limit] if limit else one.steps
    ranks = len({step.rank for step in one.steps}) > 1
    rows = [_cells(step, slow=place in one.slow, ranks=ranks) for place, step in enumerate(shown)]
    headings = ("kernel ms", "busy ms", "CPU ms", "kernels", "phase", "", "step")
    lines = rows_table(headings, rows, wide=6).splitlines()
    if len(shown) < len(one.steps):
        lines.append(f"and {len(one.steps) - len(shown):,} more; -n 0 shows all")
    if one.outside_ns:
        whole = one.outside_ns + sum(step.kernel_ns for step in one.steps)
        lines.append(
            f"In no step: {milliseconds(one.outside_ns)} ms, {percent(one.outside_ns, whole)} of the kernels' time."
        )
    return lines


def _cells(step: "Step", *, slow: bool, ranks: bool) -> tuple[str, ...]:
    return (
        milliseconds(step.kernel_ns),
        milliseconds(step.busy_ns),
        milliseconds(step.host_ns),
        f"{step.kernels:,}",
        step.phase or "-",
        "slow" if slow else "" if step.whole else "cut",
        f"rank {step.rank} {step.name}" if ranks else step.name,
    )


def _verdict(found: "list[StepTable]") -> str:
    steps = [step for one in found for step in one.steps]
    if not steps:
        return "no steps are marked in these traces"
    phases: defaultdict[str, list[int]] = defaultdict(list)
    whole = [step for step in steps if step.whole]
    for step in whole:
        phases[step.phase].append(step.kernel_ns)
    medians = ", ".join(
        f"{len(times):,} {phase}{' ' if phase else ''}step{'' if len(times) == 1 else 's'} of "
        f"{milliseconds(median(times))} ms (median)"
        for phase, times in sorted(phases.items())
    )
    slow, cut = sum(len(one.slow) for one in found), len(steps) - len(whole)
    return medians + (f"; {slow:,} slow" if slow else "") + (f"; {cut:,} cut" if cut else "")
