"""Small Triton kernels that together make the compiler emit many kinds of instructions."""

import triton
import triton.language as tl


@triton.jit
def elementwise(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = i < n
    a = tl.load(x + i, mask=keep).to(tl.float32)
    b = tl.load(y + i, mask=keep, other=1.0).to(tl.float32)
    tl.store(out + i, tl.exp(a) / b + tl.sqrt(tl.abs(b)) * tl.sin(a) - tl.log(b), mask=keep)


@triton.jit
def softmax(x, out, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    a = tl.load(x + row * stride + i, mask=i < columns, other=-float("inf")).to(tl.float32)
    e = tl.exp(a - tl.max(a, 0))
    tl.store(out + row * stride + i, (e / tl.sum(e, 0)).to(out.dtype.element_ty), mask=i < columns)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr):
    pid = tl.program_id(0)
    blocks = tl.cdiv(N, BN)
    rm = (pid // blocks) * BM + tl.arange(0, BM)
    rn = (pid % blocks) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * K + rk[None, :]
    pb = b + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), ACC)
    for k in range(tl.cdiv(K, BK)):
        left = tl.load(pa, mask=rk[None, :] < K - k * BK, other=0.0)
        right = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(left, right, acc, out_dtype=ACC)
        pa += BK
        pb += BK * N
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=rm[:, None] < M)


@triton.jit
def attention(q, k, v, out, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    rn = tl.arange(0, BN)
    left = tl.load(q + rm[:, None] * D + rd[None, :])
    acc = tl.zeros((BM, D), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    top = tl.full((BM,), -float("inf"), tl.float32)
    for start in range(0, length, BN):
        keys = tl.load(k + (start + rn)[None, :] * D + rd[:, None])
        s = tl.dot(left, keys) * scale
        s = tl.where(rm[:, None] >= (start + rn)[None, :], s, -float("inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        shrink = tl.exp2(top - new)
        total = total * shrink + tl.sum(p, 1)
        values = tl.load(v + (start + rn)[:, None] * D + rd[None, :])
        acc = tl.dot(p.to(values.dtype), values, acc * shrink[:, None])
        top = new
    tl.store(out + rm[:, None] * D + rd[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


@triton.jit
def atomics(x, out, counts, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    tl.atomic_add(out + (i % 7), a, mask=i < n)
    old = tl.atomic_add(counts, 1)
    tl.atomic_max(counts + 1, old)
    tl.atomic_cas(counts + 2, old, old + 1)
    tl.atomic_xchg(counts + 3, old)


@triton.jit
def scatter(x, index, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n, other=0)
    tl.store(out + at, tl.load(x + at * 3, mask=at < n), mask=i < n)


@triton.jit
def integers(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, other=0)
    b = tl.load(y + i, mask=i < n, other=1)
    tl.store(out + i, (a * b + a // b) ^ (a % b) ^ (a >> 3) ^ tl.sum(a, 0), mask=i < n)


@triton.jit
def nested(x, out, rows, columns, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), tl.float32)
    for r in range(rows):
        for c in range(0, columns, BLOCK):
            acc += tl.load(x + r * columns + c + tl.arange(0, BLOCK)).to(tl.float32)
        acc = tl.where(acc > 1000.0, acc * 0.5, acc)
    tl.store(out + tl.arange(0, BLOCK), tl.cumsum(acc, 0))


CASES = {
    "elementwise": (elementwise, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 1024}),
    "elementwise_bf16": (elementwise, {"x": "*bf16", "y": "*bf16", "out": "*bf16", "n": "i32"}, {"BLOCK": 2048}),
    "softmax": (softmax, {"x": "*fp16", "out": "*fp16", "columns": "i32", "stride": "i32"}, {"BLOCK": 4096}),
    "attention": (
        attention,
        {"q": "*fp16", "k": "*fp16", "v": "*fp16", "out": "*fp16", "length": "i32", "scale": "fp32"},
        {"BM": 64, "BN": 32, "D": 64},
    ),
    "attention_spills": (
        attention,
        {"q": "*fp16", "k": "*fp16", "v": "*fp16", "out": "*fp16", "length": "i32", "scale": "fp32"},
        {"BM": 128, "BN": 64, "D": 256},
    ),
    "atomics": (atomics, {"x": "*fp32", "out": "*fp32", "counts": "*i32", "n": "i32"}, {"BLOCK": 512}),
    "scatter": (scatter, {"x": "*i8", "index": "*i64", "out": "*i8", "n": "i32"}, {"BLOCK": 1024}),
    "integers": (integers, {"x": "*i64", "y": "*i64", "out": "*i64", "n": "i64"}, {"BLOCK": 256}),
    "nested": (nested, {"x": "*u8", "out": "*fp32", "rows": "i32", "columns": "i32"}, {"BLOCK": 256}),
}
for _name, _in, _out, _acc in (
    ("fp16", "*fp16", "*fp16", tl.float32),
    ("bf16", "*bf16", "*fp32", tl.float32),
    ("fp32", "*fp32", "*fp32", tl.float32),
    ("int8", "*i8", "*i32", tl.int32),
    ("fp8", "*fp8e5", "*fp16", tl.float32),
):
    CASES[f"matmul_{_name}"] = (
        matmul,
        {"a": _in, "b": _in, "c": _out, "M": "i32", "N": "i32", "K": "i32"},
        {"BM": 64, "BN": 64, "BK": 64, "ACC": _acc},
    )
