"""aiter ($AITER_SOURCE), triton: its unified and its flash attention, whose autotuner key Triton 3.9 refuses."""

from aiter_checkout import each, flash_attention, unified_attention

each({"unified_attention": unified_attention, "flash_attn_func": flash_attention})
