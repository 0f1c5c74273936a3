"""Lanes of a workgroup that load or store the same elements as others, because a tile is smaller than the workgroup."""

from collections.abc import Sequence

from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.memory.addressing import element_bytes, tile
from kprof_analyzers.memory.linear_layout import LANE, REGISTER, WARP, UnknownLayoutError, linear


def requested_and_distinct_bytes(access: Operation) -> tuple[int, int] | None:
    """Bytes that all lanes of a workgroup ask for with a tile, and bytes of its elements; ``None`` if not known."""
    held, size = tile(access), element_bytes(access)
    if held is None or size is None or held.layout is None:
        return None
    try:
        layout = linear(held.layout, held.shape)
    except UnknownLayoutError:
        return None
    registers = sum(any(basis) for basis in layout.bases[REGISTER])
    return size << (registers + len(layout.bases[LANE]) + len(layout.bases[WARP])), held.elements * size


def lanes_of(module: Module) -> int:
    """Lanes of a workgroup."""
    return (module.num_warps or 4) * (module.threads_per_warp or 64)


def widest(accesses: Sequence[Operation]) -> Operation | None:
    """The access with the largest tile, the first of several."""
    known = [(found.elements, access) for access in accesses if (found := tile(access)) is not None]
    return max(known, key=lambda pair: pair[0])[1] if known else None
