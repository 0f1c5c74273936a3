"""A loop whose bound is loaded from memory, with lengths that are known and with some that a kernel would write."""

import torch
import triton
import triton.language as tl


@triton.jit
def sums(x, out, lengths, ids, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    end = tl.load(lengths + row)
    token = tl.load(ids + row)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, end, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * stride + at, mask=at < end, other=0.0)
    tl.store(out + row, tl.sum(total) + token)


@triton.jit
def write(lengths):
    tl.store(lengths + tl.program_id(0), 512)


@triton.jit
def find(starts, target, n):
    left = 0
    right = n
    while left < right:
        middle = (left + right) // 2
        if tl.load(starts + middle) <= target:
            left = middle + 1
        else:
            right = middle
    return left - 1


@triton.jit
def ragged(x, out, starts, rows, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    sequence = find(starts, row, n)
    length = tl.load(rows + sequence)
    if row - tl.load(starts + sequence) >= length // 64:
        return
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, length, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * stride + at, mask=at < length, other=0.0)
    tl.store(out + row, tl.sum(total))


x, out = torch.zeros(4, 4096, device="cuda"), torch.zeros(4, device="cuda")
ids = torch.arange(4, device="cuda")
known = torch.tensor([256, 512, 1024, 2048], dtype=torch.int32, device="cuda")
sums[(4,)](x, out, known, ids, x.stride(0), BLOCK=256)
written = torch.empty(4, dtype=torch.int64, device="cuda")
write[(4,)](written)
sums[(4,)](x, out, written, ids, x.stride(0), BLOCK=256)
starts = torch.tensor([0, 16, 32, 64], dtype=torch.int32, device="cuda")
rows = torch.tensor([1024, 512, 1024, 0], dtype=torch.int32, device="cuda")
ragged[(64,)](torch.zeros(64, 4096, device="cuda"), torch.zeros(64, device="cuda"), starts, rows, 4, 4096, BLOCK=256)
