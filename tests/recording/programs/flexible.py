"""Attention with a mask or a score of its own, compiled: a window, a training step, a bias alone, and one token."""

import sys

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

LENGTH = 2048
training = sys.argv[1] == "training"


def window(_b, _h, i, j):
    return (i >= j) & (i - j < 256)


def bias(score, _b, h, i, j):
    return score + (j - i) * torch.exp2(-(h + 1.0))


heads, length = (2, 1) if sys.argv[1] == "decoding" else (4, LENGTH)
q = torch.randn(2, 4, length, 64, device="cuda", dtype=torch.float16, requires_grad=training)
k, v = (torch.randn(2, heads, LENGTH, 64, device="cuda", dtype=q.dtype, requires_grad=training) for _ in range(2))
flex = torch.compile(flex_attention)
if sys.argv[1] in {"bias", "decoding"}:
    # Without a mask Inductor's own kernels write how many blocks there are.
    out = flex(q, k, v, score_mod=bias if sys.argv[1] == "bias" else None, enable_gqa=heads < 4)
else:
    mask = create_block_mask(window, B=None, H=None, Q_LEN=LENGTH, KV_LEN=LENGTH, device="cuda")
    out = flex(q, k, v, block_mask=mask, score_mod=bias if training else None)
if training:
    out.sum().backward()
    assert q.grad.shape == k.grad.shape == v.grad.shape == q.shape
print("all fine")
