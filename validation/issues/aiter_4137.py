"""ROCm/aiter#4137, #5409: unified attention with heads of size 256 spills since Triton 3.7 (gfx950)."""

import checkouts

checkouts.use_aiter()
ARCH, KERNEL, CAUSES, KNOBS = "MI355X", "kernel_unified_attention_2d", ("KP301", "KP302"), ("waves_per_eu",)
# Milliseconds under Triton 3.7 and 3.6, for a size that the issue does not name.
CONFIGS = {"M128 waves_per_eu=2": 17.9, "M128 waves_per_eu=1": 4.4}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations."""
    settings = {"BLOCK_M": 128, "TILE_SIZE": 64, "num_warps": 4, "num_stages": 1, "waves_per_eu": int(name[-1])}
    checkouts.unified_attention(settings, tokens=8192, heads=(16, 2), size=256)
