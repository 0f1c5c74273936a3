"""ROCm/aiter#5650, #5649: FP8 attention, heads of 512, 16k tokens: small tiles; 128 rows need 8 warps (gfx942)."""

import checkouts

checkouts.use_aiter()
ARCH, KERNEL, CAUSES, KNOBS = "MI325X", "kernel_unified_attention_2d", ("KP301", "KP302"), ("num_warps",)
# Times in milliseconds.
MILLISECONDS = True
CONFIGS = {
    "M16 T32 4 warps": 44.7,
    "M64 T16 4 warps": 25.7,
    "M128 T16 8 warps": 18.9,
}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations."""
    rows, tile, warps, _ = name.split()
    settings = {
        "BLOCK_M": int(rows[1:]),
        "TILE_SIZE": int(tile[1:]),
        "num_warps": int(warps),
        "num_stages": 2,
        "waves_per_eu": 2,
    }
    if rows == "M16":
        settings["num_stages"] = 1
    checkouts.unified_attention(settings, tokens=16384, heads=(32, 4), size=512, fp8=True)
