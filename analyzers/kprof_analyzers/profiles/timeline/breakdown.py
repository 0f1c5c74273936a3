"""Compute the GPU's time by category, and how busy each device was."""

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import msgspec

from kprof.inputs.torch_profiler.link import alike, codes, view
from kprof.inputs.torch_profiler.model import LinkedTrace
from kprof_analyzers.profiles.timeline.categories import COMMUNICATION, MEMORY, Categories
from kprof_analyzers.profiles.timeline.fused import FusedKernel, fused_kernels
from kprof_analyzers.profiles.timeline.occupation import DeviceTime, Lane, Occupation
from kprof_analyzers.profiles.timeline.roles import categories_of

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.link import Numbers

# Number of activities whose intervals are merged at a time.
_TOGETHER = 16_384


class CategoryTime(msgspec.Struct, frozen=True):
    """Summed GPU time of one category in ns, number of activities, and share of all GPU time, 0 to 1."""

    category: str
    total_ns: int
    count: int
    share: float
    largest: str


class Breakdown(msgspec.Struct, frozen=True):
    """GPU time of one trace by category, longest first; ``by_rank`` has the ns by category for each rank.

    ``fused`` lists possible savings by fused kernels; it is empty if the order of the kernels is unknown.
    """

    path: str
    categories: list[CategoryTime]
    devices: list[DeviceTime]
    by_rank: dict[int, dict[str, int]]
    total_ns: int
    fused: list[FusedKernel] = []


def breakdown(trace: LinkedTrace, categories: Categories, occupied: "list[Occupation] | None" = None) -> Breakdown:
    """Sum up the time of every kernel, copy and memset by category, and the times of each device.

    Args:
        trace: linked tables.
        categories: category rules, which use the name, ancestry and order of activities.
        occupied: the trace's :func:`occupations`, if already known.
    """
    totals: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    names: defaultdict[str, Counter[str]] = defaultdict(Counter)
    by_rank: defaultdict[int, Counter[str]] = defaultdict(Counter)
    sums: dict[tuple[str, int, int], list[int]] = {}
    columns = (
        trace.activities.words("name").data,
        *(trace.activities.numbers(n).readable for n in ("rank", "duration_ns")),
    )
    of_each = categories_of(trace, categories)
    for category, name, rank, duration in zip(of_each, *columns, strict=True):
        key = category, name, rank
        if key in sums:
            entry = sums[key]
            entry[0] += 1
            entry[1] += duration
        else:
            sums[key] = [1, duration]
    words = trace.activities.words("name").words
    for (category, name, rank), (count, total) in sums.items():
        totals[category] += total
        counts[category] += count
        names[category][words[name]] += total
        by_rank[rank][category] += total
    return Breakdown(
        trace.info.path,
        category_rows(totals, counts, {c: max(n, key=n.__getitem__) for c, n in names.items()}),
        device_times(trace, categories, occupied),
        {rank: dict(by_rank[rank].most_common()) for rank in sorted(by_rank)},
        sum(totals.values()),
        fused_kernels(trace, of_each),
    )


def category_rows(totals: Counter[str], counts: Counter[str], largest: dict[str, str]) -> list[CategoryTime]:
    """Return one row per category, sorted by time; empty if there is no time."""
    whole = sum(totals.values())
    return [
        CategoryTime(name, total, counts[name], total / whole if whole else 0.0, largest.get(name, ""))
        for name, total in totals.most_common()
    ]


def lane_of(kind: str, name: str, categories: Categories) -> Lane:
    """Return the lane of an activity: compute, memory or communication.

    The operators and modules around the launch are ignored.
    """
    if kind != "kernel":
        return "memory"
    category = categories.of_name(name)
    return "communication" if category == COMMUNICATION else "memory" if category == MEMORY else "compute"


def device_times(
    trace: LinkedTrace, categories: Categories, occupied: "list[Occupation] | None" = None
) -> list[DeviceTime]:
    """Return busy, idle and exposed times of every device, sorted by rank and device."""
    times = [o.settle()[0] for o in (occupied or occupations(trace, categories))]
    return [t for t in times if t is not None]


def occupations(trace: LinkedTrace, categories: Categories) -> list[Occupation]:
    """Return the activities of each device as unions of intervals, sorted by rank and device."""
    found: dict[tuple[int, int | None], Occupation] = {}
    for low in range(0, len(trace.activities), _TOGETHER):
        for (rank, at, kind, lane), (starts, durations) in _by_lane(trace, categories, low).items():
            device = trace.activities.numbers("device")[at]
            one = found.setdefault((rank, device), Occupation(rank, device))
            one.add(lane, starts.tolist(), (starts + durations).tolist())
            if kind == "kernel":
                one.kernel_ns += int(durations.sum())
        for one in found.values():
            one.pause()
    return [found[key] for key in sorted(found, key=lambda k: (k[0], k[1] is None, k[1] or 0))]


_Key = tuple[int, int, str, Lane]


def _by_lane(trace: LinkedTrace, categories: Categories, low: int) -> "dict[_Key, tuple[Numbers, Numbers]]":
    """Return starts and durations in ns of a block of activities, by rank, first row of the device, kind and lane.

    The block begins at row ``low``.
    """
    import numpy as np

    table, high = trace.activities, low + _TOGETHER
    kinds, names = table.words("kind"), table.words("name")
    numbers = (table.numbers(name).numbers_of(low, high) for name in ("rank", "device", "start_ns", "duration_ns"))
    rank, device, starts, durations = map(view, numbers)
    kind, name = (codes(column.numbers_of(low, high)) for column in (kinds, names))
    found: dict[_Key, tuple[Numbers, Numbers]] = {}
    places = [np.unique(column, return_inverse=True)[1].astype(np.int32) for column in (rank, device)]
    for rows in alike([kind, name, *places], np.arange(len(kind))):
        first = int(rows[0])
        kind_of = kinds.words[kind[first]]
        lane = lane_of(kind_of, names.words[name[first]], categories)
        found[int(rank[first]), low + first, kind_of, lane] = starts[rows], durations[rows]
    return found
