"""Where the GPU's time goes, by category, and how busy each device was."""

from collections import Counter, defaultdict

import msgspec

from kprof.inputs.torch_profiler.model import Activity, LinkedTrace
from kprof_analyzers.profiles.timeline.categories import COMMUNICATION, MEMORY, Categories
from kprof_analyzers.profiles.timeline.occupation import DeviceTime, Lane, Occupation
from kprof_analyzers.profiles.timeline.roles import categories_of


class CategoryTime(msgspec.Struct, frozen=True):
    """One category: summed GPU time in ns, activities, and its share of all GPU time, 0 to 1."""

    category: str
    total_ns: int
    count: int
    share: float
    largest: str


class Breakdown(msgspec.Struct, frozen=True):
    """One trace's GPU time. Categories are sorted by time; ``by_rank`` has one such sum a rank, in ns."""

    path: str
    categories: list[CategoryTime]
    devices: list[DeviceTime]
    by_rank: dict[int, dict[str, int]]
    total_ns: int


def breakdown(trace: LinkedTrace, categories: Categories) -> Breakdown:
    """Categories by name, ancestry and order of every kernel, copy and memset, and times by device."""
    totals: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    names: defaultdict[str, Counter[str]] = defaultdict(Counter)
    by_rank: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for activity, category in zip(trace.activities, categories_of(trace, categories), strict=True):
        totals[category] += activity.duration_ns
        counts[category] += 1
        names[category][activity.name] += activity.duration_ns
        by_rank[activity.rank][category] += activity.duration_ns
    return Breakdown(
        trace.info.path,
        category_rows(totals, counts, {c: n.most_common(1)[0][0] for c, n in names.items()}),
        device_times(trace, categories),
        {rank: dict(by_rank[rank].most_common()) for rank in sorted(by_rank)},
        sum(totals.values()),
    )


def category_rows(totals: Counter[str], counts: Counter[str], largest: dict[str, str]) -> list[CategoryTime]:
    """Rows sorted by time; an empty list when nothing was measured."""
    whole = sum(totals.values())
    return [
        CategoryTime(name, total, counts[name], total / whole if whole else 0.0, largest.get(name, ""))
        for name, total in totals.most_common()
    ]


def lane_of(activity: Activity, categories: Categories) -> Lane:
    """Which of the three kinds of work an activity is, by its own name: rules by ancestry do not change it."""
    if activity.kind != "kernel":
        return "memory"
    category = categories.of_name(activity.name)
    return "communication" if category == COMMUNICATION else "memory" if category == MEMORY else "compute"


def device_times(trace: LinkedTrace, categories: Categories) -> list[DeviceTime]:
    """Busy, idle and exposed times of every device, sorted by rank and device."""
    times = [o.settle()[0] for o in occupations(trace, categories)]
    return [t for t in times if t is not None]


def occupations(trace: LinkedTrace, categories: Categories) -> list[Occupation]:
    """The activities of each device as unions of intervals, sorted by rank and device."""
    found: dict[tuple[int, int | None], Occupation] = {}
    for activity in trace.activities:
        key = (activity.rank, activity.device)
        device = found.get(key)
        if device is None:
            device = found[key] = Occupation(*key)
        device.add(lane_of(activity, categories), [activity.start_ns], [activity.end_ns])
        if activity.kind == "kernel":
            device.kernel_ns += activity.duration_ns
    return [found[key] for key in sorted(found, key=lambda k: (k[0], k[1] is None, k[1] or 0))]
