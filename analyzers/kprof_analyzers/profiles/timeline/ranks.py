"""Compare the ranks of a distributed job: find ranks that compute longer, and ranks that others wait for."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

import msgspec

from kprof.inputs.torch_profiler.issues import TraceIssue
from kprof.inputs.torch_profiler.model import Activity, LinkedTrace
from kprof_analyzers.profiles.timeline.breakdown import device_times
from kprof_analyzers.profiles.timeline.categories import COMMUNICATION, Categories
from kprof_analyzers.profiles.timeline.collectives import CollectiveBandwidth, CollectiveShape, bandwidths
from kprof_analyzers.profiles.timeline.occupation import DeviceTime

_POINT_TO_POINT = re.compile(r"send|recv", re.IGNORECASE)


class Collective(msgspec.Struct, frozen=True):
    """One collective of several ranks, with the duration of each rank's kernel in ns.

    A collective ends on all ranks at the same time, so the rank with the shortest kernel started last.
    """

    name: str
    number: int
    durations: dict[int, int]
    last: int
    waited_ns: int


class RankReport(msgspec.Struct, frozen=True):
    """Comparison of ranks.

    Attributes:
        devices: times by rank and device.
        compute_skew: longest compute time divided by the median, minus 1.
        stragglers: ns that the other ranks waited for each rank in matched collectives, largest first.
        collectives: collectives with the longest waits.
        matched: number of collectives that were matched over all ranks of their group.
        unmatched: number of communication kernels that were not matched.
        notes: limitations of the comparison.
        point_to_point: ns of sends and receives by rank. They are not matched between ranks.
        world_size: number of ranks of the job, if a trace records it.
        missing: number of ranks of the job without a trace; if there are any, stragglers are unknown.
        bandwidths: collectives by kind, size and group, if the trace names them.
    """

    devices: list[DeviceTime]
    compute_skew: float
    stragglers: dict[int, int]
    collectives: list[Collective]
    matched: int
    unmatched: int
    notes: list[str]
    point_to_point: dict[int, int] = {}
    world_size: int | None = None
    missing: int = 0
    bandwidths: list[CollectiveBandwidth] = []


class Communication(msgspec.Struct, frozen=True):
    """A communication kernel of a rank: its name, its duration, and the shape of the collective if known."""

    name: str
    duration_ns: int
    shape: CollectiveShape | None = None

    @property
    def group_size(self) -> int | None:
        """Number of ranks that take part, if known."""
        return self.shape.ranks if self.shape is not None else None

    @property
    def is_point_to_point(self) -> bool:
        """Whether it is a send or a receive, which does not end on all ranks at the same time."""
        return bool(_POINT_TO_POINT.search(self.name))


class RankPart(msgspec.Struct, frozen=True):
    """Contribution of one file: device times, and each rank's communication kernels in order."""

    devices: list[DeviceTime]
    communication: dict[int, list[Communication]]
    issues: tuple[TraceIssue, ...] = ()
    world_size: int | None = None


def rank_part(trace: LinkedTrace, categories: Categories) -> RankPart:
    """Extract the contribution of a trace that :func:`compare_ranks` needs."""
    by_rank: defaultdict[int, list[int]] = defaultdict(list)
    names, kinds = trace.activities.words("name"), trace.activities.words("kind")
    for row, rank in enumerate(trace.activities.numbers("rank").data):
        if kinds[row] == "kernel" and categories.of_name(names[row]) == COMMUNICATION:
            by_rank[rank].append(row)
    starts = trace.activities.numbers("start_ns").data
    ordered = {
        rank: [_communication(trace.activities[row]) for row in sorted(found, key=starts.__getitem__)]
        for rank, found in by_rank.items()
    }
    return RankPart(device_times(trace, categories), ordered, trace.issues, trace.info.world_size)


