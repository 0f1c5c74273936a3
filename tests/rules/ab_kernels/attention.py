"""An attention with one thing to change at a time."""

import triton
import triton.language as tl


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, o_ptr, M, N,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEADS_FIRST: tl.constexpr, BASE_2: tl.constexpr,
):  # fmt: skip
    """Softmax(Q K^T) V; the grid is heads and blocks, or blocks and heads."""
    head = tl.program_id(0) if HEADS_FIRST else tl.program_id(1)
    block = tl.program_id(1) if HEADS_FIRST else tl.program_id(0)  # grid
    row = block * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    col = tl.arange(0, BLOCK_N)
    inside = row[:, None] < M  # rows
    at = head * N * D
    q = tl.load(q_ptr + at + row[:, None] * D + d[None, :], mask=inside, other=0.0)
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    for first in range(0, N, BLOCK_N):
        k = tl.load(k_ptr + at + (first + col)[None, :] * D + d[:, None])
        v = tl.load(v_ptr + at + (first + col)[:, None] * D + d[None, :])
        scores = tl.dot(q, k)
        p = tl.exp2(scores) if BASE_2 else tl.exp(scores)  # natural
        total += tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v, acc)
    tl.store(o_ptr + at + row[:, None] * D + d[None, :], (acc / total[:, None]).to(q.dtype), mask=inside)


@triton.jit
def packed(
    q_ptr, k_ptr, o_ptr, N, stride, M: tl.constexpr, D: tl.constexpr, BLOCK_N: tl.constexpr, TWICE: tl.constexpr
):
    """Sums of Q K^T with eight 4-bit keys a word along D: the words once and turned round, or one word a value."""
    row = tl.arange(0, M)
    d = tl.arange(0, D)
    col = tl.arange(0, BLOCK_N)
    q = tl.load(q_ptr + row[:, None] * D + d[None, :])
    acc = tl.zeros((M,), tl.float32)
    for first in range(0, N, BLOCK_N):
        if TWICE:
            words = tl.load(k_ptr + (first + col)[:, None] * stride + tl.arange(0, D // 8)[None, :])
            values = (tl.trans(words)[:, None, :] >> (tl.arange(0, 8) * 4)[None, :, None]) & 15  # first
            k = tl.reshape(values, (D, BLOCK_N)).to(tl.float16)  # second
        else:
            words = tl.load(k_ptr + (first + col)[None, :] * stride + (d // 8)[:, None])
            k = ((words >> ((d % 8) * 4)[:, None]) & 15).to(tl.float16)
        acc += tl.sum(tl.dot(q, k), axis=1)
    tl.store(o_ptr + row, acc)
