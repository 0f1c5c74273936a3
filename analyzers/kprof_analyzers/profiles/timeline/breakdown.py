"""Where the GPU's time goes, by category, and how busy each device was."""

from collections import Counter, defaultdict
from operator import add

import msgspec

from kprof.inputs.torch_profiler.model import LinkedTrace
from kprof_analyzers.profiles.timeline.categories import COMMUNICATION, MEMORY, Categories
from kprof_analyzers.profiles.timeline.fused import FusedKernel, fused_kernels
from kprof_analyzers.profiles.timeline.occupation import DeviceTime, Lane, Occupation
from kprof_analyzers.profiles.timeline.roles import categories_of

# Activities that are put into intervals at a time.
_TOGETHER = 1 << 14


class CategoryTime(msgspec.Struct, frozen=True):
    """One category: summed GPU time in ns, activities, and its share of all GPU time, 0 to 1."""

    category: str
    total_ns: int
    count: int
    share: float
    largest: str


class Breakdown(msgspec.Struct, frozen=True):
    """One trace's GPU time. Categories are sorted by time; ``by_rank`` has one such sum a rank, in ns.

    ``fused`` says what fused kernels could save; it is empty where the order of the kernels is not kept.
    """

    path: str
    categories: list[CategoryTime]
    devices: list[DeviceTime]
    by_rank: dict[int, dict[str, int]]
    total_ns: int
    fused: list[FusedKernel] = []


def breakdown(trace: LinkedTrace, categories: Categories, occupied: "list[Occupation] | None" = None) -> Breakdown:
    """Categories by name, ancestry and order of every kernel, copy and memset, and times by device.

    Args:
        trace: linked tables.
        categories: rules.
        occupied: its :func:`occupations`, where they are known already.
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
        category_rows(totals, counts, {c: n.most_common(1)[0][0] for c, n in names.items()}),
        device_times(trace, categories, occupied),
        {rank: dict(by_rank[rank].most_common()) for rank in sorted(by_rank)},
        sum(totals.values()),
        fused_kernels(trace, of_each),
    )


def category_rows(totals: Counter[str], counts: Counter[str], largest: dict[str, str]) -> list[CategoryTime]:
    """Rows sorted by time; an empty list when nothing was measured."""
    whole = sum(totals.values())
    return [
        CategoryTime(name, total, counts[name], total / whole if whole else 0.0, largest.get(name, ""))
        for name, total in totals.most_common()
    ]


def lane_of(kind: str, name: str, categories: Categories) -> Lane:
    """Which of the three kinds of work an activity is, by its own name: rules by ancestry do not change it."""
    if kind != "kernel":
        return "memory"
    category = categories.of_name(name)
    return "communication" if category == COMMUNICATION else "memory" if category == MEMORY else "compute"


def device_times(
    trace: LinkedTrace, categories: Categories, occupied: "list[Occupation] | None" = None
) -> list[DeviceTime]:
    """Busy, idle and exposed times of every device, sorted by rank and device."""
    times = [o.settle()[0] for o in (occupied or occupations(trace, categories))]
    return [t for t in times if t is not None]


def occupations(trace: LinkedTrace, categories: Categories) -> list[Occupation]:
    """The activities of each device as unions of intervals, sorted by rank and device."""
    found: dict[tuple[int, int | None], Occupation] = {}
    for low in range(0, len(trace.activities), _TOGETHER):
        for (rank, at, kind, lane), (starts, durations) in _by_lane(trace, categories, low).items():
            device = trace.activities.numbers("device")[at]
            one = found.setdefault((rank, device), Occupation(rank, device))
            one.add(lane, starts, list(map(add, starts, durations)))
            if kind == "kernel":
                one.kernel_ns += sum(durations)
        for one in found.values():
            one.pause()
    return [found[key] for key in sorted(found, key=lambda k: (k[0], k[1] is None, k[1] or 0))]


_Key = tuple[int, int, str, Lane]


def _by_lane(trace: LinkedTrace, categories: Categories, low: int) -> dict[_Key, tuple[list[int], list[int]]]:
    """Starts and durations of some rows by rank, a row with the device, kind and lane."""
    table, high = trace.activities, low + _TOGETHER
    kinds, names = table.words("kind"), table.words("name")
    fields = [kinds, names, *(table.numbers(n) for n in ("rank", "device", "start_ns", "duration_ns"))]
    grouped: dict[tuple[int, ...], tuple[int, list[int], list[int]]] = {}
    rows = zip(*(column.numbers_of(low, high) for column in fields), strict=True)
    for row, (kind, name, rank, device, start, duration) in enumerate(rows, low):
        key = kind, name, rank, device
        group = grouped.get(key)
        if group is None:
            group = grouped[key] = row, [], []
        group[1].append(start)
        group[2].append(duration)
    found: dict[_Key, tuple[list[int], list[int]]] = {}
    for (kind, name, rank, _), (row, starts, durations) in grouped.items():
        lane = lane_of(kinds.words[kind], names.words[name], categories)
        found[rank, row, kinds.words[kind], lane] = starts, durations
    return found
