"""Compute the bytes that workgroups load from each memory level, from the addresses of their tiles.

Workgroups of one XCD that load a tile at the same time share it in L2. Workgroups of all XCDs share it in the Infinity
Cache. Tiles are distinguished by their corner, the address of their first element, which is evaluated from the TTGIR.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Protocol

from kprof.analysis import KernelFacts
from kprof.inputs.mlir import Operation, TensorType
from kprof_analyzers.memory.addressing import element_bytes, strides, tile
from kprof_analyzers.memory.dataflow import is_load
from kprof_analyzers.model.branches import alive
from kprof_analyzers.model.entries import reach
from kprof_analyzers.model.machine import Channels
from kprof_analyzers.model.masks import live_shares
from kprof_analyzers.model.overlaps import fresh_shares
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.values import Value
from kprof_analyzers.model.wraps import wrapped_shares

_MOSTLY = 0.9
_LITTLE = 0.05
# A window is the number of previous workgroups whose tiles may still be cached. The steady-state miss rate needs at
# least this number of windows of workgroups; with fewer, the first window's rate is used.
_MIN_WINDOWS = 1.5
_ALL: Mapping[int, float] = {}

STORES = ("tt.store", "amdg.buffer_store")


@dataclass(frozen=True)
class Access:
    """One load or store of the TTGIR.

    Attributes:
        operation: the operation.
        tile_bytes: bytes of its tile, without masked elements and without rows that repeat others (``rows % M``).
        corners: address of the first element for each workgroup, in elements; ``None`` if unknown.
        times: total number of executions by a workgroup.
        live: for each workgroup whether it executes the access at all; ``None`` if all do.
        run: number of bytes of the tile that are adjacent in memory; ``None`` if unknown.
        span: bytes from the lowest to the highest address of all workgroups' tiles; ``None`` if unknown.
        fresh: share of the tile that no recent load of the same workgroup has left in L2, and share that none has left
            in any cache.
    """

    operation: Operation
    tile_bytes: float
    corners: Value | None
    times: float
    live: tuple[bool, ...] | None = None
    run: int | None = None
    span: float | None = None
    fresh: tuple[float, float] = (1.0, 1.0)

    @property
    def is_store(self) -> bool:
        """Whether the operation stores its tile."""
        return self.operation.name in STORES


class Tile(Protocol):
    """The attributes of :class:`Access` that also describe an access of code without a TTGIR."""

    @property
    def is_store(self) -> bool: ...
    @property
    def tile_bytes(self) -> float: ...
    @property
    def corners(self) -> Value | None: ...
    @property
    def times(self) -> float: ...
    @property
    def live(self) -> tuple[bool, ...] | None: ...
    @property
    def run(self) -> int | None: ...
    @property
    def span(self) -> float | None: ...
    @property
    def fresh(self) -> tuple[float, float]: ...


@dataclass(frozen=True)
class Sharing:
    """Shares of the loaded bytes that reach each level of the memory system.

    Attributes:
        beyond_l2: share of the bytes loaded by one XCD's workgroups that misses its L2.
        beyond_mall: share of the loaded bytes that also misses the Infinity Cache and comes from memory.
        loaded: bytes that one workgroup loads.
        stored: bytes that one workgroup stores.
        footprint: distinct bytes that the whole launch loads; ``None`` when not known.
        effort: factor, 1 or more, by which short runs of adjacent bytes slow down loads from L2.
        effort_beyond: factor, 1 or more, by which short runs slow down loads from beyond L2.
        known: whether the tiles' addresses are known.
        loads: number of the program's loads, and number of loads whose addresses are not known.
        on_xcd: distinct bytes that one XCD's workgroups load in the whole launch; ``None`` when not known.
        stored_beyond: share of the stored bytes that reaches memory.
        contended: number of atomics on the most contended address.
    """

    beyond_l2: float
    beyond_mall: float
    loaded: float
    stored: float
    footprint: float | None
    known: bool
    effort: float = 1.0
    effort_beyond: float = 1.0
    loads: tuple[int, int] = (0, 0)
    on_xcd: float | None = None
    stored_beyond: float = 1.0
    contended: float = 0.0


def accesses(
    facts: KernelFacts,
    evaluator: Evaluator,
    times: Mapping[int | None, float],
    come_to: Mapping[int, float] = _ALL,
    *,
    wrapped: bool = True,
    spans: bool = True,
    held: tuple[float, float] = (0.0, 0.0),
) -> list[Access]:
    """Return all tensor loads and stores of a kernel.

    Args:
        facts: the kernel.
        evaluator: evaluator of the sampled workgroups.
        times: number of times that a workgroup executes each TTGIR loop's body; key ``None`` is code outside loops.
        come_to: share of iterations that execute an operation, for operations in rare branches.
        wrapped: whether rows of a tile that repeat others (``rows % M``) count as no additional bytes.
        spans: whether to compute the address span of all workgroups' tiles.
        held: a workgroup's share of L2, and of the Infinity Cache (of L2 if there is none), in bytes.
    """
    assert facts.ttgir is not None
    found = []
    shares, different = live_shares(facts), wrapped_shares(facts) if wrapped else {}
    for op in facts.ttgir.operations:
        if not is_load(op) and op.name not in STORES:
            continue
        shape, size = tile(op), element_bytes(op)
        if shape is None or size is None:
            continue
        live = _live(evaluator, op)
        evaluator.inside(op.loop)
        corner = evaluator.corner(op)
        whole, run = times.get(op.loop, 1.0) * come_to.get(op.index, 1.0), _run(op, shape, size)
        if op.loop is None and live is not None:
            whole *= sum(live) / len(live)
        span = _span(op, shape, size, evaluator, facts.arguments) if spans else None
        if span is not None and op.loop is not None:
            # The span is that of one entry of the loop. Other iterations of the outer loops may access other addresses.
            span *= max(1.0, times.get(op.module.operations[op.loop].loop, 1.0))
        moved = shape.elements * size * shares.get(op.index, 1.0) * different.get(op.index, 1.0)
        found.append(Access(op, moved, corner, whole, live, run, span))
    if not any(held):
        return found
    fresh = fresh_shares([(access.operation, access.corners) for access in found], shares, facts.arguments)
    return [replace(a, fresh=_fresh(a, fresh[n], held)) if (n := a.operation.index) in fresh else a for a in found]


def _fresh(access: Access, share: float, held: tuple[float, float]) -> tuple[float, float]:
    """Return the shares of a tile that come from beyond L2 and from memory.

    ``share`` of the tile is not in the workgroup's earlier tiles. The rest is in a cache if the cache can hold it.
    """
    near, far = (1 - (1 - share) * min(1.0, size / access.tile_bytes) if access.tile_bytes else 1.0 for size in held)
    return near, far


def _span(
    op: Operation, shape: TensorType, size: int, evaluator: Evaluator, arguments: Mapping[str, object]
) -> float | None:
    """Return the bytes from the lowest to the highest address a workgroup accesses in one execution of the loop."""
    long, ends = extent(op, shape, arguments), reach(evaluator, op)
    return None if long is None or ends is None else float((ends[1] - ends[0] + long) * size)


def extent(op: Operation, shape: TensorType, arguments: Mapping[str, object]) -> int | None:
    """Return the distance in elements from a tile's first element to the end of its last; ``None`` if unknown."""
    steps = strides(op)
    if steps is None:
        return None
    long = 1
    for axis, step in steps.items():
        apart = step.value(arguments) if step is not None else None
        if apart is None or axis >= len(shape.shape):
            return None
        long += (shape.shape[axis] - 1) * abs(apart)
    return long


