"""Grids in workgroups and in work-items: which of the two a trace wrote depends on the API call."""

from collections.abc import Callable

from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.model import Activity, GridUnit, LinkedTrace, Size

# hipExt*LaunchKernel take the global work size, as OpenCL does: in published traces each such grid (2,018 of
# 2,018) is a multiple of its block. The other calls take blocks, as CUDA does.
_IN_WORK_ITEMS = ("hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel")

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
    words = [(name, trace.activities.words(name)) for name in _SETTLED]
    lds = trace.activities.numbers("lds_bytes")
    for row, activity in enumerate(trace.activities):
        if activity.kind == "kernel":
            _settle(trace, activity, vendor, log)
            for name, column in words:
                column[row] = getattr(activity, name)
            if activity.lds_bytes is not None:
                lds[row] = activity.lds_bytes


def _settle(trace: LinkedTrace, activity: Activity, vendor: str | None, log: IssueLog) -> None:
    launch = trace.launches[activity.launch] if activity.launch >= 0 else None
    if launch is not None and not activity.graph:
        activity.grid_as_written = activity.grid_as_written or launch.grid
        activity.workgroup_size = activity.workgroup_size or launch.block
        if activity.lds_bytes is None:
            activity.lds_bytes = launch.lds_bytes
    grid, block = activity.grid_as_written, activity.workgroup_size
    if grid is None:
        return
    activity.grid_unit = unit_of(launch.name if launch is not None else None, vendor)
    if activity.grid_unit is None:
        log.add(
            "grid-unit-unknown",
            "a grid without its launch: it may count workgroups or work-items",
            place=activity.name[:80],
        )
    elif activity.grid_unit == "workgroups":
        activity.workgroups = grid
        activity.work_items = _zip(grid, block, lambda a, b: a * b) if block else None
    elif block is None or any(g % b for g, b in zip(grid, block, strict=True)):
        activity.work_items = grid
        if block:
            log.add(
                "grid-not-divisible",
                "a grid in work-items is no multiple of its workgroup: the last workgroups are partial",
                place=activity.name[:80],
            )
            activity.workgroups = _zip(grid, block, lambda a, b: -(-a // b))
    else:
        activity.work_items = grid
        activity.workgroups = _zip(grid, block, lambda a, b: a // b)


def _zip(left: Size, right: Size, combine: Callable[[int, int], int]) -> Size:
    return combine(left[0], right[0]), combine(left[1], right[1]), combine(left[2], right[2])
