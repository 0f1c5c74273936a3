"""Two small kernels for the fixtures: a masked elementwise one and a blocked matmul."""

import triton
import triton.language as tl


@triton.jit
def scaled_exp(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.exp(tl.load(x + i, mask=i < n)) * 2, mask=i < n)


@triton.jit
def matmul(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(tl.cdiv(K, BK)):
        left = tl.load(a + rm[:, None] * K + (k * BK + rk)[None, :])
        right = tl.load(b + (k * BK + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(left, right, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16))
