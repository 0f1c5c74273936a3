"""Sizes that follow from layouts: elements and vectors of a thread, bytes of LDS."""

import math

from kprof.inputs.mlir.layouts import (
    Blocked,
    DotOperand,
    Layout,
    Linear,
    Mfma,
    PaddedShared,
    RawLayout,
    Slice,
)
from kprof.inputs.mlir.types import MemDesc, Pointer, TensorType

Shape = tuple[int, ...]


def contiguous_per_thread(layout: Layout | None, shape: Shape) -> tuple[int, ...] | None:
    """Neighbouring elements along each dimension that follow each other in a thread's registers; ``None`` if unknown.

    Triton's ``getContigPerThread``, not larger than the tensor.
    """
    found: tuple[int, ...] | None = None
    if isinstance(layout, Blocked):
        found = layout.size_per_thread
    elif isinstance(layout, Linear):
        found = _linear_runs(layout, len(shape))
    elif isinstance(layout, Mfma):
        found = (*(1,) * (len(shape) - 2), *((1, 4) if layout.is_transposed else (4, 1)))
    elif isinstance(layout, Slice):
        whole = contiguous_per_thread(layout.parent, (*shape[: layout.dim], 1, *shape[layout.dim :]))
        found = (*whole[: layout.dim], *whole[layout.dim + 1 :]) if whole else None
    elif isinstance(layout, DotOperand) and layout.k_width and len(shape) == 2:
        found = (1, layout.k_width) if layout.index == 0 else (layout.k_width, 1)
    if found is None or len(found) != len(shape):
        return None
    return tuple(min(run, size) for run, size in zip(found, shape, strict=True))


def _linear_runs(layout: Linear, rank: int) -> tuple[int, ...] | None:
    """The lowest register bits that step 1, 2, 4, ... along one dimension; ``None`` where a step is of another rank."""
    if any(len(step) != rank for step in layout.register):
        return None
    runs = [1] * rank
    if not layout.register:
        return tuple(runs)
    first = layout.register[0]
    dim = next((d for d, step in enumerate(first) if step == 1), None)
    if dim is None or sum(first) != 1:
        return tuple(runs)
    for bit, basis in enumerate(layout.register):
        if sum(basis) != basis[dim] or basis[dim] != 1 << bit:
            break
        runs[dim] *= 2
    return tuple(runs)


def vector_bytes(tensor: TensorType) -> int | None:
    """Bytes next to each other in a thread's registers: the widest that a memory access of this tensor can be.

    What is accessed in one instruction is this or less: 16 bytes are the most the hardware has, and the compiler must
    know that the addresses are neighbours and aligned.
    """
    runs = contiguous_per_thread(tensor.layout, tensor.shape)
    element = tensor.element.pointee if isinstance(tensor.element, Pointer) else tensor.element
    bits = getattr(element, "bits", None)
    if runs is None or bits is None or not runs:
        return None
    return int(max(runs) * bits // 8)


def lds_bytes(buffer: MemDesc) -> int | None:
    """Bytes of LDS that an allocation takes, padding included; ``None`` when the element has no width.

    Padding as in Triton's ``PaddedSharedEncodingAttr::getPaddedSize``: after every interval, but not after the end.
    """
    bits = getattr(buffer.element, "bits", None)
    if bits is None or isinstance(buffer.layout, RawLayout):
        return None
    elements = math.prod(buffer.alloc_shape or buffer.shape)
    if isinstance(buffer.layout, PaddedShared):
        plain = elements
        for interval, padding in buffer.layout.paddings:
            if interval <= 0:
                return None
            elements += plain // interval * padding
            elements -= padding if plain and plain % interval == 0 else 0
    return int((elements * bits + 7) // 8)
