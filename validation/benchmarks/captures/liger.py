"""Liger-Kernel's operators, forward and backward, called as by its users."""

import torch
from liger_kernel.transformers import (
    LigerCrossEntropyLoss,
    LigerFusedLinearCrossEntropyLoss,
    LigerRMSNorm,
    liger_rotary_pos_emb,
)
from liger_kernel.transformers.functional import liger_swiglu

DEVICE = "cuda"
BATCH, LENGTH, HIDDEN, FFN, VOCABULARY, HEADS, HEAD = 2, 256, 1024, 2816, 8192, 16, 64


def rms_norm() -> None:
    """Run RMS norm."""
    x = torch.randn(BATCH, LENGTH, HIDDEN, dtype=torch.bfloat16, device=DEVICE, requires_grad=True)
    LigerRMSNorm(HIDDEN).to(DEVICE, torch.bfloat16)(x).sum().backward()


def swiglu() -> None:
    """Run SwiGLU."""
    gate = torch.randn(BATCH * LENGTH, FFN, dtype=torch.bfloat16, device=DEVICE, requires_grad=True)
    up = torch.randn_like(gate, requires_grad=True)
    liger_swiglu(gate, up).sum().backward()


def rope() -> None:
    """Run rotary position embedding."""
    q = torch.randn(BATCH, HEADS, LENGTH, HEAD, dtype=torch.bfloat16, device=DEVICE, requires_grad=True)
    k = torch.randn(BATCH, HEADS // 4, LENGTH, HEAD, dtype=torch.bfloat16, device=DEVICE, requires_grad=True)
    cos = torch.randn(1, LENGTH, HEAD, dtype=torch.bfloat16, device=DEVICE)
    sin = torch.randn(1, LENGTH, HEAD, dtype=torch.bfloat16, device=DEVICE)
    rotated_q, rotated_k = liger_rotary_pos_emb(q, k, cos, sin)
    (rotated_q.sum() + rotated_k.sum()).backward()


def cross_entropy() -> None:
    """Run cross entropy."""
    logits = torch.randn(BATCH * LENGTH, VOCABULARY, dtype=torch.bfloat16, device=DEVICE, requires_grad=True)
    target = torch.randint(VOCABULARY, (BATCH * LENGTH,), device=DEVICE)
    LigerCrossEntropyLoss()(logits, target).backward()


def fused_linear_cross_entropy() -> None:
    """Run linear layer and cross entropy in one."""
    x = torch.randn(BATCH * LENGTH, HIDDEN, dtype=torch.bfloat16, device=DEVICE, requires_grad=True)
    weight = torch.randn(VOCABULARY, HIDDEN, dtype=torch.bfloat16, device=DEVICE, requires_grad=True)
    target = torch.randint(VOCABULARY, (BATCH * LENGTH,), device=DEVICE)
    LigerFusedLinearCrossEntropyLoss()(weight, x, target).backward()


if __name__ == "__main__":
    for step in (rms_norm, swiglu, rope, cross_entropy, fused_linear_cross_entropy):
        step()
        print(step.__name__, "ok")