def _run(op: Operation, shape: TensorType, size: int) -> int | None:
    """Return the number of adjacent bytes of a tile: its extent along the axis with a stride of one element."""
    steps = strides(op)
    if steps is None:
        return None
    unit = [axis for axis, step in steps.items() if step is not None and abs(step.factor) == 1 and not step.symbols]
    if not unit:
        return size if any(step is not None for step in steps.values()) else None
    return max(shape.shape[axis] for axis in unit if axis < len(shape.shape)) * size


def _live(evaluator: Evaluator, op: Operation) -> tuple[bool, ...] | None:
    """Return for each workgroup whether it executes an operation at least once; ``None`` if all do."""
    here = alive(evaluator, op)
    live = None if here is None else list(map(bool, here))
    around = op.loop
    while around is not None:
        loop = op.module.operations[around]
        iterations = evaluator.trips(loop)
        if isinstance(iterations, list):
            live = [t > 0 and (live is None or live[n]) for n, t in enumerate(iterations)]
        around = loop.loop
    return None if live is None or all(live) or not any(live) else tuple(live)


def sharing(
    found: Sequence[Tile], xcds: int, together: int, channels: Channels, size: float = 0.0, *, in_blocks: bool = False
) -> Sharing:
    """Return the shares of loads that miss L2 and the Infinity Cache.

    Args:
        found: accesses of workgroups, in the order of their numbers.
        xcds: XCDs of the GPU.
        together: number of workgroups that run at the same time: the first ones in ``found``.
        channels: channels of the GPU's L2.
        size: bytes of the Infinity Cache, which keeps data of earlier workgroups up to this size.
        in_blocks: whether neighbouring workgroups run on the same XCD; otherwise they are assigned round-robin.
    """
    loads = [a for a in found if not a.is_store]
    stored = sum(a.tile_bytes * a.times for a in found if a.is_store)
    loaded = sum(a.tile_bytes * a.times for a in loads)
    known = [a for a in loads if a.corners is not None]
    if not known:
        return Sharing(1.0, 1.0, loaded, stored, None, known=not loads, loads=(len(loads), len(loads)))
    near = far = weight = effort = distant = 0.0
    window = _window(known, together, size)
    for access in known:
        # If no workgroup loads anything, every tile gets the weight of a single load.
        part = access.tile_bytes * (access.times if loaded else 1.0)
        assert access.corners is not None
        one, all_ = _unique(access, xcds, together, window, in_blocks=in_blocks)
        one, all_ = one * access.fresh[0], all_ * access.fresh[1]
        near += part * one
        far += part * all_
        effort += part * channels.effort(access.run, one)
        distant += part * one * channels.effort_beyond(access.run)
        weight += part
    if not weight:
        return Sharing(1.0, 1.0, loaded, stored, None, known=False)
    all_known = len(known) == len(loads)
    shares = near / weight, far / weight
    efforts = effort / weight, distant / near if near else 1.0
    return Sharing(*shares, loaded, stored, None, all_known, *efforts, (len(loads), len(loads) - len(known)))


