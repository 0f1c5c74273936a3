"""A device guard for the GPU that asks no driver.

C++ code of torch asks a registry for the guard of a device type even where nothing is done on the device, as with fake
tensors. A torch built without a GPU has none and refuses; one built with it asks the driver, which is not there, and
ends the process. The guard of the CPU, which does nothing, is entered for the GPU.
"""

import ctypes
from collections.abc import Callable
from pathlib import Path

_REGISTRY = "_ZN3c104impl26device_guard_impl_registryE"
_CPU, _CUDA = 0, 1
_SLOTS = 2


def install() -> Callable[[], None]:
    """Enter the CPU's guard in place of the GPU's; gives the way back."""
    import torch

    library = Path(torch.__file__).parent / "lib" / "libc10.so"
    try:
        registry = (ctypes.c_void_p * _SLOTS).in_dll(ctypes.CDLL(str(library)), _REGISTRY)
    except (OSError, ValueError):
        # Another build of torch: only fake tensors on the GPU are lost.
        return lambda: None
    before = registry[_CUDA]
    if registry[_CPU]:
        registry[_CUDA] = registry[_CPU]

    def remove() -> None:
        registry[_CUDA] = before

    return remove
