"""ROCm/aiter#5664: tiles of 16 rows for heads of size 512, FP8 cache, 8k tokens (gfx942)."""

import checkouts

checkouts.use_aiter()
ARCH, KERNEL, CAUSES, KNOBS = "MI325X", "kernel_unified_attention_2d", ("KP508",), ("BLOCK_M",)
# Relative times, from 79 and 193 TFLOPS.
CONFIGS = {"M16 waves_per_eu=2": 2.44, "M64 waves_per_eu=1": 1.0}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations."""
    rows, waves = name.split()
    settings = {
        "BLOCK_M": int(rows[1:]),
        "TILE_SIZE": 16,
        "num_warps": 4,
        "num_stages": 2,
        "waves_per_eu": int(waves[-1]),
    }
    checkouts.unified_attention(settings, tokens=8192, heads=(32, 4), size=512, fp8=True)
