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
    Wmma,
)
from kprof.inputs.mlir.types import MemDesc, Pointer, Tensor

Shape = tuple[int, ...]

_LANES_CDNA = 64
_LANES_RDNA = 32


def elements_per_thread(layout: Layout | None, shape: Shape) -> int | None:
    """Elements of a tensor that one thread holds in registers, copies included; ``None`` when not known.

    For blocked layouts this is Triton's ``getElemsPerThread``: whole tiles of ``size_per_thread``, even where the
    tensor is smaller than the tile.
    """
    if isinstance(layout, Linear):
        return 1 << len(layout.register)
    sizes = _per_dimension(layout, shape)
    return math.prod(sizes) if sizes is not None else None


def _per_dimension(layout: Layout | None, shape: Shape) -> tuple[int, ...] | None:
    if isinstance(layout, Slice):
        # The parent sees the tensor with one more dimension; of its registers only those that differ are kept.
        whole = _per_dimension(layout.parent, (*shape[: layout.dim], 1, *shape[layout.dim :]))
        return (*whole[: layout.dim], *whole[layout.dim + 1 :]) if whole else None
    if isinstance(layout, Blocked) and len(shape) == len(layout.order):
        tiles = zip(shape, layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta, strict=True)
        return tuple(_times(size, each * lanes * warps) * each for size, each, lanes, warps in tiles)
    if isinstance(layout, Mfma) and len(shape) == len(layout.warps_per_cta):
        return _matrix(shape, layout.instr_shape[:2], layout, _LANES_CDNA)
    if isinstance(layout, Wmma) and len(shape) == len(_warps(layout)):
        return _matrix(shape, layout.instr_shape[:2], layout, _LANES_RDNA)
    if isinstance(layout, DotOperand):
        return _operand(layout, shape)
    return None


def _matrix(shape: Shape, instruction: Shape, layout: Mfma | Wmma, lanes: int) -> tuple[int, ...]:
    """Result of matrix instructions: every lane holds M*N/lanes elements of each tile, all along one dimension."""
    m, n = instruction
    tiles = layout.tiles_per_warp or (1,) * len(shape)
    held = [1] * (len(shape) - 2)
    own = (1, m * n // lanes) if layout.is_transposed else (m * n // lanes, 1)
    whole = (*(1 for _ in held), m, n)
    each = (*held, *own)
    dimensions = zip(shape, whole, each, tiles, _warps(layout), strict=True)
    return tuple(
        _times(size, tile * many * warps) * many * elements for size, tile, elements, many, warps in dimensions
    )


def _warps(layout: Mfma | Wmma) -> tuple[int, ...]:
    """Warps a dimension, also where the text gives a basis for every bit of the warp's number."""
    if isinstance(layout, Mfma) or layout.warps_per_cta or not layout.warp_bases:
        return layout.warps_per_cta
    return tuple(1 << sum(basis[d] != 0 for basis in layout.warp_bases) for d in range(len(layout.warp_bases[0])))


def _operand(layout: DotOperand, shape: Shape) -> tuple[int, ...] | None:
    """Operand of an MFMA: along M or N as the result, along K ``k_width`` neighbours in each of 64/M lane groups."""
    parent = layout.parent
    if not isinstance(parent, Mfma) or not layout.k_width or len(shape) != 2:
        return None
    outer, inner = (0, 1) if layout.index == 0 else (1, 0)
    side = parent.instr_shape[outer]
    tiles = parent.tiles_per_warp[outer] if parent.tiles_per_warp else 1
    along = _times(shape[outer], side * tiles * parent.warps_per_cta[outer]) * tiles
    groups = max(1, _LANES_CDNA // side)
    depth = _times(shape[inner], layout.k_width * groups) * layout.k_width
    return (along, depth) if layout.index == 0 else (depth, along)


def _times(size: int, tile: int) -> int:
    return max(1, -(-size // tile)) if tile else 1


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


def _linear_runs(layout: Linear, rank: int) -> tuple[int, ...]:
    """The lowest register bits that step 1, 2, 4, ... along one dimension."""
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


def vector_bytes(tensor: Tensor) -> int | None:
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
