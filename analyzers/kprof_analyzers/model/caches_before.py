"""What a launch finds in the caches and what the way of timing adds, by the condition that its time is of."""

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
    """Sharing of a launch that comes after others under a condition.

    Data that the launch before left is found as far as all that is touched in between fits the last-level cache.
    Workgroups are assigned to XCDs alike each time, so that an L2 has what its own will load, where all of that and
    what they store fits in it. Nothing is found where it is not known how much is touched. What takes no line is not
    found, and displaces nothing.

    Args:
        condition: what the launches before did.
        shared: of the launch on its own.
        total: its workgroups.
        machine: the GPU.
        passing: shares of what it loads and stores that take no line.
        tensor_bytes: bytes of all tensors that it is given, of which it touches no more; ``None`` where not known.
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
    """Bytes of others' lines that go to memory before this launch's can take their place in the last-level cache.

    A cache full of written lines gives up one for each that comes in, until all of them are gone: as many bytes as the
    launch moves beyond it, and no more than it holds. L2's own are written back when the kernel that wrote them ends,
    where there is a cache behind it.

    Args:
        condition: what the launches before did.
        machine: the GPU.
        moved: bytes that the launch moves between the last-level cache and memory.
    """
    return min(machine.last_level_bytes, moved) if condition.caches == "dirty" else 0.0


def launch_us(condition: Condition, machine: Machine) -> float:
    """Microseconds of an empty launch, without events."""
    replayed = machine.figures["graph_launch_ns"] / 1e3
    return max(replayed, machine.dispatch_us) if condition.replayed else machine.dispatch_us


def events_us(condition: Condition, machine: Machine) -> float:
    """Microseconds that two events around a launch add to it."""
    return machine.figures["events_ns"] / 1e3 if condition.events else 0.0
