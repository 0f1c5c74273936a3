"""fla-org/flash-linear-attention#751: tiles of 64 values exceed the LDS of RDNA (gfx1100)."""

import torch
import triton
from checkouts import half
from fla.ops.common import chunk_delta_h as module

ARCH, CAUSES, KNOBS = "gfx1100", ("KP401", "KP014"), ("BV", "num_stages")
KERNEL = "chunk_gated_delta_rule_fwd_kernel_h_blockdim64"
# None: the configuration cannot be launched. The autotuner chose among the other ones.
CONFIGS = {"BV=64 num_stages=4": None, "BV=32 num_stages=2": 1.0}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations."""
    sizes = dict(part.split("=") for part in name.split())
    # The function has three layers: heuristics, the autotuner, the kernel.
    tuner = module.chunk_gated_delta_rule_fwd_kernel_h_blockdim64.fn
    tuner.configs = [triton.Config({"BV": int(sizes["BV"])}, num_warps=4, num_stages=int(sizes["num_stages"]))]
    tuner.cache.clear()
    gates = torch.zeros(1, 2048, 8, device="cuda")
    module.chunk_gated_delta_rule_fwd_h(half(1, 2048, 8, 128), half(1, 2048, 8, 128), half(1, 2048, 8, 128), g=gates)
