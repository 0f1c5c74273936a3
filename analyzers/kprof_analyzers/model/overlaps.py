"""Find loads of a workgroup whose tiles overlap earlier ones, shifted by elements or rows as in a convolution."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import element_bytes, strides, tile
from kprof_analyzers.memory.dataflow import is_load
from kprof_analyzers.model.values import Value

Layout = tuple[tuple[int, int], ...]
"""Extent and stride of each axis of a tile, both in elements, in order of decreasing stride."""


def fresh_shares(
    found: Sequence[tuple[Operation, Value | None]],
    live: Mapping[int, float],
    arguments: Mapping[str, object],
) -> dict[int, float]:
    """Return the share of each load's tile that no earlier load of the workgroup has fetched, by index of the load.

    Loads without overlap are omitted. Loads are compared if they are in the same loop or branch and have tiles of the
    same shape. Of several earlier loads, the one with the largest overlap counts.

    Args:
        found: loads and stores with the address of their first element for each workgroup, or ``None`` if unknown.
        live: share of the elements that pass the mask, by index of the load; 1 if missing.
        arguments: numeric arguments of the launch, by name.
    """
    groups: dict[object, list[tuple[Value, float]]] = defaultdict(list)
    shares: dict[int, float] = {}
    for op, corner in found:
        if not is_load(op) or corner is None or (layout := _layout(op, arguments)) is None:
            continue
        before = groups[op.loop, op.parent, op.region, op.block, element_bytes(op), layout]
        mine = live.get(op.index, 1.0)
        held = (
            (1 - _fresh(corner, earlier, layout)) * (min(1.0, theirs / mine) if mine else 1.0)
            for earlier, theirs in before
        )
        fresh = 1 - max(held, default=0.0)
        if fresh < 1:
            shares[op.index] = fresh
        before.append((corner, mine))
    return shares


def _layout(op: Operation, arguments: Mapping[str, object]) -> Layout | None:
    shape, steps = tile(op), strides(op)
    if shape is None or steps is None:
        return None
    found = []
    for axis, extent in enumerate(shape.shape):
        step = steps.get(axis)
        apart = step.value(arguments) if step is not None else None
        if extent > 1 and not apart:
            return None
        if extent > 1 and apart:
            found.append((extent, abs(apart)))
    return tuple(sorted(found, key=lambda axis: -axis[1]))


def _fresh(corner: Value, earlier: Value, layout: Layout) -> float:
    """Return the share of a tile at ``corner`` that the same tile at ``earlier`` does not contain.

    The result is 1 if the distance of the two addresses differs among workgroups.
    """
    one, other = ([value] if isinstance(value, int) else value for value in (corner, earlier))
    apart = {a - b for a, b in zip(one, other, strict=True)} if len(one) == len(other) else set()
    return _outside(abs(apart.pop()), layout) if len(apart) == 1 else 1.0


def _outside(distance: int, layout: Layout) -> float:
    """Return the share of a tile's elements that a shift by ``distance`` elements moves out of the original tile.

    The result is 1 if the distance is not a sum of whole steps along the tile's axes.
    """
    inside = 1.0
    for extent, apart in layout:
        steps, distance = divmod(distance, apart)
        inside *= max(0.0, 1 - steps / extent)
    return 1 - inside if not distance else 1.0
