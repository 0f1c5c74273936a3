"""The GPU that is meant where nobody names one."""

DEFAULT_GPU = "MI300X"
