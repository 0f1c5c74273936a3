"""Attention with a mask of its own, compiled: a sliding window, and a training step."""

import sys

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

LENGTH = 2048
training = sys.argv[1] == "training"


def window(_b, _h, i, j):
    return (i >= j) & (i - j < 256)


def bias(score, _b, h, i, j):
    return score + (j - i) * torch.exp2(-(h + 1.0))


q, k, v = (torch.randn(2, 4, LENGTH, 64, device="cuda", dtype=torch.float16, requires_grad=training) for _ in range(3))
mask = create_block_mask(window, B=None, H=None, Q_LEN=LENGTH, KV_LEN=LENGTH, device="cuda")
out = torch.compile(flex_attention)(q, k, v, block_mask=mask, score_mod=bias if training else None)
if training:
    out.sum().backward()
    assert q.grad.shape == k.grad.shape == v.grad.shape == q.shape
print("all fine")
