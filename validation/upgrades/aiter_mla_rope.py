"""AITER's decoding of latent attention: ``python aiter_mla_rope.py BATCH HEADS TOKENS``, DeepSeek's sizes, bfloat16."""

import sys

from aiter_checkout_at import use_aiter

use_aiter()
import torch  # noqa: E402
from aiter.ops.triton.attention.mla_decode_rope import decode_attention_fwd_grouped_rope  # noqa: E402

batch, heads, tokens = map(int, sys.argv[1:4])
rank, rotary, splits = 512, 64, 8


def half(*shape: int) -> torch.Tensor:
    """Return a bfloat16 tensor on the device."""
    return torch.empty(*shape, device="cuda", dtype=torch.bfloat16)


cache = half(batch * tokens, 1, rank + rotary)
decode_attention_fwd_grouped_rope(
    half(batch, heads, rank + rotary),
    cache,
    cache[..., :rank],
    half(batch, heads, rank),
    torch.arange(batch + 1, dtype=torch.int32, device="cuda") * tokens,
    torch.arange(batch * tokens, dtype=torch.int32, device="cuda"),
    half(batch, rotary),
    rank,
    rotary,
    half(tokens, rotary),
    torch.full((batch,), tokens - 1, dtype=torch.int64, device="cuda"),
    torch.empty(batch, heads, splits, rank + 1, device="cuda", dtype=torch.float32),
    splits,
    (rank + rotary) ** -0.5,
    0.0,
    use_rope=True,
)
