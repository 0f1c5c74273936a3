"""Sum up the kernels of a trace by the shape of their launch, in total and within complete steps."""

from dataclasses import dataclass

import msgspec

from kprof.inputs.torch_profiler.issues import TraceIssue
from kprof.inputs.torch_profiler.model import Activity, LinkedTrace, Size, TraceInfo
from kprof_analyzers.profiles.timeline.profiler_steps import launched_in


class LaunchShape(msgspec.Struct, frozen=True):
    """All launches of one kernel with the same launch properties in the trace.

    Attributes:
        name: name of the kernel in the trace.
        workgroups: workgroups in x, y and z; ``None`` if unknown or uncertain.
        workgroup_size: work-items of a workgroup in x, y and z.
        lds_bytes: LDS of a workgroup; 0 may also mean that the trace does not record it.
        calls: number of launches.
        total_ns: total time of the launches.
        step_calls, step_ns: number and time of the launches that were made in a complete step.
        source: source file of the kernel, which traces of Inductor's kernels name.
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
    """Kernels of one trace.

    Attributes:
        launches: launches by decreasing total time.
        steps: number of complete steps that are marked; 0 if none is marked.
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
    """Sum up kernels by name, grid, workgroup size and LDS."""
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
    """Return the source file recorded by the operator that has the kernel's own name."""
    if one.operator < 0 or trace.operator_name(one.operator) != one.name:
        return None
    return trace.operators[one.operator].kernel_file
