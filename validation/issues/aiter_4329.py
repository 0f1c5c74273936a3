"""ROCm/aiter#4329, #4385: unified attention of one token with heads of size 256 exceeds the LDS of RDNA (gfx1201)."""

import checkouts

checkouts.use_aiter()
import aiter.ops.triton.attention.unified_attention as module  # noqa: E402
import torch  # noqa: E402
from checkouts import half, replaced  # noqa: E402

ARCH, CAUSES, KNOBS = "gfx1201", ("KP401", "KP014"), ("num_stages", "TILE_SIZE")
KERNEL = "kernel_unified_attention_3d"
# None: the configuration cannot be launched. The issue gives no times.
CONFIGS = {"num_stages=2": None, "num_stages=1": 1.0}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations: one token after 8,192, pages of 64."""
    pages, length = 128, 8192
    starts = torch.tensor([0, 1], dtype=torch.int32, device="cuda")
    used = torch.tensor([length], dtype=torch.int32, device="cuda")
    table = torch.arange(pages, dtype=torch.int32, device="cuda")[None]
    plain = module.select_3d_config

    def chosen(*args: object, **options: object) -> object:
        attention, reduction = plain(*args, **options)
        settings = {"TILE_SIZE": 64, "num_warps": 2, "num_stages": int(name.partition("=")[2])}
        return {**attention, **settings}, {**reduction, "TILE_SIZE": 64}

    cache = [half(pages, 64, 1, 256) for _ in range(2)]
    with replaced(module, "select_3d_config", chosen), replaced(module, "use_2d_kernel", lambda *_: False):
        module.unified_attention(
            half(1, 8, 256), *cache, half(1, 8, 256), starts, 1, used, length, 256**-0.5, True, (-1, -1),
            table, 0.0, None, None, None,
        )  # fmt: skip
