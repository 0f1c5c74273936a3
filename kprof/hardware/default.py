"""Default GPUs, used when the user names none."""

DEFAULT_GPU = "MI300X"
DEFAULT_ARCH = "gfx942"
"""Architecture of the default GPU, for answers that do not depend on the product."""
USUAL_ARCHS = "gfx90a,gfx942,gfx950,gfx1100,gfx1201"
"""One architecture of each generation that Triton compiles for, to show where a kernel can run."""