def footprint(found: Sequence[Tile], looked_at: int, total: int) -> float | None:
    """Return the distinct bytes that a whole launch loads; ``None`` if too many addresses are unknown.

    Args:
        found: accesses of workgroups spread over the launch.
        looked_at: number of these workgroups.
        total: workgroups of the launch.
    """
    different = unknown = loaded = 0.0
    for access in found:
        if access.is_store:
            continue
        if access.corners is None:
            unknown += access.tile_bytes * access.times
            continue
        if isinstance(access.corners, int):
            count = 1.0
        else:
            # Workgroups that return before the load have no tile.
            loading = list(compress(access.corners, access.live)) if access.live is not None else access.corners
            count = float(len(set(loading)))
            # If nearly all sampled tiles are different, those of the other workgroups are assumed to be different, too.
            count *= total / looked_at if count > _MOSTLY * len(loading) else 1.0
        whole = count * access.tile_bytes * access.times * access.fresh[1]
        loaded += access.tile_bytes * access.times
        # Tiles with different first addresses may overlap later, so the span is an upper bound.
        different += whole if access.span is None else min(whole, access.span)
    return different if unknown <= _LITTLE * (loaded + unknown) else None


def within_caches(
    shared: Sharing, different: float | None, total: int, sizes: tuple[float, float], xcds: int
) -> Sharing:
    """Return the sharing of a launch, considering that only the first use of data misses a cache that holds all of it.

    Args:
        shared: sharing among workgroups that run together.
        different: distinct bytes that the launch loads.
        total: workgroups of the launch.
        sizes: bytes of an XCD's L2 and of the Infinity Cache (of L2 if there is none).
        xcds: XCDs of the GPU.
    """
    everything = shared.loaded * total
    if different is None or not everything:
        return shared
    near, far = shared.beyond_l2, shared.beyond_mall
    if different <= sizes[0]:
        near = min(near, different * xcds / everything)
    if different <= sizes[1]:
        far = min(far, different / everything)
    return replace(shared, beyond_l2=near, beyond_mall=min(far, near), footprint=different)


