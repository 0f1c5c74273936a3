"""vllm-project/vllm#49778: 4-bit experts of gpt-oss take tiles of 512 columns, more LDS than there is (gfx950)."""

import mxfp4_experts

mxfp4_experts.use_copy()
ARCH, KERNEL, CAUSES, KNOBS = "MI355X", "_matmul_ogs", ("KP401", "KP014"), ("BLOCK_M", "BLOCK_N", "BLOCK_K")
# None: it cannot be launched. The issue gives no times; 64 columns are the most that later versions of the package take
# where they have no table for a type.
CONFIGS = {"128x512x256": None, "128x64x256": 1.0}


def launch(name: str) -> None:
    """Launch it with one of the configurations: 1,024 rows, 32 for each expert."""
    mxfp4_experts.product(256, swizzled=True, flags={"block_n": 64} if "x64x" in name else {})
