"""vllm-project/vllm#49778: 4-bit experts of gpt-oss with tiles of 512 columns exceed the LDS (gfx950)."""

import mxfp4_experts

mxfp4_experts.use_copy()
ARCH, KERNEL, CAUSES, KNOBS = "MI355X", "_matmul_ogs", ("KP401", "KP014"), ("BLOCK_M", "BLOCK_N", "BLOCK_K")
# None: the configuration cannot be launched. The issue gives no times. Later versions of the package use at most 64
# columns for types without a table.
CONFIGS = {"128x512x256": None, "128x64x256": 1.0}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations: 1,024 rows, 32 for each expert."""
    mxfp4_experts.product(256, swizzled=True, flags={"block_n": 64} if "x64x" in name else {})
