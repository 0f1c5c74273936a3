"""lightning-attn: linear attention with decays, forward and backward, heads of 64 and 128."""

import torch
from lightning_attn.ops import lightning_attn_func

for head in (64, 128):
    q, k, v = (torch.randn(2, 8, 2048, head, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    slopes = torch.rand(8, 1, 1, device="cuda")
    found = lightning_attn_func(q, k, v, slopes)
    found.sum().backward()
    assert found.shape == q.grad.shape == v.shape
