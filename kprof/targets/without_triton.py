"""Load a bundled kernel's description on a machine without Triton: sizes, knobs and checks of configurations.

During the import, ``triton`` and ``triton.language`` are replaced by stand-ins whose ``jit`` returns the function
unchanged. The file's Python functions work as usual, but its kernels cannot be compiled or run.
"""

import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from kprof.kernel_spec import Kernel

_REPLACED_MODULES = ("triton", "triton.language")


@cache
def described(path: Path) -> Kernel:
    """Return the ``KERNEL`` of a file that imports only Triton at its top level. The file is run.

    Args:
        path: a bundled kernel's file.
    """
    spec = importlib.util.spec_from_file_location(f"_kprof_described_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = {name: sys.modules.get(name) for name in _REPLACED_MODULES}
    write, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.modules.update(_stand_ins())
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = write
        for name, found in before.items():
            if found is None:
                del sys.modules[name]
            else:
                sys.modules[name] = found
    kernel = module.KERNEL
    assert isinstance(kernel, Kernel)
    return kernel


def _stand_ins() -> dict[str, ModuleType]:
    triton, language = (ModuleType(name) for name in _REPLACED_MODULES)
    told: dict[str, Any] = {"jit": _jit, "cdiv": lambda a, b: -(-a // b), "next_power_of_2": _next_power_of_2}
    vars(triton).update(told, language=language)
    vars(language).update(constexpr=_Constexpr)
    return {"triton": triton, "triton.language": language}


def _jit(function: Callable[..., Any] | None = None, **_options: Any) -> Any:
    return _jit if function is None else function


def _next_power_of_2(number: int) -> int:
    return 1 << max(number - 1, 0).bit_length()


class _Constexpr:
    """Stand-in for ``tl.constexpr``: an annotation, and a wrapper of a value."""

    def __init__(self, value: Any) -> None:
        self.value = value
