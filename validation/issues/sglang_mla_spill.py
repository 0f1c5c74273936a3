"""sgl-project/sglang#34741: blocks of 64 columns spill for heads of size 576 since Triton 3.7 (gfx950)."""

from sglang_extend import extend

ARCH, KERNEL, CAUSES, KNOBS = "MI355X", "_fwd_kernel", ("KP301", "KP302"), ("BLOCK_N",)
# Milliseconds from a comment of the source, which names no sizes, so they count as relative times.
CONFIGS = {"64x64/4": 2.4, "64x32/4": 1.0}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations."""
    rows, columns, warps = map(int, name.replace("/", "x").split("x"))
    extend((rows, columns, warps), 576, 512, (16, 1))
