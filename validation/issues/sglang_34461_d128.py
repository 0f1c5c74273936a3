"""sgl-project/sglang#34461: blocks of 64 rows and four warps for heads of size 128 (gfx950)."""

from sglang_extend import extend

ARCH, KERNEL, CAUSES, KNOBS = "MI355X", "_fwd_kernel", ("KP508",), ("BLOCK_M", "num_warps")
# Relative times: 32 % less.
CONFIGS = {"64x64/4": 1.0, "128x64/8": 0.68}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations."""
    rows, columns, warps = map(int, name.replace("/", "x").split("x"))
    extend((rows, columns, warps), 128)
