"""ROCm/aiter#5137: waves_per_eu above what the registers allow spills in a product of 16-bit matrices (gfx950)."""

import checkouts

checkouts.use_aiter()
from aiter.ops.triton.gemm.basic.gemm_a16w16 import gemm_a16w16  # noqa: E402

TILE = {
    "BLOCK_SIZE_M": 32,
    "BLOCK_SIZE_N": 32,
    "BLOCK_SIZE_K": 256,
    "GROUP_SIZE_M": 1,
    "num_warps": 8,
    "num_stages": 3,
    "matrix_instr_nonkdim": 16,
    "cache_modifier": ".cg",
    "NUM_KSPLIT": 1,
    "SPLITK_BLOCK_SIZE": 8192,
}
ARCH, KERNEL, CAUSES, KNOBS = "MI355X", "_gemm_a16_w16_kernel", ("KP301", "KP302"), ("waves_per_eu",)
# Relative times: the pull request reports a gain of 242 %.
CONFIGS = {"waves_per_eu=8": 3.42, "waves_per_eu=4": 1.0}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations."""
    waves = int(name.partition("=")[2])
    gemm_a16w16(checkouts.half(32, 8192), checkouts.half(1280, 8192), config={**TILE, "waves_per_eu": waves})
