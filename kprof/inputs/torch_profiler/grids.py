"""Grids in workgroups and in work-items: which of the two a trace wrote depends on the API call."""

from array import array
from collections.abc import Callable, Sequence

from kprof.inputs.torch_profiler import link_columns
from kprof.inputs.torch_profiler.columns import NOTHING
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.model import Activity, GridUnit, LinkedTrace, Size

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
    for rows in _alike_in_columns(trace) or _alike(trace):
        first = int(rows[0])
        activity = trace.activities[first]
        issue = _settle(trace, activity, vendor)
        for column, name in zip(columns, _SETTLED, strict=True):
            code = column.code(getattr(activity, name))
            if column.only != code:
                _fill(column.data, rows, code)
        if issue is not None:
            log.add(*issue, place=trace.activities.words("name")[first][:80], count=len(rows))


def _fill(column: "array[int]", rows: "Sequence[int] | link_columns.Numbers", code: int) -> None:
    if isinstance(rows, list):
        for row in rows:
            column[row] = code
    else:
        link_columns.codes(column)[rows] = code


def _alike_in_columns(trace: LinkedTrace) -> "list[link_columns.Numbers] | None":
    """As :func:`_alike`, of large traces; ``None`` of others."""
    if not link_columns.is_worth_it(trace):
        return None
    activities, launches = trace.activities, trace.launches
    kinds, launch = activities.words("kind"), link_columns.view(activities.numbers("launch").readable)
    rows = (link_columns.codes(kinds.readable) == kinds.code("kernel")).nonzero()[0]
    # A column of one value tells no rows apart.
    own = [column for column in map(activities.words, _OWN) if column.only is None]
    columns = [link_columns.codes(column.data)[rows] for column in own]
    called = launch[rows]
    for name in _CALLS if len(launches) else ():
        found = link_columns.codes(launches.words(name).readable)[called]
        found[called < 0] = -1
        columns.append(found)
    return link_columns.alike(columns, rows)


def _alike(trace: LinkedTrace) -> list[list[int]]:
    """Rows of kernels whose grids are settled alike, by their first row."""
    found: dict[tuple[int, ...], list[int]] = {}
    activities, launches = trace.activities, trace.launches
    kinds = activities.words("kind")
    kernel = kinds.code("kernel")
    calls = [launches.words(name).data for name in _CALLS]
    own = zip(*(activities.words(name).data for name in _OWN), strict=True)
    rows = zip(kinds.data, activities.numbers("launch").data, own, strict=True)
    name, grid, block = calls
    for row, (kind, launch, mine) in enumerate(rows):
        if kind == kernel:
            key = mine if launch < 0 else (*mine, name[launch], grid[launch], block[launch])
            if key in found:
                found[key].append(row)
            else:
                found[key] = [row]
    return list(found.values())


def _take_lds(trace: LinkedTrace) -> None:
    """From the launch, where the kernel itself does not say."""
    lds, of_launch = trace.activities.numbers("lds_bytes"), trace.launches.numbers("lds_bytes")
    if link_columns.is_worth_it(trace):
        link_columns.take_lds(trace)
        return
    kinds, graph = trace.activities.words("kind"), trace.activities.words("graph")
    kernel, in_graph, launch_grids = kinds.code("kernel"), graph.code(True), of_launch.data
    rows = zip(kinds.data, graph.data, trace.activities.numbers("launch").data, lds.data, strict=True)
    missing = [
        (row, launch)
        for row, (kind, flag, launch, own) in enumerate(rows)
        if own == NOTHING and launch >= 0 and kind == kernel and flag != in_graph and launch_grids[launch] != NOTHING
    ]
    for row, launch in missing:
        lds[row] = of_launch[launch]


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