def _communication(activity: Activity) -> Communication:
    if not activity.collective:
        shape = CollectiveShape("", ranks=activity.group_size) if activity.group_size else None
        return Communication(activity.name, activity.duration_ns, shape)
    name = f"{activity.collective} {activity.elements} {activity.element_type} group {activity.group}"
    shape = CollectiveShape(
        activity.collective, activity.group or "", activity.group_size, activity.elements, activity.element_type or ""
    )
    return Communication(name, activity.duration_ns, shape)


def compare_ranks(parts: Sequence[RankPart], limit: int = 10) -> RankReport:
    """Compare the ranks of one or several files. Only durations are compared, so the clocks of files may differ."""
    devices = sorted((d for p in parts for d in p.devices), key=lambda d: (d.rank, d.device or 0))
    communication: dict[int, list[Communication]] = {}
    notes: list[str] = []
    for part in parts:
        for rank, found in part.communication.items():
            if rank in communication:
                notes.append(f"rank {rank} is in several files: their communication is concatenated")
            communication[rank] = communication.get(rank, []) + found
    ranks = {d.rank for d in devices}
    world = max((part.world_size for part in parts if part.world_size), default=None)
    missing = max(0, world - len(ranks)) if world else 0
    if missing:
        notes.append(f"{len(ranks)} of {world} ranks are here: the others may wait for a missing one")
    collectives, unmatched = _match(communication)
    if unmatched:
        notes.append(f"{unmatched} communication kernels have no counterpart on every rank")
    if len(ranks) < 2:
        notes.append("one rank only: nothing to compare")
    stragglers: Counter[int] = Counter()
    for collective in () if missing else collectives:
        stragglers[collective.last] += collective.waited_ns
    computes = [d.compute_ns for d in devices]
    middle = median(computes) if computes else 0
    sends = {
        rank: total
        for rank, found in communication.items()
        if (total := sum(one.duration_ns for one in found if one.is_point_to_point))
    }
    return RankReport(
        devices,
        max(computes) / middle - 1 if middle else 0.0,
        dict(stragglers.most_common()),
        sorted(collectives, key=lambda c: -c.waited_ns)[:limit],
        len(collectives),
        unmatched,
        list(dict.fromkeys(notes)),
        sends,
        world,
        missing,
        bandwidths(_by_shape(communication)),
    )


def _by_shape(communication: dict[int, list[Communication]]) -> Iterator[tuple[CollectiveShape, dict[int, list[int]]]]:
    """Yield the collectives that traces describe, by shape, with each rank's durations in order."""
    for rank, found in communication.items():
        for one in found:
            if one.shape is not None and one.shape.collective and not one.is_point_to_point:
                yield one.shape, {rank: [one.duration_ns]}


def _match(communication: dict[int, list[Communication]]) -> tuple[list[Collective], int]:
    """Match the n-th communication kernel of a name on one rank with the n-th of this name on its group's other ranks.

    A name that occurs more often on some ranks than on others is not matched, because a shift by one would make every
    match wrong. Sends and receives are not matched, because they do not end at the same time.
    """
    if len(communication) < 2:
        return [], 0
    by_name: defaultdict[tuple[str, int], dict[int, list[int]]] = defaultdict(dict)
    for rank, found in communication.items():
        for one in found:
            if not one.is_point_to_point:
                key = one.name, one.group_size or len(communication)
                by_name[key].setdefault(rank, []).append(one.duration_ns)
    collectives: list[Collective] = []
    unmatched = 0
    for (name, size), durations in by_name.items():
        if len(durations) != size or len({len(d) for d in durations.values()}) > 1:
            unmatched += sum(len(d) for d in durations.values())
            continue
        for number in range(len(next(iter(durations.values())))):
            row = {rank: durations[rank][number] for rank in sorted(durations)}
            shortest = min(row.values())
            last = min(row, key=lambda r: row[r])
            collectives.append(Collective(name, number, row, last, sum(d - shortest for d in row.values())))
    return collectives, unmatched
