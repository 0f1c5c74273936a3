"""Grids in workgroups and in work-items: which of the two a trace wrote depends on the API call."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from kprof.inputs.torch_profiler.columns import ELSEWHERE, NOTHING
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.link import alike, codes, view
from kprof.inputs.torch_profiler.model import Activity, GridUnit, LinkedTrace, Size

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.link import Numbers

# hipExt*LaunchKernel take the global work size, as OpenCL does: in published traces each such grid (2,018 of
# 2,018) is a multiple of its block. The other calls take blocks, as CUDA does.
_IN_WORK_ITEMS = ("hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel")

Issue = tuple[str, str]
_OWN = ("graph", "grid_as_written", "workgroup_size")
_CALLS = ("name", "grid", "block")
_SETTLED = ("grid_as_written", "grid_unit", "workgroup_size", "workgroups", "work_items")


def unit_of(api: str | None, vendor: str | None) -> GridUnit | None:
    """What the three numbers of a grid count; ``None`` when the call is not known on AMD."""
    if api is None:
        return "workgroups" if vendor == "nvidia" else None
    return "work-items" if api.startswith(_IN_WORK_ITEMS) else "workgroups"


def settle_grids(trace: LinkedTrace, log: IssueLog) -> None:
    """Fill in workgroups and work-items of every kernel; from the launch where the kernel itself does not say."""
    vendor = trace.info.vendor
    if vendor is None and any(launch.name.startswith("cuda") for launch in trace.launches[:1000]):
        vendor = "nvidia"
    if vendor is None and any(launch.name.startswith("hip") for launch in trace.launches[:1000]):
        vendor = "amd"
    trace.info.vendor = vendor
    _take_lds(trace)
    columns = [trace.activities.words(name) for name in _SETTLED]
    for rows in _alike(trace):
        first = int(rows[0])
        activity = trace.activities[first]
        issue = _settle(trace, activity, vendor)
        for column, name in zip(columns, _SETTLED, strict=True):
            code = column.code(getattr(activity, name))
            if column.only != code:
                codes(column.data)[rows] = code
        if issue is not None:
            log.add(*issue, place=trace.activities.words("name")[first][:80], count=len(rows))


def _alike(trace: LinkedTrace) -> "list[Numbers]":
    """Rows of kernels whose grids are settled alike, by their first row."""
    activities, launches = trace.activities, trace.launches
    kinds, launch = activities.words("kind"), view(activities.numbers("launch").readable)
    rows = (codes(kinds.readable) == kinds.code("kernel")).nonzero()[0]
    # A column of one value tells no rows apart.
    own = [column for column in map(activities.words, _OWN) if column.only is None]
    columns = [codes(column.data)[rows] for column in own]
    called = launch[rows]
    for name in _CALLS if len(launches) else ():
        found = codes(launches.words(name).readable)[called]
        found[called < 0] = -1
        columns.append(found)
    return alike(columns, rows)


def _take_lds(trace: LinkedTrace) -> None:
    """From the launch, where the kernel itself does not say."""
    activities = trace.activities
    lds, of_launch = activities.numbers("lds_bytes"), trace.launches.numbers("lds_bytes")
    kinds, graph = activities.words("kind"), activities.words("graph")
    if activities.numbers("launch").only == -1:
        return
    launch = view(activities.numbers("launch").readable)
    is_kernel, in_graph = codes(kinds.readable) == kinds.code("kernel"), codes(graph.readable) == graph.code(True)
    rows = ((view(lds.readable) == NOTHING) & (launch >= 0) & is_kernel & ~in_graph).nonzero()[0]
    found = view(of_launch.readable)[launch[rows]]
    plain = found > ELSEWHERE
    if plain.any():
        view(lds.data)[rows[plain]] = found[plain]
    for row in rows[found == ELSEWHERE].tolist():
        lds[row] = of_launch[int(launch[row])]


def _settle(trace: LinkedTrace, activity: Activity, vendor: str | None) -> Issue | None:
    launch = trace.launches[activity.launch] if activity.launch >= 0 else None
    if launch is not None and not activity.graph:
        activity.grid_as_written = activity.grid_as_written or launch.grid
        activity.workgroup_size = activity.workgroup_size or launch.block
    grid, block = activity.grid_as_written, activity.workgroup_size
    if grid is None:
        return None
    activity.grid_unit = unit_of(launch.name if launch is not None else None, vendor)
    if activity.grid_unit is None:
        return "grid-unit-unknown", "a grid without its launch: it may count workgroups or work-items"
    if activity.grid_unit == "workgroups":
        activity.workgroups = grid
        activity.work_items = _zip(grid, block, lambda a, b: a * b) if block else None
        return None
    activity.work_items = grid
    if block is None:
        return None
    activity.workgroups = _zip(grid, block, lambda a, b: -(-a // b))
    if any(g % b for g, b in zip(grid, block, strict=True)):
        words = "a grid in work-items is no multiple of its workgroup: the last workgroups are partial"
        return "grid-not-divisible", words
    return None


def _zip(left: Size, right: Size, combine: Callable[[int, int], int]) -> Size:
    return combine(left[0], right[0]), combine(left[1], right[1]), combine(left[2], right[2])
