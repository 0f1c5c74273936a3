"""Rows times weights: the weights loaded in the loop over rows, or before it; and functions of the slow unit."""

import triton
import triton.language as tl


@triton.jit
def rows(x, w, y, n_rows, N: tl.constexpr, BEFORE: tl.constexpr):
    """Multiply each row by the weights."""
    column = tl.arange(0, N)
    if BEFORE:
        kept = tl.load(w + column)
    for row in range(tl.program_id(0), n_rows, tl.num_programs(0)):
        value = tl.load(x + row * N + column)
        weight = kept if BEFORE else tl.load(w + column)
        tl.store(y + row * N + column, value * weight)


@triton.jit
def gates(x, y, BLOCK: tl.constexpr, SLOW: tl.constexpr):
    """Roots, exponentials and logarithms of each element, or multiplications."""
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + place).to(tl.float32)
    if SLOW:
        result = tl.sqrt(tl.exp2(value)) + tl.math.rsqrt(value) + tl.log2(value + 1)
    else:
        result = value * value * value + value * 3
    tl.store(y + place, result)
