"""Distributed layouts against formulas in plain arithmetic, for registers of lanes of warps.

The formulas are independent of bits and bases. Those of matrix instructions are the ones of AMD's matrix instruction
calculator and of the RDNA instruction set documents; how tiles repeat is described in Triton's
``TritonGPUAttrDefs.td``: tiles of a warp, then warps, then repetitions, the last axis first.
"""

import itertools
import random
from dataclasses import dataclass, field

import pytest

from kprof.inputs.mlir.layouts import Blocked, DotOperand, Linear, Mfma, Slice, SwizzledShared, Wmma
from kprof_analyzers.memory.linear_layout import LANE, REGISTER, WARP, UnknownLayoutError, linear


@dataclass
class Digits:
    """Takes an index apart, lowest digit first, and adds what each digit is worth along an axis.

    Attributes:
        index: hardware dimension to what is left of its index.
        position: coordinates so far.
    """

    index: dict[str, int]
    position: list[int] = field(default_factory=lambda: [0, 0])

    def take(self, dimension, count, axis=0, step=0):
        """The next digit, of ``count`` values; each moves on by ``step`` along ``axis``."""
        self.index[dimension], digit = divmod(self.index[dimension], count)
        self.position[axis] += digit * step


def check(layout, shape, registers, formula):
    """Compare elements with ``formula(digits)``, wrapped round at the edges of the tensor.

    Compared are a hundred drawn indexes and those with a single bit set.
    """
    found = linear(layout, shape)
    assert found.shape == shape
    sizes = [found.size(dimension) for dimension in (REGISTER, LANE, WARP)]
    assert sizes[0] == registers
    pick = random.Random(1)
    bits = [
        [1 << bit if place == at else 0 for at in range(3)]
        for place in range(3)
        for bit in range(sizes[place].bit_length() - 1)
    ]
    for register, lane, warp in bits + [[pick.randrange(size) for size in sizes] for _ in range(100)]:
        digits = Digits({REGISTER: register, LANE: lane, WARP: warp}, [0] * len(shape))
        formula(digits)
        assert set(digits.index.values()) == {0}
        expected = tuple(at % size for at, size in zip(digits.position, shape, strict=True))
        assert found.element(register, lane, warp) == expected, (register, lane, warp)


def blocked_formula(layout, shape):
    """Blocks of a thread, threads, warps, repetitions; the fastest axis first. Also the number of registers."""
    sizes = [min(own, size) for own, size in zip(layout.size_per_thread, shape, strict=True)]
    whole = [
        own * lanes * warps
        for own, lanes, warps in zip(layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta, strict=True)
    ]
    again = [max(1, size // covered) for size, covered in zip(shape, whole, strict=True)]

    def formula(digits):
        for axis in layout.order:
            digits.take(REGISTER, sizes[axis], axis, 1)
        for axis in layout.order:
            digits.take(LANE, layout.threads_per_warp[axis], axis, layout.size_per_thread[axis])
        for axis in layout.order:
            step = layout.size_per_thread[axis] * layout.threads_per_warp[axis]
            digits.take(WARP, layout.warps_per_cta[axis], axis, step)
        for axis in layout.order:
            digits.take(REGISTER, again[axis], axis, whole[axis])

    count = 1
    for number in (*sizes, *again):
        count *= number
    return count, formula


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        (Blocked((1, 4), (8, 8), (4, 1), (1, 0)), (64, 128)),
        (Blocked((4, 2), (2, 32), (1, 2), (0, 1)), (16, 256)),
        (Blocked((8, 1), (16, 4), (2, 2), (0, 1)), (4, 4)),
        (Blocked((1, 2, 4), (2, 4, 8), (2, 1, 2), (2, 0, 1)), (8, 16, 64)),
        (Blocked((4,), (64,), (4,), (0,)), (2048,)),
    ],
)
def test_blocked(layout, shape):
    check(layout, shape, *blocked_formula(layout, shape))


