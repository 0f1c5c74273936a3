"""``kprof trace steps``: the kernels and time of each step."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from kprof.api.views import TraceAdvice, TraceView, function_of
from kprof.options.measurements import TraceOptions
from kprof.output.quantities import milliseconds, percent
from kprof.reporters.grids import Column, ViewTable

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.model import LinkedTrace
    from kprof_analyzers.profiles.timeline.profiler_steps import StepTable


@dataclass(frozen=True, eq=False, repr=False)
class TraceSteps(TraceView):
    """Group kernels by the step that launched them.

    A step is marked by torch.profiler's schedule (ProfilerStep#7), or is a batch that vLLM or SGLang marks. A step is
    slow if its kernels take more than 1.25 times the median of its phase, and cut if kernels that it launched are
    missing.

    Example:  kprof trace steps trace.json.gz

    Attributes:
        traces: one entry per trace: ``steps``, positions of the ``slow`` steps, and the time ``outside_ns`` of steps.
    """

    help = "Kernels and time of each step, separate for prefill and decode, and slow steps."
    options = TraceOptions
    place = 20
    traces: "Sequence[StepTable]"

    @classmethod
    def of_trace(cls, trace: "LinkedTrace", options: Any, **_further: Any) -> "StepTable":  # noqa: ARG003 - has no options
        """Compute the steps of one trace."""
        from kprof_analyzers.profiles.timeline.profiler_steps import step_table

        return step_table(trace)

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the tables of this view.

        A row is a tuple: the step, whether it is slow, and whether the trace has several ranks.
        """
        from kprof_analyzers.profiles.timeline.profiler_steps import ProfilerStep

        columns = (
            Column("kernel ms", lambda row: milliseconds(row[0].kernel_ns)),
            Column("busy ms", lambda row: milliseconds(row[0].busy_ns)),
            Column("CPU ms", lambda row: milliseconds(row[0].host_ns)),
            Column("kernels", lambda row: f"{row[0].kernels:,}"),
            Column("phase", lambda row: row[0].phase or "-"),
            Column("", lambda row: "slow" if row[1] else "" if row[0].whole else "cut"),
            Column("step", lambda row: f"rank {row[0].rank} {row[0].name}" if row[2] else row[0].name, wide=True),
        )
        return (ViewTable("steps", columns, _rows, ProfilerStep, remarks=_remarks),)

    @property
    def conclusion(self) -> str:
        """The number and median time of steps of each phase, and the number of slow or cut steps, in one line."""
        steps = [step for one in self.traces for step in one.steps]
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
        slow, cut = sum(len(one.slow) for one in self.traces), len(steps) - len(whole)
        return medians + (f"; {slow:,} slow" if slow else "") + (f"; {cut:,} cut" if cut else "")

    @classmethod
    def advice(cls, part: "StepTable") -> Iterable[TraceAdvice]:
        """Return advice on slow steps, with the time they lose against the median of their phase."""
        slow = [part.steps[place] for place in part.slow]
        lost = 0.0
        for step in slow:
            lost += step.kernel_ns - median(s.kernel_ns for s in part.steps if s.phase == step.phase and s.whole)
        if slow:
            worst = max(slow, key=lambda step: step.kernel_ns)
            words = f"{len(slow):,} of {len(part.steps):,} steps are slow; compare {worst.name} with its neighbours"
            yield TraceAdvice(lost, f"{words}: other kernels, other shapes, or a lower clock?")


def _rows(one: "StepTable") -> list[tuple[Any, bool, bool]]:
    slow, several = set(one.slow), len({step.rank for step in one.steps}) > 1
    return [(step, place in slow, several) for place, step in enumerate(one.steps)]


def _remarks(one: "StepTable") -> Iterable[str]:
    if not one.steps:
        yield "no steps are marked in this trace (ProfilerStep, execute_*, step[...])"
    elif one.outside_ns:
        whole = one.outside_ns + sum(step.kernel_ns for step in one.steps)
        share = percent(one.outside_ns, whole)
        yield f"In no step: {milliseconds(one.outside_ns)} ms, {share} of the kernels' time."


trace_steps = function_of(TraceSteps)
