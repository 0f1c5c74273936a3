"""``kprof trace steps`` for people: kernels and time of each step."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from kprof.output.tables import rows_table
from kprof.reporters._trace_format import label, milliseconds, percent
from kprof_analyzers.profiles.timeline.profiler_steps import ProfilerStep, StepTable


def lines(one: StepTable, limit: int, *, several: bool) -> list[str]:
    """One trace; with its name where there are ``several``; all steps where ``limit`` is 0."""
    head = [label(one.info.path, 90)] if several else []
    return [*head, *_rows(one, limit), ""]


def _rows(one: StepTable, limit: int) -> list[str]:
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


def _cells(step: ProfilerStep, *, slow: bool, ranks: bool) -> tuple[str, ...]:
    return (
        milliseconds(step.kernel_ns),
        milliseconds(step.busy_ns),
        milliseconds(step.host_ns),
        f"{step.kernels:,}",
        step.phase or "-",
        "slow" if slow else "" if step.whole else "cut",
        f"rank {step.rank} {step.name}" if ranks else step.name,
    )


def verdict(found: Sequence[StepTable]) -> str:
    """How many steps of each phase, their median, and how many are slow or cut."""
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
