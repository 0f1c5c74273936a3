"""Operators of flash-linear-attention, forward and backward, called as by its users."""

import sys

import torch
from fla.ops.gated_delta_rule import chunk_gated_delta_rule
from fla.ops.gla import chunk_gla
from fla.ops.simple_gla import chunk_simple_gla

DEVICE = "cuda"
BATCH, LENGTH, HEADS, KEY, VALUE = 1, 256, 2, 64, 64


def _tensor(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.bfloat16, device=DEVICE, requires_grad=True)


def _inputs() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    key = BATCH, LENGTH, HEADS, KEY
    return _tensor(*key), _tensor(*key), _tensor(BATCH, LENGTH, HEADS, VALUE)


def _gate(*shape: int) -> torch.Tensor:
    gate = torch.nn.functional.logsigmoid(torch.randn(*shape, dtype=torch.float32, device=DEVICE))
    return gate.detach().requires_grad_(True)


def gla() -> None:
    """Run gated linear attention in chunks, with a gate for each element of the key."""
    q, k, v = (
        _tensor(BATCH, LENGTH, HEADS, KEY),
        _tensor(BATCH, LENGTH, HEADS, KEY),
        _tensor(BATCH, LENGTH, HEADS, VALUE),
    )
    out, _ = chunk_gla(q, k, v, _gate(BATCH, LENGTH, HEADS, KEY))
    out.sum().backward()


def gated_delta_rule() -> None:
    """Run the gated delta rule in chunks."""
    q, k, v = (
        _tensor(BATCH, LENGTH, HEADS, KEY),
        _tensor(BATCH, LENGTH, HEADS, KEY),
        _tensor(BATCH, LENGTH, HEADS, VALUE),
    )
    beta = torch.rand(BATCH, LENGTH, HEADS, dtype=torch.bfloat16, device=DEVICE).requires_grad_(True)
    out, _ = chunk_gated_delta_rule(q, k, v, _gate(BATCH, LENGTH, HEADS), beta, use_qk_l2norm_in_kernel=True)
    out.sum().backward()


def mlstm_like() -> None:
    """Run attention with a scalar gate per head and step, as in the chunks of an mLSTM."""
    q, k, v = (
        _tensor(BATCH, LENGTH, HEADS, KEY),
        _tensor(BATCH, LENGTH, HEADS, KEY),
        _tensor(BATCH, LENGTH, HEADS, VALUE),
    )
    out, _ = chunk_simple_gla(q, k, v, _gate(BATCH, LENGTH, HEADS))
    out.sum().backward()


if __name__ == "__main__":
    steps = (gla, gated_delta_rule, mlstm_like)
    for step in [step for step in steps if step.__name__ in sys.argv] or steps:
        step()
        print(step.__name__, "ok", flush=True)
