"""A device guard for the GPU that does not call a driver.

C++ code of torch gets the guard of a device type from a registry even if nothing is done on the device, as with fake
tensors. A torch built without a GPU has no guard and raises an error. A torch built with a GPU calls the driver, which
is missing, and ends the process. Therefore the CPU's guard, which does nothing, is registered for the GPU.
"""

import ctypes
from collections.abc import Callable
from pathlib import Path

_REGISTRY = "_ZN3c104impl26device_guard_impl_registryE"
_CPU, _CUDA = 0, 1
_SLOTS = 2


def install() -> Callable[[], None]:
    """Register the CPU's guard for the GPU; return a function that restores the registry."""
    import torch

    library = Path(torch.__file__).parent / "lib" / "libc10.so"
    try:
        registry = (ctypes.c_void_p * _SLOTS).in_dll(ctypes.CDLL(str(library)), _REGISTRY)
    except (OSError, ValueError):
        # This build of torch has no such registry. Only fake tensors on the GPU do not work then.
        return lambda: None
    before = registry[_CUDA]
    if registry[_CPU]:
        registry[_CUDA] = registry[_CPU]

    def remove() -> None:
        registry[_CUDA] = before

    return remove
