"""Compute what a launch finds in the caches, and the overhead of its timing, under a given timing condition."""

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
    """Return the sharing (where loaded data comes from) of a launch that follows other launches.

    Data of the previous launch is still in the last-level cache if all bytes touched in between fit into the cache.
    Each launch assigns its workgroups to XCDs in the same way. An L2 therefore still contains the data that its
    workgroups load, if this data and their stores fit into L2. If the number of touched bytes is unknown, nothing is
    assumed to be in the caches. Accesses that allocate no cache line find nothing, and displace nothing.

    Args:
        condition: effect of earlier launches on the caches.
        shared: sharing of the launch on its own.
        total: number of its workgroups.
        machine: the GPU.
        passing: shares of its loads and stores that allocate no cache line.
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
    """Return the cycles of writing back lines that may pass while the memory has nothing else to do.

    Whether they do is not known: among published times they hide behind the arithmetic of some kernels, and lengthen
    the latency that others wait for. So they count in full, and only the lower end of a range leaves them out.

    Args:
        written: cycles for writing back earlier kernels' dirty lines.
        whole: cycles of the launch, with ``written``.
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
    """Return the microseconds after a launch of ``us`` in which the GPU is not yet ready for what follows it.

    A launch, or an event, begins no sooner than a fixed time after the start of the launch before it. This only counts
    if events are part of the time. The maximum of both times is a smooth one, so that a longer launch stays longer.
    """
    least = machine.figures["launch_interval_ns"] / 1e3
    if not condition.events or not least:
        return 0.0
    sharpness = machine.figures["overlap"]
    return float((us**sharpness + least**sharpness) ** (1 / sharpness) - us)
