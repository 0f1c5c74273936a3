"""Collectives by kind, size and group: what was moved, how fast, and how long ranks waited for each other.

Bandwidths are those of nccl-tests and rccl-tests (doc/PERFORMANCE.md): the *algorithm's* is the size of the operation
over its time; the *bus's* is that times what each rank must send or receive of it, and can be compared with a link's.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kprof_analyzers.profiles.timeline.operators.arguments import element_bytes

# The first that a name contains decides; without its underscores, as PyTorch writes some with and some without.
_KINDS = ("allreduce", "reducescatter", "allgather", "alltoall", "broadcast", "reduce")


class CollectiveBandwidth(msgspec.Struct, frozen=True):
    """Collectives of one kind, size and group.

    Attributes:
        collective: as the trace names it.
        group: the process group, where the trace says.
        ranks: in the group.
        bytes: size of the operation: what is reduced, sent to all, or gathered in all; ``None`` where the trace does
            not tell elements or type.
        count: how many there were, each counted once for all its ranks.
        transfer_ns: while all ranks took part, of all of them together: each one's shortest kernel.
        waited_ns: what the ranks' kernels took longer than that, on average over the ranks.
        algorithm_gbps: bytes over transfer, GB/s.
        bus_gbps: the same times what a rank must send or receive of each byte.
        whole: every rank of the group was seen. Otherwise transfers hold waiting, too, and bandwidths are lower bounds.
    """

    collective: str
    group: str
    ranks: int
    bytes: int | None
    count: int
    transfer_ns: int
    waited_ns: int
    algorithm_gbps: float | None
    bus_gbps: float | None
    whole: bool


class CollectiveShape(msgspec.Struct, frozen=True):
    """What makes collectives alike.

    Attributes:
        collective: as the trace names it.
        group: the process group.
        ranks: in the group.
        elements: that a rank gives.
        element_type: of them.
    """

    collective: str
    group: str = ""
    ranks: int | None = None
    elements: int | None = None
    element_type: str = ""

    @property
    def kind(self) -> str | None:
        """Which of the known collectives it is."""
        name = self.collective.lower().replace("_", "")
        return next((kind for kind in _KINDS if kind in name), None)

    @property
    def size(self) -> int | None:
        """Bytes of the operation as nccl-tests count them: of an all-gather what it gives, else what a rank puts in."""
        width = element_bytes(self.element_type)
        if not width or self.elements is None or self.elements <= 0:
            return None
        times = self.ranks if self.kind == "allgather" else 1
        return self.elements * width * times if times else None

    @property
    def bus_factor(self) -> float | None:
        """How often each byte crosses a rank's links."""
        ranks, kind = self.ranks, self.kind
        if not ranks or ranks < 2 or kind is None:
            return None
        if kind == "allreduce":
            return 2 * (ranks - 1) / ranks
        return 1.0 if kind in {"broadcast", "reduce"} else (ranks - 1) / ranks


def bandwidths(seen: Iterable[tuple[CollectiveShape, Mapping[int, Sequence[int]]]]) -> list[CollectiveBandwidth]:
    """Sums over collectives that are alike, the longest first.

    Args:
        seen: shapes, each with the durations of its kernels in ns, rank by rank in the order in which they ran.
    """
    rows = [_row(shape, durations) for shape, durations in _merged(seen).items()]
    return sorted(rows, key=lambda row: -(row.transfer_ns + row.waited_ns))


def _merged(
    seen: Iterable[tuple[CollectiveShape, Mapping[int, Sequence[int]]]],
) -> dict[CollectiveShape, dict[int, list[int]]]:
    found: defaultdict[CollectiveShape, dict[int, list[int]]] = defaultdict(dict)
    for shape, durations in seen:
        for rank, times in durations.items():
            found[shape].setdefault(rank, []).extend(times)
    return found


def _row(shape: CollectiveShape, durations: dict[int, list[int]]) -> CollectiveBandwidth:
    counts = {len(times) for times in durations.values()}
    ranks = shape.ranks or len(durations)
    if len(counts) == 1:
        (count,) = counts
        shortest = [min(times) for times in zip(*durations.values(), strict=True)]
        longer = sum(map(sum, durations.values())) - sum(shortest) * len(durations)
        transfer, waited = sum(shortest), round(longer / len(durations))
    else:
        # Shifted by one, every pair would be wrong: the rank that spent the least.
        least = min(durations.values(), key=lambda times: sum(times) / len(times))
        count, transfer, waited = len(least), sum(least), 0
    size, factor = shape.size, shape.bus_factor
    algorithm = size * count / transfer if size and transfer else None
    bus = algorithm * factor if algorithm is not None and factor is not None else None
    whole = len(counts) == 1 and len(durations) == ranks
    return CollectiveBandwidth(
        shape.collective, shape.group, ranks, size, count, transfer, waited, algorithm if factor else None, bus, whole
    )
