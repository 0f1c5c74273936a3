"""Compute sizes from layouts (elements and vectors per thread, bytes of LDS), and recognise operations that use LDS.

Before Triton 3.0, a buffer was a tensor with a shared layout, and ``convert_layout`` moved values to and from it. Newer
versions have a buffer type (``memdesc``) and separate operations on buffers.
"""

import math
import re

from kprof.inputs.mlir.layouts import (
    Blocked,
    DotOperand,
    Layout,
    Linear,
    Mfma,
    PaddedShared,
    RawLayout,
    RotatingShared,
    SharedLinear,
    Slice,
    SwizzledShared,
)
from kprof.inputs.mlir.model import Operation
from kprof.inputs.mlir.types import MemDesc, Pointer, TensorType, Type

# An alias whose definition is missing from the text keeps its name, such as ``#shared1``.
_SHARED_NAME = re.compile(r"(?:\w+_)?shared\d*")
_ALLOCATIONS = frozenset({"ttg.local_alloc", "ttg.alloc_tensor"})
_MADE_OF_VALUES = frozenset({"ttg.convert_layout", "arith.constant", "tt.cat"})
_STORES = frozenset({"ttg.local_store", "ttg.local_scatter", "ttg.local_atomic_scatter_rmw", "ttng.async_shared_store"})
_INSERTS = frozenset({"ttg.insert_slice", "tensor.insert_slice"})
_COPIES_IN = ("_to_local", ".insert_slice_async", ".insert_slice_tma", ".async_tdm_gather", ".async_tma_gather")
_LOADS = ("ttg.local_load", "ttg.local_gather", "amdg.local_load")
_COPIES_OUT = ("_local_to_global", ".async_tdm_scatter", ".async_tma_scatter", ".async_tma_reduce")
_PRODUCTS = frozenset({"tt.dot", "ttng.dot_async", "ttng.warp_group_dot", "ttng.tc_gen5_mma"})
_VIEWS = (
    *("ttg.memdesc_", "ttg.extract_slice", "ttg.subview", "tensor.extract_slice", "tt.trans", "tt.reshape"),
    *("arith.select", "ttg.async_wait", "ttng.warp_group_dot_wait", "ttng.dot_wait"),
)

Shape = tuple[int, ...]


def contiguous_per_thread(layout: Layout | None, shape: Shape) -> tuple[int, ...] | None:
    """Return, per dimension, the number of adjacent elements in consecutive registers of a thread; ``None`` if unknown.

    This is Triton's ``getContigPerThread``, limited to the tensor's size.
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
    """Return, per dimension, the number of adjacent elements in consecutive registers of a thread.

    The number follows from the lowest register bases that step 1, 2, 4, ... along one dimension. Return ``None`` if a
    register basis has another number of dimensions than ``rank``.
    """
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
    """Return the number of adjacent bytes in a thread's registers: the maximum width of this tensor's memory accesses.

    The actual instructions may be narrower: the hardware's maximum is 16 bytes, and the compiler must know that the
    addresses are adjacent and aligned.
    """
    runs = contiguous_per_thread(tensor.layout, tensor.shape)
    element = tensor.element.pointee if isinstance(tensor.element, Pointer) else tensor.element
    bits = getattr(element, "bits", None)
    if runs is None or bits is None or not runs:
        return None
    return int(max(runs) * bits // 8)


def lds_bytes(buffer: MemDesc) -> int | None:
    """Return the bytes of LDS that an allocation takes, including padding; ``None`` if the element has no width.

    Padding follows Triton's ``PaddedSharedEncodingAttr::getPaddedSize``: after every interval, but not after the end.
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


def is_in_lds(kind: Type) -> bool:
    """Return whether a value of this type is a buffer in LDS."""
    if isinstance(kind, MemDesc):
        return not (isinstance(kind.layout, RawLayout) and kind.layout.kind.startswith("tensor_memory"))
    return isinstance(kind, TensorType) and _is_shared(kind.layout)


def makes_buffer(op: Operation) -> bool:
    """Return whether an operation creates a new buffer."""
    return op.name in _ALLOCATIONS or (op.name in _MADE_OF_VALUES and any(map(is_in_lds, op.result_types)))


def writes_lds(op: Operation) -> bool:
    """Return whether an operation writes a value from registers to LDS."""
    if op.name in _STORES:
        return True
    if op.name == "ttg.local_alloc":
        return bool(op.operands)
    return op.name in _MADE_OF_VALUES | _INSERTS and any(map(is_in_lds, op.result_types))


def copies_to_lds(op: Operation) -> bool:
    """Return whether an operation copies from global memory to LDS without passing through registers."""
    return any(part in op.name for part in _COPIES_IN)


def reads_lds(op: Operation) -> bool:
    """Return whether an operation reads an LDS buffer: into registers, into a matrix product, or to global memory."""
    if op.name.startswith(_LOADS) or any(part in op.name for part in _COPIES_OUT):
        return True
    reading = op.name == "ttg.convert_layout" or op.name in _PRODUCTS
    return reading and any(map(is_in_lds, op.operand_types))


def is_view(op: Operation) -> bool:
    """Return whether an operation's result is its operand's buffer, or a part of it, under another name."""
    return op.name.startswith(_VIEWS)


def _is_shared(layout: Layout | None) -> bool:
    if isinstance(layout, RawLayout):
        return _SHARED_NAME.fullmatch(layout.kind) is not None
    return isinstance(layout, SwizzledShared | RotatingShared | PaddedShared | SharedLinear)
