"""Represent layouts as linear maps: from register, lane and warp to the coordinates of the element held there.

Every distributed layout of Triton is linear over GF(2): the element at hardware index ``i`` is the exclusive-or of one
basis vector for each bit set in ``i``. Basis vectors are element coordinates, one tuple per bit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kprof.inputs.mlir.layouts import Blocked, DotOperand, Layout, Linear, Mfma, Slice, Wmma

Basis: TypeAlias = tuple[int, ...]
REGISTER, LANE, WARP = "register", "lane", "warp"


class UnknownLayoutError(ValueError):
    """The layout has no linear form, or none is implemented; the message names the layout."""


@dataclass(frozen=True)
class LinearLayout:
    """A linear map from ``register``, ``lane`` and ``warp`` to the coordinates of a tensor.

    Attributes:
        bases: for each hardware dimension, the basis vectors of its index bits, lowest bit first.
        shape: size of each tensor dimension, a power of two.
    """

    bases: Mapping[str, tuple[Basis, ...]]
    shape: tuple[int, ...]

    def size(self, dimension: str) -> int:
        """Return the number of indices of a hardware dimension: registers per lane, lanes or warps."""
        return 1 << len(self.bases[dimension])

    def element(self, register: int = 0, lane: int = 0, warp: int = 0) -> Basis:
        """Return the coordinates of the element that a register of a lane of a warp holds."""
        found = [0] * len(self.shape)
        for dimension, index in ((REGISTER, register), (LANE, lane), (WARP, warp)):
            for bit, basis in enumerate(self.bases[dimension]):
                if index >> bit & 1:
                    for axis, step in enumerate(basis):
                        found[axis] ^= step
        return tuple(found)


def linear(layout: Layout, shape: Sequence[int]) -> LinearLayout:
    """Return the linear form of a distributed layout for a tensor of ``shape``.

    Raises:
        UnknownLayoutError: the layout is not a supported distributed layout, does not fit the shape, or has a count or
            size that is not a power of two.
    """
    sizes = tuple(shape)
    if any(size < 1 or size & (size - 1) for size in sizes):
        raise UnknownLayoutError(f"shape {sizes} is not made of powers of two")
    unfit = UnknownLayoutError(f"{type(layout).__name__} does not fit a tensor of {len(sizes)} dimensions")
    try:
        found = _linear(layout, sizes)
    except IndexError:
        raise unfit from None
    if any(len(basis) != len(sizes) for bases in found.bases.values() for basis in bases):
        raise unfit
    return found


def _linear(layout: Layout, sizes: tuple[int, ...]) -> LinearLayout:
    if isinstance(layout, Blocked):
        return _blocked(layout, sizes)
    if isinstance(layout, Slice):
        return _slice(layout, sizes)
    if isinstance(layout, Mfma):
        return _mfma(layout, sizes)
    if isinstance(layout, Wmma):
        return _wmma(layout, sizes)
    if isinstance(layout, DotOperand):
        return _dot_operand(layout, sizes)
    if isinstance(layout, Linear):
        bases = {REGISTER: layout.register, LANE: layout.lane, WARP: layout.warp}
        return LinearLayout(bases, sizes)
    raise UnknownLayoutError(f"{type(layout).__name__} is not a distributed layout that is known here")


class _Builder:
    """Builds a layout step by step: each call extends the tile of placed elements along an axis."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.extent = [1] * rank
        self.bases: dict[str, list[Basis]] = {REGISTER: [], LANE: [], WARP: []}

    def place(self, dimension: str, count: int, axis: int) -> None:
        """Extend the tile along ``axis`` to ``count`` times its size, with more indices of a hardware dimension."""
        for _ in range(_bits(count)):
            self.bases[dimension].append(self._unit(axis, self.extent[axis]))
            self.extent[axis] *= 2

    def repeat(self, dimension: str, count: int) -> None:
        """Multiply the indices of a hardware dimension by ``count``; the new indices hold copies of placed elements."""
        self.bases[dimension].extend([(0,) * self.rank] * _bits(count))

    def place_all(self, dimension: str, counts: Sequence[int], order: Sequence[int]) -> None:
        """Place ``counts`` indices along each axis, in the given order of axes (the fastest-varying axis first)."""
        for axis in order:
            self.place(dimension, counts[axis], axis)

    def step(self, dimension: str, axis: int, distance: int) -> None:
        """Append one index bit to a hardware dimension; the bit moves by ``distance`` elements along ``axis``.

        Unlike :meth:`place`, this does not depend on the elements that are already placed.
        """
        self.bases[dimension].append(self._unit(axis, distance))
        self.extent[axis] = max(self.extent[axis], 2 * distance)

    def fit(self, shape: Sequence[int], order: Sequence[int], *, keep: bool = True) -> LinearLayout:
        """Fit the tile to a tensor: add registers if the tensor is larger, wrap coordinates if it is smaller.

        If ``keep`` is true, registers whose elements wrap around remain, because matrix instructions always produce
        complete results. Otherwise they are dropped, as in a blocked layout.
        """
        for axis in order:
            if self.extent[axis] < shape[axis]:
                self.place(REGISTER, shape[axis] // self.extent[axis], axis)
        bases = {name: tuple(_wrap(basis, shape) for basis in found) for name, found in self.bases.items()}
        if not keep:
            bases[REGISTER] = tuple(basis for basis in bases[REGISTER] if any(basis))
        return LinearLayout(bases, tuple(shape))

    def _unit(self, axis: int, distance: int) -> Basis:
        return tuple(distance if other == axis else 0 for other in range(self.rank))


def _bits(count: int) -> int:
    """Return the number of bits of an index that has ``count`` values."""
    if count < 1 or count & (count - 1):
        raise UnknownLayoutError(f"a layout with a count of {count}, which is no power of two, is not linear")
    return count.bit_length() - 1


def _wrap(basis: Basis, shape: Sequence[int]) -> Basis:
    return tuple(step if step < size else 0 for step, size in zip(basis, shape, strict=True))


def _row_major(rank: int) -> list[int]:
    return list(range(rank - 1, -1, -1))


def _blocked(layout: Blocked, shape: tuple[int, ...]) -> LinearLayout:
    builder = _Builder(len(shape))
    builder.place_all(REGISTER, layout.size_per_thread, layout.order)
    builder.place_all(LANE, layout.threads_per_warp, layout.order)
    builder.place_all(WARP, layout.warps_per_cta, layout.order)
    return builder.fit(shape, layout.order, keep=False)


def _slice(layout: Slice, shape: tuple[int, ...]) -> LinearLayout:
    """Drop one axis of the parent layout. Registers that differ only along this axis are merged into one."""
    whole = (*shape[: layout.dim], 1, *shape[layout.dim :])
    parent = linear(layout.parent, whole)
    bases = {
        name: tuple(basis[: layout.dim] + basis[layout.dim + 1 :] for basis in found)
        for name, found in parent.bases.items()
    }
    bases[REGISTER] = tuple(basis for basis in bases[REGISTER] if any(basis))
    return LinearLayout(bases, shape)


def _place_result(builder: _Builder, across: int, down: int, size: tuple[int, int]) -> None:
    """Place one MFMA result tile: lanes along axis ``across``, and registers in groups of four along axis ``down``.

    Source: the register maps of AMD's matrix instruction calculator. For 32x32, lanes 32..63 hold rows 4 to 7 of every
    eight. For 16x16, each group of 16 lanes holds four rows. 4x4x16 blocks have Triton's 64x4 and 4x64 form.
    """
    columns, rows = size
    builder.place(REGISTER, 4, down)
    builder.place(LANE, columns, across)
    builder.place(LANE, 64 // columns, down)
    builder.place(REGISTER, max(1, rows // builder.extent[down]), down)


def _mfma(layout: Mfma, shape: tuple[int, ...]) -> LinearLayout:
    rank = len(shape)
    m, n = rank - 2, rank - 1
    builder = _Builder(rank)
    height, width = layout.instr_shape[0], layout.instr_shape[1]
    if 4 in {height, width} and any(count > 1 for count in layout.tiles_per_warp):
        raise UnknownLayoutError(f"several {height}x{width} MFMA tiles in a warp are not known here")
    if layout.element_bits == 64:
        _place_double(builder, layout, (height, width))
    elif layout.is_transposed:
        _place_result(builder, m, n, (height, width))
    else:
        _place_result(builder, n, m, (width, height))
    _place_warps(builder, layout, shape)
    return builder.fit(shape, _row_major(rank))


def _place_double(builder: _Builder, layout: Mfma, size: tuple[int, int]) -> None:
    """Place result tiles of FP64: 16x16, where the registers of a lane hold rows at a distance of 4."""
    if size != (16, 16):
        raise UnknownLayoutError(f"FP64 MFMA tiles of {size[0]}x{size[1]} are not known here")
    m, n = builder.rank - 2, builder.rank - 1
    across, down = (m, n) if layout.is_transposed else (n, m)
    builder.place(LANE, 16, across)
    builder.place(LANE, 4, down)
    builder.place(REGISTER, 4, down)


def _place_warps(builder: _Builder, layout: Mfma, shape: Sequence[int]) -> None:
    """Place the tiles of a warp, the warps, and repetitions over the tensor, axis by axis from the last one."""
    for axis in _row_major(builder.rank):
        if layout.tiles_per_warp:
            builder.place(REGISTER, layout.tiles_per_warp[axis], axis)
        builder.place(WARP, layout.warps_per_cta[axis], axis)
        builder.place(REGISTER, max(1, shape[axis] // builder.extent[axis]), axis)


def _wmma(layout: Wmma, shape: tuple[int, ...]) -> LinearLayout:
    rank = len(shape)
    m, n = rank - 2, rank - 1
    builder = _Builder(rank)
    across, down = (m, n) if layout.is_transposed else (n, m)
    builder.place(LANE, 16, across)
    if layout.version == 1:
        # gfx11: the upper 16 lanes hold the odd rows.
        builder.place(LANE, 2, down)
        builder.place(REGISTER, 8, down)
    else:
        # gfx12: the lanes from 16 on hold rows 8 to 15.
        builder.place(REGISTER, 8, down)
        builder.place(LANE, 2, down)
    _wmma_tiles(builder, layout, layout.instr_shape[:2])
    return builder.fit(shape, _row_major(rank))


def _wmma_tiles(builder: _Builder, layout: Wmma, tile: Sequence[int], skip: int | None = None) -> None:
    """Place the tiles of each warp, then the warps; all warps along the axis ``skip`` hold the same elements."""
    if not layout.warp_bases and not layout.register_bases:
        order = _row_major(builder.rank)
        if layout.tiles_per_warp:
            counts = [1 if axis == skip else c for axis, c in enumerate(layout.tiles_per_warp)]
            builder.place_all(REGISTER, counts, order)
        for axis in order:
            count = layout.warps_per_cta[axis]
            if axis == skip:
                builder.repeat(WARP, count)
            else:
                builder.place(WARP, count, axis)
        return
    for name, found in ((REGISTER, layout.register_bases), (WARP, layout.warp_bases)):
        for basis in found:
            _place_tile_basis(builder, name, basis, tile, skip)


def _place_tile_basis(builder: _Builder, name: str, basis: Basis, tile: Sequence[int], skip: int | None) -> None:
    axes = [axis for axis, step in enumerate(basis) if step]
    if not axes or axes == [skip]:
        if name == WARP:
            builder.repeat(WARP, 2)
        return
    axis = axes[0]
    builder.step(name, axis, basis[axis] * tile[axis - (builder.rank - 2)])


def _dot_operand(layout: DotOperand, shape: tuple[int, ...]) -> LinearLayout:
    parent = layout.parent
    if isinstance(parent, Mfma):
        return _mfma_operand(layout, parent, shape)
    if isinstance(parent, Wmma):
        return _wmma_operand(layout, parent, shape)
    if isinstance(parent, Blocked):
        return _blocked_operand(layout, parent, shape)
    raise UnknownLayoutError(f"operands of a {type(parent).__name__} result are not known here")


def _axes(layout: DotOperand, rank: int) -> tuple[int, int]:
    """Return the indices of a matrix operand's K axis and of its other axis, M or N."""
    return (rank - 1, rank - 2) if layout.index == 0 else (rank - 2, rank - 1)


def _mfma_operand(layout: DotOperand, parent: Mfma, shape: tuple[int, ...]) -> LinearLayout:
    """Place an MFMA operand: a lane holds ``k_width`` neighbours along K; lanes cover the other axis first, then K."""
    rank = len(shape)
    k, other = _axes(layout, rank)
    size = parent.instr_shape[0 if layout.index == 0 else 1]
    if size not in {16, 32}:
        raise UnknownLayoutError(
            f"operands of a {parent.instr_shape[0]}x{parent.instr_shape[1]} MFMA are not known here"
        )
    builder = _Builder(rank)
    builder.place(REGISTER, layout.k_width, k)
    builder.place(LANE, size, other)
    builder.place(LANE, 64 // size, k)
    if shape[k] > builder.extent[k]:
        builder.place(REGISTER, shape[k] // builder.extent[k], k)
    tiles = [1 if axis == k else count for axis, count in enumerate(parent.tiles_per_warp)]
    if tiles:
        builder.place_all(REGISTER, tiles, _row_major(rank))
    for axis in _row_major(rank):
        if axis == k:
            builder.repeat(WARP, parent.warps_per_cta[axis])
        else:
            builder.place(WARP, parent.warps_per_cta[axis], axis)
    return builder.fit(shape, [k, other, *range(rank - 2)])


def _wmma_operand(layout: DotOperand, parent: Wmma, shape: tuple[int, ...]) -> LinearLayout:
    """Place a WMMA operand: in gfx11 both halves of a wavefront hold it; in gfx12 and gfx1250 each has half of K."""
    rank = len(shape)
    k, other = _axes(layout, rank)
    builder = _Builder(rank)
    depth = parent.instr_shape[2] if len(parent.instr_shape) > 2 else 16
    builder.place(REGISTER, layout.k_width, k)
    builder.place(LANE, 16, other)
    if parent.version == 1:
        builder.repeat(LANE, 2)
    else:
        builder.place(LANE, 2, k)
    builder.place(REGISTER, max(1, depth // builder.extent[k]), k)
    _wmma_tiles(builder, parent, parent.instr_shape[:2], skip=k)
    return builder.fit(shape, [k, other, *range(rank - 2)])


def _blocked_operand(layout: DotOperand, parent: Blocked, shape: tuple[int, ...]) -> LinearLayout:
    """Place the operand of an FMA dot: every lane holds all elements along K for its rows (or columns)."""
    rank = len(shape)
    k, _other = _axes(layout, rank)
    builder = _Builder(rank)
    for axis in parent.order:
        builder.place(REGISTER, shape[k] if axis == k else parent.size_per_thread[axis], axis)
    for name, counts in ((LANE, parent.threads_per_warp), (WARP, parent.warps_per_cta)):
        for axis in parent.order:
            if axis == k:
                builder.repeat(name, counts[axis])
            else:
                builder.place(name, counts[axis], axis)
    return builder.fit(shape, parent.order, keep=False)
