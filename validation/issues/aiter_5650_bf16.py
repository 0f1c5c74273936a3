"""ROCm/aiter#5649 (comment): the same attention is fastest with eight warps in BF16, and with four in FP8 (gfx942)."""

import checkouts

checkouts.use_aiter()
ARCH, KERNEL, CAUSES, KNOBS = "MI325X", "kernel_unified_attention_2d", ("KP301", "KP302"), ("num_warps",)
# Times in milliseconds.
MILLISECONDS = True
CONFIGS = {"M64 T16 4 warps": 93.0, "M16 T32 4 warps": 69.9, "M64 T16 8 warps": 38.8}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations."""
    rows, tile, warps, _ = name.split()
    settings = {"BLOCK_M": int(rows[1:]), "TILE_SIZE": int(tile[1:]), "num_warps": int(warps), "waves_per_eu": 2}
    settings["num_stages"] = 1 if rows == "M16" else 2
    checkouts.unified_attention(settings, tokens=16384, heads=(32, 4), size=512)
