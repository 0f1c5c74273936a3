"""Kernels."""


class KernelFunction:
    """A kernel."""

    def __init__(self, func):
        self._func = func
        self._kernel_name = None

    def _emit_kernel(self, ctx, args, kwargs, bound_self=None):
        self._kernel_name = f"{self._func.__name__}_0"
        return self._kernel_name


def kernel(func):
    """Make a kernel of a function."""
    return KernelFunction(func)
