"""Ranks of a distributed job side by side: who computes longer, who waits, and who is waited for."""

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
    """One communication that several ranks took part in: ranks to how long their kernel ran, in ns.

    A collective ends at all ranks together, so the rank with the shortest kernel came last.
    """

    name: str
    number: int
    durations: dict[int, int]
    last: int
    waited_ns: int


class RankReport(msgspec.Struct, frozen=True):
    """Ranks compared.

    Attributes:
        devices: times by rank and device.
        compute_skew: longest compute time over the median, less 1.
        stragglers: ranks by how long the others waited for them in matched collectives, in ns, largest first.
        collectives: the collectives with the longest waits.
        matched: collectives that could be matched over all ranks of their group.
        unmatched: communication kernels that could not.
        notes: what limits the comparison.
        point_to_point: ranks to the time of their sends and receives, in ns, which no other rank has to match.
        world_size: ranks of the job, where a trace says it.
        missing: ranks of the job of which no trace was given; who is waited for cannot be said then.
        bandwidths: collectives by kind, size and group, where the trace names them.
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
    """A communication kernel of a rank: its name, its duration, and the shape of the collective, if known."""

    name: str
    duration_ns: int
    shape: CollectiveShape | None = None

    @property
    def group_size(self) -> int | None:
        """The ranks that take part, if known."""
        return self.shape.ranks if self.shape is not None else None

    @property
    def is_point_to_point(self) -> bool:
        """Whether it is a send or a receive, which does not end on all ranks together."""
        return bool(_POINT_TO_POINT.search(self.name))


class RankPart(msgspec.Struct, frozen=True):
    """What one file contributes: device times, and each rank's communication kernels in order."""

    devices: list[DeviceTime]
    communication: dict[int, list[Communication]]
    issues: tuple[TraceIssue, ...] = ()
    world_size: int | None = None


def rank_part(trace: LinkedTrace, categories: Categories) -> RankPart:
    """The part of :func:`compare_ranks` that needs the trace."""
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
    """Put the ranks of one or several files side by side. Clocks need not agree: only durations are compared."""
    devices = sorted((d for p in parts for d in p.devices), key=lambda d: (d.rank, d.device or 0))
    communication: dict[int, list[Communication]] = {}
    notes: list[str] = []
    for part in parts:
        for rank, found in part.communication.items():
            if rank in communication:
                notes.append(f"rank {rank} is in several files: their communication was put one after the other")
            communication[rank] = communication.get(rank, []) + found
    ranks = {d.rank for d in devices}
    world = max((part.world_size for part in parts if part.world_size), default=None)
    missing = max(0, world - len(ranks)) if world else 0
    if missing:
        notes.append(f"{len(ranks)} of {world} ranks are here: a rank that is not may be the one that all wait for")
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
    """Collectives that the trace names, in each rank's order."""
    for rank, found in communication.items():
        for one in found:
            if one.shape is not None and one.shape.collective and not one.is_point_to_point:
                yield one.shape, {rank: [one.duration_ns]}


def _match(communication: dict[int, list[Communication]]) -> tuple[list[Collective], int]:
    """The n-th communication of a name on one rank belongs to the n-th of that name on the others of its group.

    A name that does not occur equally often on every rank is not matched: shifted by one, every pair would be wrong.
    Sends and receives are not matched at all: theirs is no common end.
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
