"""Compute the bandwidth of collectives by kind, size and group, and the time that ranks waited for each other.

Bandwidths are defined as in nccl-tests and rccl-tests (doc/PERFORMANCE.md). The *algorithm* bandwidth is the size of
the operation divided by its time. The *bus* bandwidth is multiplied by the share that each rank must send or receive,
and can be compared with the bandwidth of a link.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kprof_analyzers.profiles.timeline.operators.arguments import element_bytes

# The first of these kinds that a name contains is the kind of the collective. Underscores in names are ignored, because
# PyTorch does not write them consistently.
_KINDS = ("allreduce", "reducescatter", "allgather", "alltoall", "broadcast", "reduce")


class CollectiveBandwidth(msgspec.Struct, frozen=True):
    """Collectives of one kind, size and group.

    Attributes:
        collective: name of the collective in the trace.
        group: the process group, if the trace names it.
        ranks: number of ranks in the group.
        bytes: size of the operation: the total bytes reduced, broadcast or gathered; ``None`` if the trace does not
            record the number or type of elements.
        count: number of collectives, each counted once for all its ranks.
        transfer_ns: total time in which all ranks took part: the sum of each collective's shortest kernel.
        waited_ns: time of the kernels beyond ``transfer_ns``, on average over the ranks.
        algorithm_gbps: bytes divided by transfer time, GB/s.
        bus_gbps: algorithm bandwidth multiplied by the share of bytes that a rank must send or receive.
        whole: whether every rank of the group was seen. Otherwise transfer times include waiting, and bandwidths are
            lower bounds.
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
    """Properties of a collective; collectives with the same properties are added up.

    Attributes:
        collective: name of the collective in the trace.
        group: the process group.
        ranks: number of ranks in the group.
        elements: number of input elements of a rank.
        element_type: type of the elements.
    """

    collective: str
    group: str = ""
    ranks: int | None = None
    elements: int | None = None
    element_type: str = ""

    @property
    def kind(self) -> str | None:
        """Kind of the collective, such as ``allreduce``; ``None`` if its name contains no known kind."""
        name = self.collective.lower().replace("_", "")
        return next((kind for kind in _KINDS if kind in name), None)

    @property
    def size(self) -> int | None:
        """Bytes of the operation as in nccl-tests: the output of an all-gather, otherwise the input of a rank."""
        width = element_bytes(self.element_type)
        if not width or self.elements is None or self.elements <= 0:
            return None
        times = self.ranks if self.kind == "allgather" else 1
        return self.elements * width * times if times else None

    @property
    def bus_factor(self) -> float | None:
        """Number of times that each byte crosses a rank's links; ``None`` if unknown."""
        ranks, kind = self.ranks, self.kind
        if not ranks or ranks < 2 or kind is None:
            return None
        if kind == "allreduce":
            return 2 * (ranks - 1) / ranks
        return 1.0 if kind in {"broadcast", "reduce"} else (ranks - 1) / ranks


def bandwidths(seen: Iterable[tuple[CollectiveShape, Mapping[int, Sequence[int]]]]) -> list[CollectiveBandwidth]:
    """Add up collectives of the same shape, and return them in order of decreasing time.

    Args:
        seen: shapes, each with the durations of its kernels in ns, in order of execution for each rank.
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
        # The ranks have different numbers of kernels, which therefore cannot be paired. Use the rank with the shortest
        # mean duration.
        least = min(durations.values(), key=lambda times: sum(times) / len(times))
        count, transfer, waited = len(least), sum(least), 0
    size, factor = shape.size, shape.bus_factor
    algorithm = size * count / transfer if size and transfer else None
    bus = algorithm * factor if algorithm is not None and factor is not None else None
    whole = len(counts) == 1 and len(durations) == ranks
    return CollectiveBandwidth(
        shape.collective, shape.group, ranks, size, count, transfer, waited, algorithm if factor else None, bus, whole
    )
