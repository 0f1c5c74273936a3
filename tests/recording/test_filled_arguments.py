"""Tensors that a kernel of Inductor's fills with one integer."""

import ast
import ctypes
import textwrap
import types

import pytest

from kprof.recording.filled_arguments import fill, filled_arguments

ONES = """
def triton_poi_fused_ones_0(out_ptr0, out_ptr1, xnumel, XBLOCK):
    xnumel = {count}
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.full([1], {value}, tl.int32)
    tmp1 = tl.full([1], 0, tl.int32)
    tl.store(out_ptr0 + ({index}), tmp0, xmask)
    tl.store(out_ptr1 + ({index}), tmp1, xmask)
"""
NAMES = ["out_ptr0", "out_ptr1", "xnumel", "XBLOCK"]


class Jit:
    """What is asked of a ``@triton.jit`` function."""

    def __init__(self, source, names=NAMES):
        self.source = textwrap.dedent(source)
        self.arg_names = names
        self.params = [types.SimpleNamespace(name=name) for name in names]

    def parse(self):
        return ast.parse(self.source)


class Tensor:
    """Integers in memory, each 7 before a launch."""

    def __init__(self, count, dtype="torch.int32", *, contiguous=True):
        self.dtype, self.contiguous = dtype, contiguous
        self.memory = (ctypes.c_int32 * count)(*([7] * count))

    def numel(self):
        return len(self.memory)

    def is_contiguous(self):
        return self.contiguous

    def data_ptr(self):
        return ctypes.addressof(self.memory)


def source(count="1024", index="x0", value="1"):
    return ONES.format(count=count, index=index, value=value)


def test_every_element_gets_the_integer():
    first, second = Tensor(1024), Tensor(1024)
    assert fill(Jit(source()), (first, second, 1024, 256)) == {"out_ptr0", "out_ptr1"}
    assert list(first.memory) == [1] * 1024
    assert list(second.memory) == [0] * 1024


def test_one_element_has_no_index():
    """Inductor writes it as a broadcast zero."""
    function = Jit(source("1", "tl.full([1], 0, tl.int32).broadcast_to(XBLOCK)", "-3"))
    tensor = Tensor(1)
    assert "out_ptr0" in fill(function, (tensor, Tensor(1), 1, 1))
    assert list(tensor.memory) == [-3]


def test_the_number_of_elements_may_be_an_argument():
    text = source().replace("    xnumel = 1024\n", "")
    assert fill(Jit(text), (Tensor(96), Tensor(96), 96, 64)) == {"out_ptr0", "out_ptr1"}
    assert fill(Jit(text), (Tensor(96), Tensor(96), 95, 64)) == frozenset()


@pytest.mark.parametrize(
    "changed",
    [
        ("tl.full([1], 1, tl.int32)", "tl.load(out_ptr0 + x0)"),
        ("tl.full([1], 1, tl.int32)", "x0"),
        ("tl.full([1], 1, tl.int32)", "tl.full([1], 1.0, tl.float32)"),
        ("    tmp1 =", "    tmp0 = tl.full([1], 2, tl.int32)\n    tmp1 ="),
        ("out_ptr0 + (x0)", "out_ptr0 + (2*x0)"),
        ("out_ptr0 + (x0)", "out_ptr1 + (x0)"),
        ("out_ptr0 + (x0)", "out_ptr0"),
        ("    tmp1 =", "    if xnumel:\n        pass\n    tmp1 ="),
        ("XBLOCK", "BLOCK"),
    ],
)
def test_anything_else_is_not_known(changed):
    """What is loaded or computed, what leaves elements out, and kernels that Inductor did not write."""
    names = [name.replace(*changed) for name in NAMES]
    assert not filled_arguments(Jit(source().replace(*changed), names))


@pytest.mark.parametrize(
    "tensor", [Tensor(1023), Tensor(1024, contiguous=False), Tensor(1024, "torch.float32"), None, 4096]
)
def test_only_whole_tensors_of_integers_are_filled(tensor):
    assert fill(Jit(source()), (tensor, Tensor(1024), 1024, 256)) == {"out_ptr1"}


def test_an_integer_that_does_not_fit_is_left():
    assert fill(Jit(source(value="2147483648")), (Tensor(1024), Tensor(1024), 1024, 256)) == {"out_ptr1"}
