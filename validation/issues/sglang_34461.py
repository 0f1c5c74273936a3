"""sgl-project/sglang#34461: blocks of 64 rows and four warps for heads of size 64 (gfx950)."""

from sglang_extend import extend

ARCH, KERNEL, CAUSES, KNOBS = "MI355X", "_fwd_kernel", ("KP508",), ("BLOCK_M", "num_warps")
# Relative times: 47 % less for the full attention; (64, 64)/8 is 12 % slower.
CONFIGS = {"64x64/4": 1.0, "128x64/8": 0.53, "64x64/8": 1.12}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations."""
    rows, columns, warps = map(int, name.replace("/", "x").split("x"))
    extend((rows, columns, warps), 64)
