"""Default GPUs for options of commands that name no GPU."""

from kprof.hardware.default import DEFAULT_ARCH, DEFAULT_GPU, USUAL_ARCHS

__all__ = ["DEFAULT_ARCH", "DEFAULT_GPU", "USUAL_ARCHS"]
