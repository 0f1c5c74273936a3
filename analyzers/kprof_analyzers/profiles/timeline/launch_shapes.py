"""Kernels of a trace by the shape of their launch, and how much of each a step has."""

from dataclasses import dataclass

import msgspec

from kprof.inputs.torch_profiler.issues import TraceIssue
from kprof.inputs.torch_profiler.model import Activity, LinkedTrace, Size, TraceInfo
from kprof_analyzers.profiles.timeline.profiler_steps import launched_in


class LaunchShape(msgspec.Struct, frozen=True):
    """All launches of one kernel that the trace cannot tell apart.

    Attributes:
        name: of the kernel, as the trace has it.
        workgroups: in x, y and z; ``None`` where not known or not sure.
        workgroup_size: work-items in x, y and z.
        lds_bytes: of a workgroup; 0 where the trace does not tell, too.
        calls: launches.
        total_ns: their summed time.
        step_calls, step_ns: those of them that were launched in a whole step.
        source: file that the trace names for it, which Inductor's traces do.
    """

    name: str
    workgroups: Size | None
    workgroup_size: Size | None
    lds_bytes: int | None
    calls: int
    total_ns: int
    step_calls: int
    step_ns: int
    source: str | None = None


class LaunchShapes(msgspec.Struct, frozen=True):
    """The kernels of one trace.

    Attributes:
        launches: by summed time, the largest first.
        steps: whole steps that are marked; 0 where none is.
    """

    info: TraceInfo
    launches: list[LaunchShape]
    steps: int
    issues: tuple[TraceIssue, ...]


@dataclass
class _Sum:
    calls: int = 0
    total_ns: int = 0
    step_calls: int = 0
    step_ns: int = 0
    source: str | None = None


def launch_shapes(trace: LinkedTrace) -> LaunchShapes:
    """Kernels by name, grid, workgroup size and LDS."""
    steps, places = launched_in(trace)
    sums: dict[tuple[str, Size | None, Size | None, int | None], _Sum] = {}
    for row, place in places:
        one, whole = trace.activities[row], place >= 0 and steps[place].whole
        key = one.name, one.workgroups, one.workgroup_size, one.lds_bytes
        found = sums.get(key)
        if found is None:
            found = sums[key] = _Sum(source=_source(trace, one))
        found.calls += 1
        found.total_ns += one.duration_ns
        found.step_calls += whole
        found.step_ns += one.duration_ns * whole
    rows = [LaunchShape(*key, s.calls, s.total_ns, s.step_calls, s.step_ns, s.source) for key, s in sums.items()]
    rows.sort(key=lambda row: (-row.total_ns, row.name))
    return LaunchShapes(trace.info, rows, sum(step.whole for step in steps), trace.issues)


def _source(trace: LinkedTrace, one: Activity) -> str | None:
    """The file that the operator of the kernel's own name is of."""
    if one.operator < 0 or trace.operator_name(one.operator) != one.name:
        return None
    return trace.operators[one.operator].kernel_file
