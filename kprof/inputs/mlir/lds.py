"""Which operations make, write and read buffers in LDS.

Before Triton 3.0 a buffer was a tensor with a shared layout, and ``convert_layout`` moved values to and from it. Since
then a buffer has a type of its own (``memdesc``) and operations of its own.
"""

import re

from kprof.inputs.mlir.layouts import Layout, PaddedShared, RawLayout, RotatingShared, SharedLinear, SwizzledShared
from kprof.inputs.mlir.model import Operation
from kprof.inputs.mlir.types import MemDesc, TensorType, Type

# An alias whose definition is not in the text keeps its name: ``#shared1``.
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


def is_in_lds(kind: Type) -> bool:
    """Whether a value of this type is a buffer in LDS."""
    if isinstance(kind, MemDesc):
        return not (isinstance(kind.layout, RawLayout) and kind.layout.kind.startswith("tensor_memory"))
    return isinstance(kind, TensorType) and _is_shared(kind.layout)


def makes_buffer(op: Operation) -> bool:
    """Whether an operation makes a new buffer."""
    return op.name in _ALLOCATIONS or (op.name in _MADE_OF_VALUES and any(map(is_in_lds, op.result_types)))


def writes_lds(op: Operation) -> bool:
    """Whether an operation writes a value from registers to LDS."""
    if op.name in _STORES:
        return True
    if op.name == "ttg.local_alloc":
        return bool(op.operands)
    return op.name in _MADE_OF_VALUES | _INSERTS and any(map(is_in_lds, op.result_types))


def copies_to_lds(op: Operation) -> bool:
    """Whether an operation copies from global memory to LDS without registers in between."""
    return any(part in op.name for part in _COPIES_IN)


def reads_lds(op: Operation) -> bool:
    """Whether an operation reads a buffer of LDS: into registers, into a product, or out to global memory."""
    if op.name.startswith(_LOADS) or any(part in op.name for part in _COPIES_OUT):
        return True
    reading = op.name == "ttg.convert_layout" or op.name in _PRODUCTS
    return reading and any(map(is_in_lds, op.operand_types))


def is_view(op: Operation) -> bool:
    """Whether the result of an operation is its operand's buffer, or a part of it, under another name."""
    return op.name.startswith(_VIEWS)


def _is_shared(layout: Layout | None) -> bool:
    if isinstance(layout, RawLayout):
        return _SHARED_NAME.fullmatch(layout.kind) is not None
    return isinstance(layout, SwizzledShared | RotatingShared | PaddedShared | SharedLinear)
