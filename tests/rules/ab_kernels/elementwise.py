"""Straight-line kernels that leave time lying about, each with the form that does not."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def swiglu(x_ptr, y_ptr, N, BLOCK: tl.constexpr, FORM: tl.constexpr):
    """Y = silu(gate) * up. FORM: ``interleaved`` (gate and up alternate in memory), ``halves`` or ``fast``."""
    row = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < N
    x = x_ptr + row * 2 * N
    if FORM == "interleaved":
        gate = tl.load(x + 2 * columns, mask=inside).to(tl.float32)  # gate
        up = tl.load(x + 2 * columns + 1, mask=inside).to(tl.float32)  # up
    else:
        gate = tl.load(x + columns, mask=inside).to(tl.float32)
        up = tl.load(x + N + columns, mask=inside).to(tl.float32)
    if FORM == "fast":
        silu = libdevice.fast_dividef(gate, 1 + tl.exp2(-1.4426950408889634 * gate))
    else:
        silu = gate / (1 + tl.exp(-gate))  # silu
    tl.store(y_ptr + row * N + columns, (silu * up).to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def scaled(x_ptr, y_ptr, scale, N, BLOCK: tl.constexpr):
    """Y = scale * x, a row a workgroup, in one tile."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    value = tl.load(x_ptr + row * N + columns, mask=columns < N)  # row
    total = tl.sum(value.to(tl.float32), axis=0)
    tl.store(y_ptr + row * N + columns, (value * scale / total).to(y_ptr.dtype.element_ty), mask=columns < N)


@triton.jit
def normed(x_ptr, y_ptr, n, stride, BLOCK: tl.constexpr):
    """Exponentials of a row over its sum of squares; rows of n in tiles of BLOCK."""
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)  # masked
    total = tl.sum(x * x)
    tl.store(y_ptr + row * stride + columns, (tl.exp(x) * total).to(tl.float16), mask=mask)
