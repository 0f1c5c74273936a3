"""The GPUs that are meant where none is named."""

DEFAULT_GPU = "MI300X"
DEFAULT_ARCH = "gfx942"
"""Its architecture: for answers that are of no product."""
USUAL_ARCHS = "gfx90a,gfx942,gfx950,gfx1100,gfx1201"
"""One architecture of each generation that Triton compiles for: to say of a kernel where it can run."""
