"""Launches that follow their tiles in all the ways that programs have, and some that do not."""

import json
import sys
from pathlib import Path

import torch
import triton
import triton.language as tl


@triton.autotune([triton.Config({"BLOCK": 256}, num_warps=4), triton.Config({"BLOCK": 1024}, num_warps=4)], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned(x, out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n if not EVEN else at >= 0
    tl.store(out + at, tl.load(x + at, mask=mask) + 1, mask=mask)


@triton.jit
def partial(x, out, n, BLOCK_N: tl.constexpr, SCALE: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(out + pid, tl.sum(tl.load(x + at, mask=at < n, other=0.0)) * SCALE)


@triton.jit
def fixed(x, out, n, BLOCK_N: tl.constexpr):
    at = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def product(a, b, c, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    m, n = tl.program_id(0), tl.program_id(1)
    rows, columns = m * BLOCK_M + tl.arange(0, BLOCK_M), n * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        inner = k + tl.arange(0, BLOCK_K)
        total += tl.dot(tl.load(a + rows[:, None] * K + inner), tl.load(b + inner[:, None] * K + columns))
    tl.store(c + rows[:, None] * K + columns, total)


def sums(x, config):
    n = x.numel()
    blocks = triton.cdiv(n, config["BLOCK_N"])
    out = torch.empty(blocks, device=x.device)
    partial[(blocks,)](x, out, n, SCALE=2, **config)
    return out


def products(size):
    a = torch.zeros(size, size, device="cuda", dtype=torch.float16)
    bm, bn = 64, 32
    rows = triton.cdiv(size, bm)
    grid = (rows, triton.cdiv(size, bn))
    product[grid](
        a, a, a.float(), size,
        BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=32, num_warps=4,
    )  # fmt: skip


n = 1 << 16
x = torch.zeros(n, device="cuda")
tuned[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, torch.empty_like(x), n)
sums(x, json.loads(Path(__file__).with_name("tiles.json").read_text())["65536"])
grid = (64,)
fixed[grid](x, torch.empty_like(x), n, BLOCK_N=1024)
products(256)
if "more" in sys.argv:
    products(512)
