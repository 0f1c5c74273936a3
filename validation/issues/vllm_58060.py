"""vllm-project/vllm#58060: square blocks of 128 in attention without a cache (gfx1100)."""

import absent

absent.without("llguidance", "vllm._C")

import torch  # noqa: E402
import vllm.v1.attention.ops.triton_prefill_attention as module  # noqa: E402
from checkouts import half, replaced  # noqa: E402

ARCH, KERNEL, CAUSES, KNOBS = "gfx1100", "_fwd_kernel", ("KP301", "KP302"), ("BLOCK_N",)
# The narrower block is faster in every case of the issue, by different amounts.
CONFIGS = {"BLOCK_N=128": 1.0, "BLOCK_N=32": 0.7}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations."""
    q, k, v = (half(4096, 12, 64) for _ in range(3))
    starts = torch.tensor([0], dtype=torch.int32, device="cuda")
    lengths = torch.tensor([4096], dtype=torch.int32, device="cuda")
    with (
        replaced(module, "_prefer_narrow_kv_tile", lambda: name == "BLOCK_N=32"),
        replaced(module, "get_block_size", lambda _kind: 128),
    ):
        module.context_attention_fwd(q, k, v, half(4096, 12, 64), starts, lengths, 4096, is_causal=False)
