"""Layouts as linear maps, against Triton's own conversion."""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.mlir.layouts import Blocked, DotOperand, Mfma, Slice, SwizzledShared, Wmma
from kprof_analyzers.memory.linear_layout import LANE, REGISTER, WARP, LinearLayout, UnknownLayoutError, linear

SIZES = (16, 32, 64, 128, 256)
WARPS = ((1, 4), (4, 1), (2, 2), (8, 1), (1, 1))
SMALL = st.sampled_from([1, 2, 4, 8])


@pytest.fixture(scope="module")
def builder():
    """Triton's layout builder, which knows the linear form of every layout."""
    pytest.importorskip("triton")
    from triton._C.libtriton import amd, ir

    gluon_ir = pytest.importorskip("triton._C.libtriton.gluon_ir", reason="this Triton has no layout builder")
    context = ir.context()
    ir.load_dialects(context)
    amd.load_dialects(context)
    made = gluon_ir.GluonOpBuilder(context)
    if not hasattr(made, "get_amd_wmma_layout"):
        pytest.skip("this Triton's layout builder does not convert to linear layouts")
    import triton

    if tuple(map(int, triton.__version__.split(".")[:2])) < (3, 9):
        pytest.skip("this Triton's layout builder takes other arguments")
    yield made  # noqa: PT022 - the context must outlive it


def agree(builder, attribute, layout, shape):
    """Both sides have the same bases."""
    oracle = builder.to_linear_layout(attribute, list(shape))
    if not hasattr(oracle, "reg_bases"):
        return
    ours = linear(layout, shape)
    for name, theirs in ((REGISTER, oracle.reg_bases), (LANE, oracle.lane_bases), (WARP, oracle.warp_bases)):
        assert [list(basis) for basis in ours.bases[name]] == theirs, (name, layout, shape)


@pytest.mark.triton
def test_blocked_layouts_and_their_slices_and_operands_agree_with_triton(builder):
    """200 blocked layouts of random sizes and orders."""
    pick = random.Random(1)
    for _ in range(200):
        size = tuple(pick.choice((1, 2, 4, 8)) for _ in range(2))
        across = 1 << pick.randrange(7)
        lanes, warps, order = (across, 64 // across), pick.choice(WARPS), pick.choice(((0, 1), (1, 0)))
        shape = tuple(pick.choice((4, 8, *SIZES)) for _ in range(2))
        attribute = builder.get_blocked_layout(list(size), list(lanes), list(warps), list(order), [])
        layout = Blocked(size, lanes, warps, order)
        agree(builder, attribute, layout, shape)
        dim = pick.randrange(2)
        agree(builder, builder.get_slice_layout(dim, attribute), Slice(dim, layout), shape[:1])
        operand = builder.get_dot_operand_layout(dim, attribute, 0)
        agree(builder, operand, DotOperand(dim, layout, 0), tuple(max(16, s) for s in shape))


@pytest.mark.triton
def test_mfma_results_and_operands_agree_with_triton(builder):
    """MFMA tiles of every shape that Triton uses, transposed or not, one or several a warp."""
    pick = random.Random(2)
    compared = 0
    for version, shape, transposed in itertools.product((1, 2, 3, 4), ((32, 32, 8), (16, 16, 16), (64, 4, 4)), (0, 1)):
        if shape[0] == 64 and not transposed:
            continue
        for _ in range(8):
            warps = pick.choice(WARPS)
            tiles = (1, 1) if 4 in shape[:2] else pick.choice(((1, 1), (2, 1), (1, 2), (2, 2)))
            tensor = (pick.choice(SIZES), pick.choice(SIZES))
            attribute = builder.get_amd_mfma_layout(
                version, list(warps), list(shape), bool(transposed), [], list(tiles), 32
            )
            layout = Mfma(version, warps, shape, bool(transposed), tiles)
            agree(builder, attribute, layout, tensor)
            compared += 1
            for index, width in itertools.product((0, 1), (4, 8, 16)):
                if shape[0] != 64:
                    operand = builder.get_dot_operand_layout(index, attribute, width)
                    agree(builder, operand, DotOperand(index, layout, width), tensor)
    assert compared == 160


@pytest.mark.triton
def test_wmma_results_and_operands_agree_with_triton(builder):
    """WMMA of gfx11 and gfx12."""
    pick = random.Random(3)
    forms = ((((0, 1), (1, 0)), ()), (((1, 0), (2, 0)), ()), (((0, 1), (0, 2)), ((0, 4),)))
    for version, transposed, (warp, register) in itertools.product((1, 2), (False, True), forms):
        attribute = builder.get_amd_wmma_layout(
            version, transposed, [list(b) for b in warp], [list(b) for b in register], [], [16, 16, 16], 2
        )
        layout = Wmma(version, (), (16, 16, 16), transposed, (), warp, register, 2)
        for _ in range(5):
            tensor = (pick.choice(SIZES), pick.choice(SIZES))
            agree(builder, attribute, layout, tensor)
            for index in (0, 1):
                width = 16 if version == 1 else 8
                operand = builder.get_dot_operand_layout(index, attribute, width)
                agree(builder, operand, DotOperand(index, layout, width), tensor)


@given(st.tuples(SMALL, SMALL), st.integers(0, 6), st.sampled_from(WARPS), st.sampled_from([(0, 1), (1, 0)]))
def test_every_element_is_held_by_somebody(size, across, warps, order):
    """A distributed layout reaches every element of the tensor."""
    layout = linear(Blocked(size, (1 << across, 64 >> across), warps, order), (16, 32))
    held = {
        layout.element(register, lane, warp)
        for register in range(layout.size(REGISTER))
        for lane in range(layout.size(LANE))
        for warp in range(layout.size(WARP))
    }
    assert held == set(itertools.product(range(16), range(32)))


@pytest.mark.parametrize(
    ("layout", "shape"),
    [(SwizzledShared(8, 1, 8, (1, 0)), (64, 64)), (Blocked((1, 1), (8, 8), (4, 1), (1, 0)), (48, 64))],
)
def test_what_has_no_linear_form_is_said(layout, shape):
    """LDS layouts and odd sizes are refused by name."""
    with pytest.raises(UnknownLayoutError):
        linear(layout, shape)


def test_linear_layout_is_a_plain_record():
    """Two equal layouts compare equal."""
    one = linear(Blocked((1, 4), (16, 4), (4, 1), (1, 0)), (64, 16))
    assert one == LinearLayout(dict(one.bases), one.shape)
