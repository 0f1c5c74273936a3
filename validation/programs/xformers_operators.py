"""xformers: split-K attention over a padded cache, rms norm, padded rotary embedding, tiled products, indexing."""

import importlib
from typing import Any

import torch


def half(*shape: int) -> torch.Tensor:
    """Return a bfloat16 tensor on the device."""
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def of(module: str, name: str) -> Any:
    """Return a function or class of xformers."""
    return getattr(importlib.import_module(f"xformers.ops.{module}"), name)


def split_k() -> Any:
    """Run split-K attention of one token of four sequences, eight query heads per key head."""
    mask = of("fmha.attn_bias", "BlockDiagonalCausalWithOffsetPaddedKeysMask").from_seqlens(
        q_seqlen=[1] * 4, kv_padding=1024, kv_seqlen=[200, 700, 1000, 1024]
    )
    fmha = importlib.import_module("xformers.ops.fmha")
    q, k, v = half(1, 4, 1, 8, 128), half(1, 4096, 1, 1, 128), half(1, 4096, 1, 1, 128)
    return fmha.memory_efficient_attention_forward(
        q, k.expand(-1, -1, -1, 8, -1), v.expand(-1, -1, -1, 8, -1), mask, op=fmha.triton_splitk.FwOp
    )


def rotary() -> Any:
    """Run rotary embedding of 64 new tokens of two sequences, into caches of 256."""
    mask = of("fmha.attn_bias", "BlockDiagonalCausalWithOffsetPaddedKeysMask").from_seqlens(
        q_seqlen=[64, 64], kv_padding=256, kv_seqlen=[100, 200]
    )
    cache = half(1, 512, 2, 128), half(1, 512, 2, 128)
    return of("rope_padded", "rope_padded")(
        half(1, 128, 8, 128), half(1, 128, 2, 128), half(1, 128, 2, 128), *cache, mask
    )


def tiled() -> Any:
    """Run products of two by two tiles."""
    a, b = ([[half(256, 256) for _ in range(2)] for _ in range(2)] for _ in range(2))
    return of("tiled_matmul", "tiled_matmul")(a, b)


calls = {
    "memory_efficient_attention_forward": split_k,
    "rms_norm": lambda: of("rmsnorm", "rms_norm")(half(256, 4096), half(4096)),
    "rms_norm_add": lambda: of("rmsnorm", "rms_norm_add")(half(256, 4096), half(256, 4096), half(4096)),
    "rope_padded": rotary,
    "tiled_matmul": tiled,
    "index_select_cat": lambda: of("indexing", "index_select_cat")(
        [half(64, 256), half(32, 256)], [torch.arange(16, device="cuda"), torch.arange(8, device="cuda")]
    ),
    "scaled_index_add": lambda: of("indexing", "scaled_index_add")(
        half(64, 32, 256), torch.arange(16, device="cuda"), half(16, 32, 256), half(256)
    ),
}
for name, call in calls.items():
    try:
        with torch.no_grad():
            call()
    except Exception as error:  # noqa: BLE001  # one operator's failure is a line of the page
        print(f"failed {name}: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}")
