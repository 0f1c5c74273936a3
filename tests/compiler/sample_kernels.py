"""Kernels that the harness tests compile."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    """``out = x + y``, vectors of ``n`` elements."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def matmul(a, b, c, K, stride_a, stride_b, stride_c, M: tl.constexpr, N: tl.constexpr, BLOCK_K: tl.constexpr):
    """A tile ``[M, N]`` of ``a @ b``, with a row sum for a reduction."""
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    depth = tl.arange(0, BLOCK_K)
    at_a = a + rows[:, None] * stride_a + depth[None, :]
    at_b = b + depth[:, None] * stride_b + columns[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(tl.cdiv(K, BLOCK_K)):
        total = tl.dot(tl.load(at_a), tl.load(at_b), total)
        at_a += BLOCK_K
        at_b += BLOCK_K * stride_b
    total += tl.sum(total, 1)[:, None]
    tl.store(c + rows[:, None] * stride_c + columns[None, :], total.to(tl.float16))


@triton.jit(do_not_specialize=["skipped"], do_not_specialize_on_alignment=["unaligned"])
def odd(
    p,
    const_p: tl.const,
    number,
    skipped,
    unaligned,
    wide: tl.int64,
    real: tl.float32,
    flag,
    default=7,
    *,
    key: tl.constexpr = 3,
):
    """Every way in which an argument can be declared."""
    value = number + skipped + unaligned + wide + default + key
    if flag:
        value += 1
    tl.store(p, tl.load(const_p) + value.to(tl.float32) + real)


@triton.jit
def pair(p, both):
    """A tuple argument."""
    tl.store(p, both[0] + both[1])


@triton.autotune(
    configs=[triton.Config({"BLOCK": 256}, num_warps=2), triton.Config({"BLOCK": 512}, num_warps=8)], key=["n"]
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    """An autotuned kernel with a heuristic."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(x + at, 1.0)
    else:
        tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def apply(x, function: tl.constexpr, dtype: tl.constexpr):
    """A function and a dtype as compile-time values."""
    at = tl.arange(0, 64)
    tl.store(x + at, function(tl.load(x + at).to(dtype)))


@triton.jit
def double(value):
    """Twice the value."""
    return value * 2


def plain(x):
    """No Triton function."""
    return x
