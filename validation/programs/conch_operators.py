"""conch-triton-kernels: attention over paged caches, norms, rotary embedding, quantisation, boxes, 4-bit products."""

import importlib
from typing import Any

import torch


def half(*shape: int) -> torch.Tensor:
    """Return a float16 tensor on the device."""
    return torch.randn(*shape, device="cuda", dtype=torch.float16)


def ints(*values: int) -> torch.Tensor:
    """Return a tensor of 32-bit integers on the device."""
    return torch.tensor(values, dtype=torch.int32, device="cuda")


def of(module: str, name: str) -> Any:
    """Return a function of conch."""
    return getattr(importlib.import_module(f"conch.ops.{module}"), name)


def cache() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return keys and values in 64 blocks of 32 tokens, and the blocks of two sequences."""
    return half(64, 32, 2, 128), half(64, 32, 2, 128), torch.arange(64, dtype=torch.int32, device="cuda").reshape(2, 32)


def paged() -> Any:
    """Run paged attention of one token of two sequences."""
    k, v, table = cache()
    return of("attention.paged_attention", "paged_attention")(half(2, 8, 128), k, v, table, ints(700, 1000))


def varlen() -> Any:
    """Run attention of 256 new tokens of two sequences."""
    k, v, table = cache()
    starts, lengths = ints(0, 256, 512), ints(700, 1000)
    return of("attention.varlen_attention", "varlen_attention")(
        half(512, 8, 128), k, v, starts, 256, lengths, 1000, table, causal=True
    )


def mixed_precision() -> Any:
    """Run a product of 16-bit rows with 4-bit weights that are scaled in groups of 128."""
    packed = torch.randint(0, 1 << 30, (512, 1024), dtype=torch.int32, device="cuda")
    return of("quantization.gemm", "mixed_precision_gemm")(half(64, 4096), packed, half(32, 1024), None, 4, 8, 128)


calls = {
    "paged_attention": paged,
    "varlen_attention": varlen,
    "rms_norm": lambda: of("normalization.rms_norm", "rms_norm")(half(256, 4096), half(4096), 1e-6),
    "fused_add_rms_norm": lambda: of("normalization.rms_norm", "fused_add_rms_norm")(
        half(256, 4096), half(256, 4096), half(4096), 1e-6
    ),
    "gemma_rms_norm": lambda: of("normalization.gemma_rms_norm", "gemma_rms_norm")(half(256, 4096), half(4096), 1e-6),
    "silu_and_mul": lambda: of("activation.silu_and_mul", "silu_and_mul")(half(256, 8192)),
    "gelu_tanh_and_mul": lambda: of("activation.gelu_tanh_and_mul", "gelu_tanh_and_mul")(half(256, 8192)),
    "scaled_fp8_quant": lambda: of("quantization.fp8", "scaled_fp8_quant")(
        half(256, 4096), torch.ones(1, device="cuda")
    ),
    "scaled_int8_quant": lambda: of("quantization.int8", "scaled_int8_quant")(
        half(256, 4096), torch.ones(1, device="cuda")
    ),
    "mixed_precision_gemm": mixed_precision,
    "rotary_embedding": lambda: of("embedding.rotary_embedding", "rotary_embedding")(
        torch.arange(256, device="cuda"), half(256, 1024), half(256, 256), 128, half(2048, 128)
    ),
    "nms": lambda: of("vision.nms", "nms")(torch.rand(512, 4, device="cuda"), torch.rand(512, device="cuda"), 0.5),
}
for name, call in calls.items():
    try:
        call()
    except Exception as error:  # noqa: BLE001  # one operator's failure is a line of the page
        print(f"failed {name}: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}")