@pytest.mark.parametrize("dim", [0, 1])
def test_a_slice_has_what_is_left_of_its_parents_coordinates(dim):
    """The parent of a tensor of one row or column, without the coordinate that is always 0."""
    parent = Blocked((2, 4), (8, 8), (2, 2), (1, 0))
    kept = 1 - dim
    whole = (1, 256) if dim == 0 else (256, 1)
    registers, formula = blocked_formula(parent, whole)

    def sliced(digits):
        inner = Digits(digits.index)
        formula(inner)
        digits.position[0] = inner.position[kept]

    check(Slice(dim, parent), (256,), registers, sliced)


def test_a_slice_of_three_dimensions_keeps_two():
    """Registers that run along one of the axes that are kept stay, those along the axis that is dropped do not."""
    found = linear(Slice(1, Blocked((2, 2, 2), (4, 4, 4), (1, 1, 1), (2, 1, 0))), (8, 8))
    assert found.bases[REGISTER] == ((0, 1), (1, 0))
    assert found.bases[LANE] == ((0, 2), (0, 4), (0, 0), (0, 0), (2, 0), (4, 0))


RESULTS = {
    # Column: lane % 32. Row: four neighbours in registers, the two halves of a wavefront, then every eighth.
    (32, 32): ((REGISTER, 4, 0, 1), (LANE, 32, 1, 1), (LANE, 2, 0, 4), (REGISTER, 4, 0, 8)),
    # Column: lane % 16. Row: 4 * (lane // 16) + register.
    (16, 16): ((REGISTER, 4, 0, 1), (LANE, 16, 1, 1), (LANE, 4, 0, 4)),
    # 64 columns, one a lane, of four rows.
    (4, 64): ((REGISTER, 4, 0, 1), (LANE, 64, 1, 1)),
    # Four columns; each four lanes hold four rows more.
    (64, 4): ((REGISTER, 4, 0, 1), (LANE, 4, 1, 1), (LANE, 16, 0, 4)),
}


def swapped(digits):
    """A tile with rows and columns exchanged."""
    return [(dimension, count, 1 - axis, step) for dimension, count, axis, step in digits]


