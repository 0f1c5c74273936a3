"""Load kernels by name, without compiling anything and even if Triton is not installed."""

from importlib.util import find_spec

from kprof.kernel_spec import Kernel
from kprof.targets.library import bundled
from kprof.targets.library import load as load_target


def load(name: str) -> Kernel:
    """Load a kernel by name or file. Without Triton, describe a bundled kernel by its source alone.

    Raises:
        KprofError: if the kernel does not exist, or the user's file cannot be imported.
    """
    path = bundled().get(name)
    if path is None or find_spec("triton") is not None:
        return load_target(name)
    from kprof.targets.without_triton import described

    return described(path)


def is_bundled(kernel: Kernel) -> bool:
    """Whether a kernel is the bundled one, and not a user's file with the same name."""
    return kernel.name in bundled() and load(kernel.name) is kernel
