"""Sizes of layouts, against Triton's documented examples and, where installed, Triton itself."""

import pytest

from kprof.inputs.mlir import MemDesc, Pointer, Scalar, TensorType
from kprof.inputs.mlir.layouts import (
    Blocked,
    DotOperand,
    Linear,
    Mfma,
    PaddedShared,
    RawLayout,
    Slice,
    SwizzledShared,
)
from kprof.inputs.mlir.measures import contiguous_per_thread, lds_bytes, vector_bytes

HALF = Scalar("f16", 16)
BLOCKED = Blocked((1, 8), (8, 8), (4, 1), (1, 0))
MFMA = Mfma(3, (2, 2), (32, 32, 8), is_transposed=True)
LINEAR = Linear(register=((1, 0), (2, 0), (0, 1), (0, 2), (0, 4)), lane=((0, 8), (0, 16)), warp=((16, 0),), block=())


@pytest.mark.parametrize(
    ("layout", "shape", "runs"),
    [
        (BLOCKED, (128, 64), (1, 8)),
        (BLOCKED, (128, 4), (1, 4)),
        (Slice(0, BLOCKED), (64,), (8,)),
        (MFMA, (128, 128), (1, 4)),
        (Mfma(3, (2, 2), (32, 32), is_transposed=False), (128, 128), (4, 1)),
        (LINEAR, (32, 32), (4, 1)),
        # A layout that is not of the tensor's rank, and one whose steps are of several: a damaged file.
        (Linear(((0, 1), (0, 2)), (), (), ()), (64,), None),
        (Linear(((0, 1), (2,)), (), (), ()), (64, 64), None),
        (DotOperand(1, MFMA, 4), (64, 128), (4, 1)),
        (RawLayout("new", "#new"), (4,), None),
    ],
)
def test_contiguous_per_thread(layout, shape, runs):
    """Neighbours in registers, never more than the tensor has."""
    assert contiguous_per_thread(layout, shape) == runs


def test_vector_bytes():
    """Of values and of pointers to them."""
    assert vector_bytes(TensorType((128, 64), HALF, BLOCKED)) == 16
    assert vector_bytes(TensorType((128, 64), Pointer(Scalar("f32", 32)), BLOCKED)) == 32
    assert vector_bytes(TensorType((128, 64), HALF, RawLayout("new", "#new"))) is None


@pytest.mark.parametrize(
    ("buffer", "size"),
    [
        (MemDesc((2, 128, 64), HALF, SwizzledShared(8, 1, 8, (1, 0))), 32768),
        (MemDesc((128, 64), HALF, SwizzledShared(8, 1, 8, (1, 0)), alloc_shape=(3, 128, 64)), 49152),
        (MemDesc((128, 64), HALF, PaddedShared(((512, 8),))), (8192 + 15 * 8) * 2),
        (MemDesc((100,), HALF, PaddedShared(((64, 8),))), (100 + 8) * 2),
        (MemDesc((4,), Scalar("index", None), None), None),
        (MemDesc((4,), HALF, PaddedShared(((0, 8),))), None),
        (MemDesc((4,), HALF, RawLayout("new", "#new")), None),
    ],
)
def test_lds_bytes(buffer, size):
    """Copies count, padding counts except after the end, unknown is not zero."""
    assert lds_bytes(buffer) == size
