"""The GPUs that are meant where none is named, for the options of commands."""

from kprof.hardware.default import DEFAULT_ARCH, DEFAULT_GPU, USUAL_ARCHS

__all__ = ["DEFAULT_ARCH", "DEFAULT_GPU", "USUAL_ARCHS"]
