"""vllm-project/vllm#52056: 4-bit experts of gpt-oss spill with tiles of 128 rows, which are used on RDNA (gfx1201)."""

import mxfp4_experts

mxfp4_experts.use_copy()
ARCH, KERNEL, CAUSES, KNOBS = "gfx1201", "_matmul_ogs", ("KP301", "KP302"), ("BLOCK_M",)
# Not kernel times: the numbers only say which tile is slower.
CONFIGS = {"128x256x128": 2.0, "64x256x64": 1.0}
NOT_MEASURED = True


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations: 512 rows for each expert."""
    rows, columns, depth = map(int, name.split("x"))
    mxfp4_experts.product(4096, swizzled=False, flags={"block_m": rows, "block_n": columns, "block_k": depth})
