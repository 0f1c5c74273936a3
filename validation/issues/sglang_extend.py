"""SGLang's attention over a prefix, with the blocks and warps that its issues compare."""

import absent

absent.without("torchvision", "torchaudio", "sgl_kernel", "decord", "outlines", "torchao", "flashinfer", "aiter")

import sglang.kernels.ops.attention.extend_attention as module  # noqa: E402
import torch  # noqa: E402
from checkouts import half, replaced  # noqa: E402


def extend(blocks: tuple[int, int, int], size: int, values: int = 0, heads: tuple[int, int] = (16, 2)) -> None:
    """Run attention of 4,096 new tokens after a prefix of 4,096, with BLOCK_M, BLOCK_N and num_warps."""
    values = values or size
    plain = module._get_block_sizes_for_extend_attention  # noqa: SLF001
    q, k, v = half(4096, heads[0], size), half(4096, heads[1], size), half(4096, heads[1], values)
    starts, pages = (torch.tensor([0, 4096], dtype=torch.int32, device="cuda") for _ in range(2))
    places = torch.arange(4096, dtype=torch.int64, device="cuda")
    cache = half(4096, heads[1], size), half(4096, heads[1], values)
    name = "_get_block_sizes_for_extend_attention"
    with replaced(module, name, lambda lq, lv: (*plain(lq, lv)[:3], *blocks)):
        module.extend_attention_fwd(
            q, k, v, half(4096, heads[0], values), *cache, starts, pages, places, None, True, None, 4096, 1.0, 1.0
        )
