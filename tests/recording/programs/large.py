"""Tensors far beyond the machine's memory, and small ones beside them."""

from pathlib import Path

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


def touched():
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) << 10


before = touched()
with torch.device("cuda"):
    layers = [torch.nn.Linear(65536, 65536, bias=False, dtype=torch.bfloat16) for _ in range(8)]
optimizer = torch.optim.AdamW([p for layer in layers for p in layer.parameters()])
x = torch.randn(65536, 65536, device="cuda", dtype=torch.bfloat16)
hidden = x
for layer in layers:
    hidden = torch.nn.functional.gelu(layer(hidden)) + x
out = torch.empty_like(hidden)
double[(triton.cdiv(hidden.numel(), 1024),)](hidden, out, hidden.numel(), BLOCK=1024)
loss = (hidden * out).float().mean()
loss.backward()
assert all(layer.weight.grad.shape == (65536, 65536) and layer.weight.grad.is_cuda for layer in layers)
optimizer.step()
view = x[:, :128].t()
assert view.stride() == (1, 65536)
assert view.contiguous().stride() == (65536, 1)
values, places = torch.topk(hidden, 4)
assert places.shape == (65536, 4)
assert places.dtype is torch.int64

# What is small, or made of integers, keeps its values.
lengths = torch.tensor([5, 7, 9], device="cuda")
assert torch.cumsum(lengths, 0).tolist() == [5, 12, 21]
offsets = torch.arange(1 << 20, device="cuda") * 2
assert offsets[-1].item() == 2 * ((1 << 20) - 1)
assert torch.zeros(1 << 24, device="cuda").cpu().sum().item() == 0
on_cpu = torch.ones(1 << 20)
assert (on_cpu @ on_cpu).item() == 1 << 20
assert torch.zeros(4, device="cuda").add_(1).tolist() == [1.0] * 4
print("gigabytes", (touched() - before) / 1e9)
print("loss", loss.item())
print("all fine")
