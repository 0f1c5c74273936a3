"""AITER's unified attention over a paged cache: ``python aiter_unified.py QUERY_HEADS KV_HEADS SIZE PAGE TOKENS``."""

import sys

from aiter_checkout_at import use_aiter

use_aiter()
import torch  # noqa: E402
from aiter.ops.triton.attention.unified_attention import unified_attention  # noqa: E402

queries, keys, size, page, tokens = map(int, sys.argv[1:6])
q = torch.empty(tokens, queries, size, dtype=torch.bfloat16, device="cuda")
cache = [torch.empty(tokens // page, page, keys, size, dtype=torch.bfloat16, device="cuda") for _ in range(2)]
unified_attention(
    q=q,
    k=cache[0],
    v=cache[1],
    out=torch.empty_like(q),
    cu_seqlens_q=torch.tensor([0, tokens], dtype=torch.int32, device="cuda"),
    max_seqlen_q=tokens,
    seqused_k=torch.tensor([tokens], dtype=torch.int32, device="cuda"),
    max_seqlen_k=tokens,
    softmax_scale=size**-0.5,
    causal=True,
    window_size=(-1, -1),
    block_table=torch.arange(tokens // page, dtype=torch.int32, device="cuda")[None],
    softcap=0,
    q_descale=None,
    k_descale=None,
    v_descale=None,
)