def within_l2(shared: Sharing, different: float | None, total: int, size: float, xcds: int) -> Sharing:
    """Return the sharing of a launch, considering that data stays in L2 for workgroups that use it later.

    The probability that repeated data is still in L2 is L2's size divided by all distinct bytes loaded through it, or 1
    if all of these bytes fit.

    Args:
        shared: sharing among workgroups that run together in step.
        different: distinct bytes that the workgroups of one XCD load.
        total: workgroups of the launch.
        size: bytes of an XCD's L2.
        xcds: XCDs of the GPU.
    """
    everything = shared.loaded * total
    if not different or not everything:
        return shared
    first = min(1.0, different * xcds / everything)
    near = min(shared.beyond_l2, 1 - (1 - first) * min(1.0, size / different))
    return replace(shared, beyond_l2=near, beyond_mall=min(shared.beyond_mall, near), on_xcd=different)


def _window(known: Sequence[Tile], together: int, size: float) -> int:
    """Return the number of consecutive workgroups whose distinct loaded bytes fit into the Infinity Cache."""
    listed = [(a.corners, a.tile_bytes * a.times) for a in known if isinstance(a.corners, list)]
    most = max((len(corners) for corners, _ in listed), default=together)
    held = sum(a.tile_bytes * a.times for a in known if not isinstance(a.corners, list))
    if held + sum(len(set(corners)) * moved for corners, moved in listed) <= size:
        return most
    new = [_first_uses(corners, moved) for corners, moved in listed]
    for number, loaded in enumerate(map(sum, zip(*new, strict=True))):
        held += loaded
        if held > size:
            return min(most, max(together, number))
    return most


def _first_uses(corners: Sequence[int], moved: float) -> list[float]:
    """Return the bytes of each workgroup's tile that no earlier workgroup in ``corners`` has loaded."""
    first: dict[int, int] = {}
    return [moved if first.setdefault(corner, number) == number else 0.0 for number, corner in enumerate(corners)]


def _missed(corners: Sequence[int], members: Sequence[int], window: int) -> float:
    """Return the share of tiles that none of the ``window`` previous workgroups has loaded.

    The share is computed for workgroups that have a full window before them. If there are too few of them, the share of
    distinct tiles in the first window is returned.
    """
    if len(members) < _MIN_WINDOWS * window:
        # bisect_left() can be used because members are sorted.
        first = members[: bisect_left(members, window)] or members
        return len({*map(corners.__getitem__, first)}) / len(first)
    last: dict[int, int] = {}
    missed = looked_at = 0
    for n in members:
        before = last.get(corners[n])
        if n >= window:
            looked_at += 1
            missed += before is None or n - before > window
        last[corners[n]] = n
    return missed / looked_at


def _unique(access: Tile, xcds: int, together: int, window: int, *, in_blocks: bool = False) -> tuple[float, float]:
    """Return the share of distinct tiles among the workgroups on one XCD, and among all workgroups in the GPU's window.

    If all workgroups load the same tile, the tile is loaded once.
    """
    corners, live = access.corners, access.live
    if not isinstance(corners, list):
        return min(1.0, xcds / together), 1 / window
    every = range(len(corners))
    at_work = every if live is None else list(compress(every, live)) or every
    running = at_work[: bisect_left(at_work, together)]
    parts = _on_xcds(running, xcds, together, in_blocks=in_blocks)
    each = [len({*map(corners.__getitem__, part)}) / len(part) for part in parts] or [1.0]
    return sum(each) / len(each), _missed(corners, at_work, window)


def _on_xcds(running: Sequence[int], xcds: int, together: int, *, in_blocks: bool) -> list[Sequence[int]]:
    """Return the running workgroups grouped by XCD, in the order in which XCDs get their first workgroup."""
    if not in_blocks and isinstance(running, range):
        return [running[first::xcds] for first in range(min(xcds, len(running)))]
    parts: dict[int, list[int]] = {}
    for n in running:
        parts.setdefault(n * xcds // together if in_blocks else n % xcds, []).append(n)
    return [*parts.values()]
