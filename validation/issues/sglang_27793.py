"""sgl-project/sglang#27793: blocks of 64 rows for heads of size 256; blocks of 256 rows spill (gfx950)."""

from sglang_extend import extend

ARCH, KERNEL, CAUSES, KNOBS = "MI355X", "_fwd_kernel", ("KP301", "KP302"), ("BLOCK_M", "num_warps")
# Relative times: blocks of 128 columns are 19 % slower, and 256 rows take twice as long as 128.
PRESENT = "256x64/8"
CONFIGS = {"128x64/8": 1.0, "128x128/8": 1.19, "256x64/8": 2.0}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations."""
    rows, columns, warps = map(int, name.replace("/", "x").split("x"))
    extend((rows, columns, warps), 256)
