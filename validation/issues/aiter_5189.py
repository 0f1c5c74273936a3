"""ROCm/aiter#5189: a mixture of experts with 4-bit matrices spills with eight warps, but not with four (gfx950)."""

import checkouts

checkouts.use_aiter()
import aiter.ops.triton.moe.moe_op_gemm_a4w4 as module  # noqa: E402
import torch  # noqa: E402
from aiter.ops.triton.moe.moe_routing.routing import ExptData, RoutingData  # noqa: E402

ARCH, KERNEL, CAUSES, KNOBS = "MI355X", "_moe_gemm_a4w4", ("KP301", "KP302", "KP303"), ("num_warps",)
# Relative times: spilling costs about 17 %. The issue does not name the matrix sizes.
CONFIGS = {"num_warps=8": 1.17, "num_warps=4": 1.0}


def bytes_of(*shape: int) -> torch.Tensor:
    """Return a tensor of 4-bit numbers, two per byte, or of their scales."""
    return torch.empty(*shape, device="cuda", dtype=torch.uint8)


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations, 128 rows for each of 32 experts."""
    experts, rows, n, k = 32, 128, 6144, 3072
    count = torch.arange(experts + 1, dtype=torch.int32, device="cuda")
    hist = torch.full((experts,), rows, dtype=torch.int32, device="cuda")
    blocks = torch.cat([count[:-1], torch.full((experts,), -1, dtype=torch.int32, device="cuda")])
    routing = RoutingData(rows, None, hist, experts, 4, ExptData(hist, count * rows, count, blocks))
    plain = module.get_kernel_config_triton
    warps = int(name.partition("=")[2])
    with checkouts.replaced(module, "get_kernel_config_triton", lambda *a: {**plain(*a), "num_warps": warps}):
        module.moe_gemm_a4w4(
            bytes_of(experts * rows, k // 2),
            bytes_of(experts, n, k // 2).transpose(1, 2),
            bytes_of(experts * rows, k // 32),
            bytes_of(experts, n // 32, k).transpose(1, 2),
            routing_data=routing,
            swizzle_mx_scale="CDNA4_SCALE",
        )
