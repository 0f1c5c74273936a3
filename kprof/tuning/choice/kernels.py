"""Kernels by name for a choice, which compiles nothing where there is no Triton."""

from importlib.util import find_spec

from kprof.kernel_spec import Kernel
from kprof.targets.library import bundled
from kprof.targets.library import load as load_target


def load(name: str) -> Kernel:
    """A kernel from its name or file; without Triton a bundled one, of what its file says of itself.

    Raises:
        KprofError: no such kernel, or a file of the user's that cannot be imported.
    """
    path = bundled().get(name)
    if path is None or find_spec("triton") is not None:
        return load_target(name)
    from kprof.targets.without_triton import described

    return described(path)


def is_bundled(kernel: Kernel) -> bool:
    """Whether a kernel is the one that comes with kprof, and not a file of the user's with the same name."""
    return kernel.name in bundled() and load(kernel.name) is kernel
