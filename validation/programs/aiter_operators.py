"""aiter ($AITER_SOURCE): Triton operators, each called once; its package is not initialised, which builds C++."""

import torch
from aiter_checkout import each, flash_attention, half, of, unified_attention

each(
    {
        "gemm_a16w16": lambda: of("gemm.basic.gemm_a16w16", "gemm_a16w16")(half(64, 4096), half(4096, 4096)),
        "batched_gemm_bf16": lambda: of("gemm.batched.batched_gemm_bf16", "batched_gemm_bf16")(
            half(4, 64, 512), half(4, 512, 512)
        ),
        "rms_norm": lambda: of("normalization.rmsnorm", "rms_norm")(half(256, 4096), half(4096), 1e-6),
        "layer_norm": lambda: of("normalization.norm", "layer_norm")(half(256, 4096), half(4096), half(4096), 1e-6),
        "softmax": lambda: of("softmax", "softmax")(half(256, 4096)),
        "topk": lambda: of("topk", "topk")(torch.randn(8, 512, device="cuda"), 8),
        "unified_attention": unified_attention,
        "flash_attn_func": flash_attention,
    }
)
