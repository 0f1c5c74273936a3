"""Loads of a workgroup that overlap earlier ones: shifted by some elements or rows, as windows of a convolution are."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import element_bytes, strides, tile
from kprof_analyzers.memory.dataflow import is_load
from kprof_analyzers.model.values import Value

Layout = tuple[tuple[int, int], ...]
"""Extent and elements apart of each axis, the largest step first."""


def fresh_shares(
    found: Sequence[tuple[Operation, Value | None]],
    live: Mapping[int, float],
    arguments: Mapping[str, object],
) -> dict[int, float]:
    """Index of a load to the share of its tile that no earlier load of the same workgroup has fetched, below 1.

    Loads are compared where they are done equally often (in one loop or branch) and have tiles of one shape. Of several
    earlier loads the one with most in common counts.

    Args:
        found: loads and stores with the address of their first element, for each workgroup; ``None``: not known.
        live: index of a load to the share of it that its mask lets through, where that is below 1.
        arguments: numbers that the launch passes, by name.
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
    """Share of a tile that the same tile, begun elsewhere, does not hold; 1 where workgroups differ in that."""
    one, other = ([value] if isinstance(value, int) else value for value in (corner, earlier))
    apart = {a - b for a, b in zip(one, other, strict=True)} if len(one) == len(other) else set()
    return _outside(abs(apart.pop()), layout) if len(apart) == 1 else 1.0


def _outside(distance: int, layout: Layout) -> float:
    """Share of a tile that is moved out of its old place, by steps along its axes that make the distance."""
    inside = 1.0
    for extent, apart in layout:
        steps, distance = divmod(distance, apart)
        inside *= max(0.0, 1 - steps / extent)
    return 1 - inside if not distance else 1.0
