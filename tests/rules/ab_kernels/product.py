"""A product with one thing to change at a time."""

import triton
import triton.language as tl


@triton.jit
def product(
    a_ptr, b_ptr, c_ptr, K, a_stride, b_stride, c_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, B_ROWS: tl.constexpr,
):  # fmt: skip
    """C = A @ B; B is contiguous along K, or with ``B_ROWS`` along N."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for first in range(0, K, BLOCK_K):  # loop
        a = tl.load(a_ptr + m[:, None] * a_stride + (first + k)[None, :])
        if B_ROWS:
            b = tl.load(b_ptr + (first + k)[:, None] * b_stride + n[None, :])  # transposed
        else:
            b = tl.load(b_ptr + n[None, :] * b_stride + (first + k)[:, None])
        acc = tl.dot(a, b, acc)  # product
    tl.store(c_ptr + m[:, None] * c_stride + n[None, :], acc.to(tl.float16))


@triton.jit
def row_sums(x_ptr, y_ptr, columns, stride, BLOCK: tl.constexpr, RAGGED: tl.constexpr):
    """Sums of rows, with a mask that is constant along 16 bytes or, ``RAGGED``, is not."""
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        if RAGGED:
            x = tl.load(x_ptr + row * stride + at, mask=at % 3 != 1, other=0.0)  # masked
        else:
            x = tl.load(x_ptr + row * stride + at)  # plain
        total += x.to(tl.float32)
    tl.store(y_ptr + row, tl.sum(total))