def mfma_result(layout, shape, tile, rank=2):
    """Registers of a lane, and the element: the tile, then tiles, warps and repetitions, columns first."""
    size = layout.instr_shape[:2]
    tiles = layout.tiles_per_warp or (1,) * rank
    extent = [1] * (rank - 2) + list(size)
    again = [max(1, shape[a] // (extent[a] * tiles[a] * layout.warps_per_cta[a])) for a in range(rank)]

    def formula(digits):
        for dimension, count, axis, step in tile:
            digits.take(dimension, count, axis + rank - 2, step)
        for axis in reversed(range(rank)):
            step = extent[axis]
            digits.take(REGISTER, tiles[axis], axis, step)
            digits.take(WARP, layout.warps_per_cta[axis], axis, step * tiles[axis])
            digits.take(REGISTER, again[axis], axis, step * tiles[axis] * layout.warps_per_cta[axis])

    registers = 1
    for dimension, count, *_ in tile:
        registers *= count if dimension == REGISTER else 1
    for number in (*tiles, *again):
        registers *= number
    return registers, formula


@pytest.mark.parametrize("shape", [(64, 128), (128, 64), (16, 16)])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(
    ("size", "warps", "tiles"),
    [
        ((32, 32), (2, 2), ()),
        ((32, 32), (1, 4), (2, 1)),
        ((16, 16), (4, 1), (1, 2)),
        ((16, 16), (2, 2), (2, 2)),
        ((4, 64), (1, 2), ()),
        ((64, 4), (2, 1), (1, 1)),
    ],
)
def test_results_of_mfma(size, warps, tiles, transposed, shape):
    """A transposed tile is that of the exchanged shape, with rows and columns exchanged."""
    tile = swapped(RESULTS[size[::-1]]) if transposed else RESULTS[size]
    layout = Mfma(3, warps, (*size, 8), transposed, tiles)
    check(layout, shape, *mfma_result(layout, shape, tile))


@pytest.mark.parametrize("transposed", [False, True])
def test_results_of_mfma_in_fp64(transposed):
    """Row: 4 * register + lane // 16, source: the calculator's v_mfma_f64_16x16x4_f64 of gfx90a."""
    tile = ((LANE, 16, 1, 1), (LANE, 4, 0, 1), (REGISTER, 4, 0, 4))
    layout = Mfma(2, (2, 2), (16, 16, 4), transposed, (), 64)
    check(layout, (64, 32), *mfma_result(layout, (64, 32), swapped(tile) if transposed else tile))


def test_results_of_a_batch_of_mfma():
    """Three dimensions: the first one has warps and repetitions, and no part of a tile."""
    layout = Mfma(3, (2, 1, 2), (16, 16, 16), False, ())
    check(layout, (8, 32, 64), *mfma_result(layout, (8, 32, 64), RESULTS[16, 16], rank=3))


@pytest.mark.parametrize(("index", "size", "width"), [*itertools.product((0, 1), (16, 32), (4, 8))])
@pytest.mark.parametrize("depth", [16, 256])
@pytest.mark.parametrize("tiles", [(), (2, 2)])
def test_operands_of_mfma(index, size, width, depth, tiles):
    """Lane % size along the result's axis; ``width`` neighbours along K in each of the 64 // size groups of lanes."""
    layout = DotOperand(index, Mfma(3, (2, 2), (size, size, 8), True, tiles), width)
    k, other = (1, 0) if index == 0 else (0, 1)
    shape = (256, depth) if index == 0 else (depth, 256)
    several = 2 if tiles else 1
    deep = max(1, depth // (width * 64 // size))

    def formula(digits):
        digits.take(REGISTER, width, k, 1)
        digits.take(LANE, size, other, 1)
        digits.take(LANE, 64 // size, k, width)
        digits.take(REGISTER, deep, k, width * 64 // size)
        digits.take(REGISTER, several, other, size)
        for axis in (1, 0):
            digits.take(WARP, 2, axis, size * several if axis == other else 0)
        digits.take(REGISTER, 256 // (size * several * 2), other, size * several * 2)

    check(layout, shape, width * deep * 256 // (size * 2), formula)


@pytest.mark.parametrize("index", [0, 1])
def test_operands_of_a_batch_of_mfma(index):
    """The batch has warps of its own, after those of the matrix, and repetitions last."""
    layout = DotOperand(index, Mfma(3, (2, 1, 2), (16, 16, 16), True), 4)
    k, other = (2, 1) if index == 0 else (1, 2)

    def formula(digits):
        digits.take(REGISTER, 4, k, 1)
        digits.take(LANE, 16, other, 1)
        digits.take(LANE, 4, k, 4)
        digits.take(WARP, 2, other, 16 if other == 2 else 0)
        digits.take(WARP, 2, 0, 1)
        digits.take(REGISTER, 64 // (32 if other == 2 else 16), other, 32 if other == 2 else 16)
        digits.take(REGISTER, 4, 0, 2)

    shape = (8, 64, 16) if index == 0 else (8, 16, 64)
    check(layout, shape, 4 * (2 if other == 2 else 4) * 4, formula)


def test_the_sides_of_a_tile_are_those_of_the_two_operands():
    """A has the rows of a tile, B its columns."""
    parent = Mfma(3, (1, 1), (32, 16, 8), True)
    assert linear(DotOperand(0, parent, 4), (32, 8)).bases[LANE] == ((1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (0, 4))
    lanes = ((0, 1), (0, 2), (0, 4), (0, 8), (4, 0), (8, 0))
    assert linear(DotOperand(1, parent, 4), (16, 16)).bases[LANE] == lanes


WMMA = {
    # gfx11: register r of a lane holds row 2 * r + lane // 16.
    1: ((LANE, 16, 1, 1), (LANE, 2, 0, 1), (REGISTER, 8, 0, 2)),
    # gfx12: register r of a lane holds row r + 8 * (lane // 16).
    2: ((LANE, 16, 1, 1), (REGISTER, 8, 0, 1), (LANE, 2, 0, 8)),
}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("tiles", [(), (2, 1), (1, 2)])
def test_results_of_wmma(version, transposed, tiles):
    """Tiles of a warp, then warps, columns first; repetitions come last."""
    layout = Wmma(version, (2, 4), (16, 16, 16), transposed, tiles)
    shape = (128, 256)
    each = tiles or (1, 1)

    def formula(digits):
        for dimension, count, axis, step in swapped(WMMA[version]) if transposed else WMMA[version]:
            digits.take(dimension, count, axis, step)
        for axis in (1, 0):
            digits.take(REGISTER, each[axis], axis, 16)
        for axis in (1, 0):
            digits.take(WARP, layout.warps_per_cta[axis], axis, 16 * each[axis])
        for axis in (1, 0):
            covered = 16 * each[axis] * layout.warps_per_cta[axis]
            digits.take(REGISTER, shape[axis] // covered, axis, covered)

    check(layout, shape, 8 * 128 * 256 // (16 * 16 * 8), formula)


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("depth", [16, 32])
def test_operands_of_wmma(index, version, depth):
    """gfx11: both halves hold all of K. gfx12: each half holds ``width`` of every 2 * ``width`` along K."""
    k, other = (1, 0) if index == 0 else (0, 1)
    width = 16 if version == 1 else 8
    layout = DotOperand(index, Wmma(version, (2, 4), (16, 16, depth), False, (2, 2)), width)
    warps = (2, 4)[other]

    def formula(digits):
        digits.take(REGISTER, width, k, 1)
        digits.take(LANE, 16, other, 1)
        digits.take(LANE, 2, k, 0 if version == 1 else 8)
        digits.take(REGISTER, depth // 16, k, 16)
        digits.take(REGISTER, 2, other, 16)
        for axis in (1, 0):
            digits.take(WARP, (2, 4)[axis], axis, 32 if axis == other else 0)
        digits.take(REGISTER, 64 // depth, k, depth)
        digits.take(REGISTER, 256 // (32 * warps), other, 32 * warps)

    shape = (256, 64) if index == 0 else (64, 256)
    check(layout, shape, width * (depth // 16) * 2 * (64 // depth) * (256 // (32 * warps)), formula)


def test_the_depth_of_a_wmma_whose_text_names_none_is_sixteen():
    """RDNA 3's only depth: half of it in a lane of ``k_width`` 8 of gfx11 is one more register bit."""
    layout = Wmma(1, (1, 1), (16, 16), False)
    assert (
        linear(DotOperand(0, layout, 8), (16, 16)).bases
        == linear(DotOperand(0, Wmma(1, (1, 1), (16, 16, 16), False), 8), (16, 16)).bases
    )
    assert linear(DotOperand(0, layout, 8), (16, 16)).bases[REGISTER] == ((0, 1), (0, 2), (0, 4), (0, 8))


def test_warps_and_tiles_of_a_wmma_given_by_bases():
    """Each basis counts whole tiles; one without a step is a second warp with the same elements."""
    layout = Wmma(2, (), (16, 16, 16), False, (), ((0, 1), (2, 0), (0, 0)), ((1, 0), (0, 0)))
    found = linear(layout, (64, 32))
    assert found.bases[WARP] == ((0, 16), (32, 0), (0, 0))
    assert found.bases[REGISTER] == ((1, 0), (2, 0), (4, 0), (16, 0))
    left = linear(DotOperand(0, layout, 8), (64, 16))
    # Warps side by side share the rows of A; tiles below each other are registers.
    assert left.bases[WARP] == ((0, 0), (32, 0), (0, 0))
    assert left.bases[REGISTER] == ((0, 1), (0, 2), (0, 4), (16, 0))
    right = linear(DotOperand(1, layout, 8), (16, 32))
    assert right.bases[WARP] == ((0, 16), (0, 0), (0, 0))
    assert right.bases[REGISTER] == ((1, 0), (2, 0), (4, 0))


def test_tiles_of_a_batch_of_wmma_given_by_bases():
    """The batch has no tile: its steps are matrices."""
    layout = Wmma(2, (), (16, 16, 16), False, (), ((2, 0, 0), (0, 1, 0)), ((1, 0, 0), (0, 0, 1)))
    with pytest.raises(UnknownLayoutError):
        linear(layout, (64, 32))
    layout = Wmma(2, (), (16, 16, 16), False, (), ((0, 1, 0),), ((0, 0, 1),))
    found = linear(layout, (1, 32, 32))
    assert found.bases[WARP] == ((0, 16, 0),)
    assert found.bases[REGISTER] == ((0, 1, 0), (0, 2, 0), (0, 4, 0), (0, 0, 16))


@pytest.mark.parametrize(("index", "shape"), [(0, (64, 16)), (1, (16, 64))])
def test_operands_of_an_fma_dot(index, shape):
    """Every lane holds all of K for its block along the other axis; lanes and warps along K hold the same."""
    parent = Blocked((2, 4), (8, 8), (2, 2), (1, 0))
    k, other = (1, 0) if index == 0 else (0, 1)
    size = parent.size_per_thread[other]

    def formula(digits):
        for axis in (1, 0):
            digits.take(REGISTER, 16 if axis == k else size, axis, 1)
        for axis in (1, 0):
            digits.take(LANE, 8, axis, size if axis == other else 0)
        for axis in (1, 0):
            digits.take(WARP, 2, axis, size * 8 if axis == other else 0)
        digits.take(REGISTER, max(1, 64 // (size * 16)), other, size * 16)

    check(DotOperand(index, parent), shape, 16 * size * max(1, 64 // (size * 16)), formula)


def test_a_linear_layout_is_taken_as_it_is_written():
    found = linear(Linear(((0, 1),), ((1, 0), (2, 0)), ((0, 2),)), (4, 4))
    assert found.bases == {REGISTER: ((0, 1),), LANE: ((1, 0), (2, 0)), WARP: ((0, 2),)}
    assert found.element() == (0, 0)
    assert found.element(1) == (0, 1)
    assert found.element(lane=3) == (3, 0)
    assert found.element(register=1, lane=2, warp=1) == (2, 3)


RESULT = Mfma(3, (1, 1), (16, 16, 16), False)


@pytest.mark.parametrize(
    ("layout", "shape", "words"),
    [
        (RESULT, (48, 64), "shape (48, 64) is not made of powers of two"),
        (RESULT, (16, 0), "shape (16, 0) is not made of powers of two"),
        (Blocked((1, 1), (8, 8), (4, 1), (1, 0)), (64,), "Blocked does not fit a tensor of 1 dimensions"),
        (Linear(((1,),), (), ()), (4, 4), "Linear does not fit a tensor of 2 dimensions"),
        (SwizzledShared(8, 1, 8, (1, 0)), (8, 8), "SwizzledShared is not a distributed layout that is known here"),
        (
            Blocked((1, 1), (24, 2), (1, 1), (1, 0)),
            (64, 64),
            "a layout with a count of 24, which is no power of two, is not linear",
        ),
        (
            DotOperand(0, RESULT),
            (64, 64),
            "a layout with a count of 0, which is no power of two, is not linear",
        ),
        (
            Mfma(3, (1, 1), (4, 64, 4), False, (2, 1)),
            (64, 64),
            "several 4x64 MFMA tiles in a warp are not known here",
        ),
        (
            Mfma(3, (1, 1), (64, 4, 4), False, (1, 2)),
            (64, 64),
            "several 64x4 MFMA tiles in a warp are not known here",
        ),
        (Mfma(2, (1, 1), (32, 16, 4), False, (), 64), (64, 64), "FP64 MFMA tiles of 32x16 are not known here"),
        (
            DotOperand(0, SwizzledShared(8, 1, 8, (1, 0))),
            (8, 8),
            "operands of a SwizzledShared result are not known here",
        ),
        (
            DotOperand(1, Mfma(3, (1, 1), (64, 4, 4), True), 4),
            (64, 64),
            "operands of a 64x4 MFMA are not known here",
        ),
    ],
)
def test_what_is_not_known_is_named(layout, shape, words):
    with pytest.raises(UnknownLayoutError) as caught:
        linear(layout, shape)
    assert str(caught.value) == words


def test_a_tensor_of_one_element_is_held_by_every_lane():
    """1 is a power of two."""
    found = linear(Blocked((1, 1), (8, 8), (1, 1), (1, 0)), (1, 1))
    assert (found.size(REGISTER), found.element(lane=63)) == (1, (0, 0))
