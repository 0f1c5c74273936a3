"""Matrix work that several wavefronts do alike, because a tile is smaller than what the workgroup covers."""

from collections.abc import Iterator
from dataclasses import dataclass

from kprof.inputs.mlir import Module, Operation, TensorType
from kprof_analyzers.memory.linear_layout import WARP, UnknownLayoutError, linear


@dataclass(frozen=True)
class DotProduct:
    """One ``tt.dot`` with the work that it takes.

    Attributes:
        operation: the dot.
        shape: M, N, K.
        copies: wavefronts that compute each element of the result.
    """

    operation: Operation
    shape: tuple[int, int, int]
    copies: int

    @property
    def flops(self) -> int:
        """Operations of the whole tile, copies not counted."""
        return 2 * self.shape[0] * self.shape[1] * self.shape[2]


def products(module: Module) -> Iterator[DotProduct]:
    """Every product inside a loop whose result layout is known."""
    for dot in module.named("tt.dot", "tt.dot_scaled"):
        result = next((t for t in dot.result_types if isinstance(t, TensorType)), None)
        left = next((t for t in dot.operand_types if isinstance(t, TensorType)), None)
        if dot.loop is None or result is None or left is None or result.layout is None:
            continue
        # A damaged module may have anything there.
        if len(result.shape) < 2 or not left.shape:
            continue
        try:
            layout = linear(result.layout, result.shape)
        except UnknownLayoutError:
            continue
        copies = 1 << sum(not any(basis) for basis in layout.bases[WARP])
        yield DotProduct(dot, (result.shape[-2], result.shape[-1], left.shape[-1]), copies)


def replication(module: Module) -> float:
    """How many times the matrix work of a kernel's loops is done, on average; 1 where there is none."""
    found = list(products(module))
    useful = sum(product.flops for product in found)
    return sum(product.flops * product.copies for product in found) / useful if useful else 1.0
