"""Compute which data a launch finds in the caches, and the time that its timing events and launch interval add."""

from dataclasses import replace

from kprof.condition import Condition
from kprof_analyzers.model.machine import Machine
from kprof_analyzers.model.passing import NOTHING, Passing
from kprof_analyzers.model.traffic import Sharing


def found(
    condition: Condition,
    shared: Sharing,
    total: int,
    machine: Machine,
    passing: Passing = NOTHING,
    *,
    tensor_bytes: int | None = None,
) -> Sharing:
    """Return the shares of a launch's loads that miss each cache, if other launches ran before it.

    The last-level cache still contains the previous launch's data if all bytes touched since then fit into the cache.
    Launches assign workgroups to XCDs in the same order. Therefore an L2 still contains the data that its workgroups
    load, if these bytes and the stored bytes fit into L2. If the number of touched bytes is unknown, nothing is assumed
    to be in the caches. Accesses that allocate no cache line find nothing, and displace nothing.

    Args:
        condition: effect of earlier launches on the caches.
        shared: shares of the launch's loads that miss each cache, without earlier launches.
        total: number of workgroups of the launch.
        machine: the GPU.
        passing: shares of the launch's loads and stores that allocate no line of the last-level cache.
        tensor_bytes: bytes of all tensor arguments, an upper bound of the touched bytes; ``None`` if unknown.
    """
    between = condition.between
    if between is None and (shared.known or shared.loads[0]):
        loaded = shared.loaded * total
        between = min(loaded, loaded if shared.footprint is None else shared.footprint) * (1 - passing.loaded)
        between += shared.stored * total * (1 - passing.stored)
    if condition.between is None and tensor_bytes is not None:
        between = tensor_bytes if between is None else min(between, tensor_bytes)
    if condition.caches != "kept" or between is None or between > machine.last_level_bytes:
        return shared
    l2 = 0.0 if condition.written else machine.cache_bytes("l2")
    loaded = shared.beyond_l2 * shared.loaded * total / machine.xcds if shared.on_xcd is None else shared.on_xcd
    held = shared.known and loaded + shared.stored * total / machine.xcds <= l2
    near = shared.beyond_l2 * (passing.loaded if held else 1.0)
    far = passing.loaded * shared.beyond_mall
    return replace(shared, beyond_l2=near, beyond_mall=min(near, far), stored_beyond=passing.stored)


def written_back(condition: Condition, machine: Machine, moved: float) -> float:
    """Return the bytes of earlier kernels' dirty lines that the launch forces the last-level cache to write back.

    A last-level cache full of dirty lines writes back one line for each line that comes in, until no dirty line is
    left. The number of these bytes is therefore the bytes that the launch moves between cache and memory, but at most
    the cache's size. On GPUs with a cache behind L2, dirty lines of L2 do not count, because they are written back when
    the kernel that wrote them ends.

    Args:
        condition: effect of earlier launches on the caches.
        machine: the GPU.
        moved: bytes that the launch moves between the last-level cache and memory.
    """
    return min(machine.last_level_bytes, moved) if condition.caches == "dirty" else 0.0


def hidden_cycles(written: float, whole: float, memory: float) -> float:
    """Return the write-back cycles that may overlap with cycles in which the launch does not use the memory.

    Published times show both cases: the arithmetic of some kernels hides write-backs, while in others write-backs
    lengthen the memory latency. Therefore the predicted time includes all write-backs, and only the lower end of its
    range omits those that may be hidden.

    Args:
        written: cycles for writing back earlier kernels' dirty lines.
        whole: cycles of the launch, including ``written``.
        memory: cycles in which the launch's own bytes occupy the memory.
    """
    return min(written, max(0.0, whole - written - memory))


def launch_us(condition: Condition, machine: Machine) -> float:
    """Return the microseconds of an empty launch, without the timing events."""
    replayed = machine.figures["graph_launch_ns"] / 1e3
    return max(replayed, machine.dispatch_us) if condition.replayed else machine.dispatch_us


def events_us(condition: Condition, machine: Machine) -> float:
    """Return the microseconds that the two timing events around a launch add to its time."""
    return machine.figures["events_ns"] / 1e3 if condition.events else 0.0


def interval_us(condition: Condition, machine: Machine, us: float) -> float:
    """Return the microseconds after a launch of ``us`` until the GPU is ready for the next launch or event.

    A launch or an event starts at the earliest a fixed interval after the start of the previous launch. The interval
    only counts if events are part of the time. A smooth maximum of ``us`` and the interval is used, so that a longer
    launch always takes longer.
    """
    least = machine.figures["launch_interval_ns"] / 1e3
    if not condition.events or not least:
        return 0.0
    sharpness = machine.figures["overlap"]
    return float((us**sharpness + least**sharpness) ** (1 / sharpness) - us)
