"""Measure redundant work of small tiles: products that several wavefronts compute, bytes that several lanes request."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kprof.inputs.mlir import Module, Operation, TensorType
from kprof_analyzers.memory.addressing import element_bytes, tile
from kprof_analyzers.memory.linear_layout import LANE, REGISTER, WARP, UnknownLayoutError, linear


@dataclass(frozen=True)
class DotProduct:
    """One ``tt.dot`` and its amount of work.

    Attributes:
        operation: the dot operation.
        shape: M, N, K.
        copies: number of wavefronts that compute each element of the result.
    """

    operation: Operation
    shape: tuple[int, int, int]
    copies: int

    @property
    def flops(self) -> int:
        """Floating-point operations of the whole tile, counted once regardless of copies."""
        return 2 * self.shape[0] * self.shape[1] * self.shape[2]


def products(module: Module) -> Iterator[DotProduct]:
    """Yield every product inside a loop whose result layout is known."""
    for dot in module.named("tt.dot", "tt.dot_scaled"):
        result = next((t for t in dot.result_types if isinstance(t, TensorType)), None)
        left = next((t for t in dot.operand_types if isinstance(t, TensorType)), None)
        if dot.loop is None or result is None or left is None or result.layout is None:
            continue
        # Skip tensors of an unexpected rank, which a damaged module may contain.
        if len(result.shape) < 2 or not left.shape:
            continue
        try:
            layout = linear(result.layout, result.shape)
        except UnknownLayoutError:
            continue
        copies = 1 << sum(not any(basis) for basis in layout.bases[WARP])
        yield DotProduct(dot, (result.shape[-2], result.shape[-1], left.shape[-1]), copies)


def replication(module: Module) -> float:
    """Return the mean number of wavefronts that compute each element of the products in loops; 1 without products."""
    found = list(products(module))
    useful = sum(product.flops for product in found)
    return sum(product.flops * product.copies for product in found) / useful if useful else 1.0


def requested_and_distinct_bytes(access: Operation) -> tuple[int, int] | None:
    """Return the bytes that all lanes of a workgroup request for a tile, and the tile's size; ``None`` if unknown."""
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
    """Return the number of lanes of a workgroup."""
    return (module.num_warps or 4) * (module.threads_per_warp or 64)


def widest(accesses: Sequence[Operation]) -> Operation | None:
    """Return the access with the largest tile; the first one if several are equally large."""
    known = [(found.elements, access) for access in accesses if (found := tile(access)) is not None]
    return max(known, key=lambda pair: pair[0])[1] if known else None
