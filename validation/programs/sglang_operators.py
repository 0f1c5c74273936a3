"""sglang: attention over a prefix, and a fused mixture of experts; AITER, which it also uses, left out."""

from typing import Any

import absent

absent.without("torchvision", "torchaudio", "sgl_kernel", "decord", "outlines", "torchao", "flashinfer", "aiter")

import torch  # noqa: E402


def half(*shape: int) -> torch.Tensor:
    """Return a bfloat16 tensor on the device."""
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def extend() -> Any:
    """Run attention of 512 new tokens after a prefix of 1,024, twice."""
    from sglang.kernels.ops.attention.extend_attention import extend_attention_fwd

    new, prefix, heads, size = 512, 1024, 8, 128
    q, k, v = half(2 * new, heads, size), half(2 * new, 2, size), half(2 * new, 2, size)
    starts = torch.tensor([0, new, 2 * new], dtype=torch.int32, device="cuda")
    pages = torch.tensor([0, prefix, 2 * prefix], dtype=torch.int32, device="cuda")
    places = torch.arange(2 * prefix, dtype=torch.int64, device="cuda")
    cache = half(2 * prefix, 2, size), half(2 * prefix, 2, size)
    return extend_attention_fwd(
        q, k, v, torch.empty_like(q), *cache, starts, pages, places, None, True, None, new, 1.0, 1.0
    )


def experts() -> Any:
    """Run the mixture of experts: 128 rows, two of eight experts each, configured as in a scheduler's process."""
    from sglang.srt.runtime_context import get_parallel, publish
    from sglang.srt.server_args import ServerArgs

    publish(ServerArgs(model_path="none"), role="test")
    # With a single process, the tensor-parallel group is looked up but not used.
    get_parallel().override_permanently(tp_group=None)
    from sglang.srt.layers.moe.moe_runner.triton_utils.fused_moe import fused_experts_impl

    weights, ids = torch.rand(128, 2, device="cuda"), torch.randint(0, 8, (128, 2), device="cuda", dtype=torch.int32)
    return fused_experts_impl(half(128, 1024), half(8, 1024, 1024), half(8, 1024, 512), weights, ids)


for call in (extend, experts):
    try:
        call()
    except Exception as error:  # noqa: BLE001  # one operator's failure is a line of the page
        print(f"failed {call.__name__}: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}")
