"""Environment switches of the installed Triton that change the code, with what each is when it is not set."""

import inspect
from typing import Any

from kprof.compiler.versions import api

# On or off says nothing about these: they print, or name a file.
_NO_CODE = ("DUMP", "PATH", "SWAP", "LIB")
# Which of the backend's functions decides where a switch is not set. Ping-pong follows asynchronous copies.
_DECIDED_BY = {
    "TRITON_HIP_USE_ASYNC_COPY": "is_async_copy_enabled",
    "TRITON_HIP_USE_BLOCK_PINGPONG": "is_pingpong_schedule_enabled",
    "TRITON_HIP_USE_IN_THREAD_TRANSPOSE": "is_in_thread_transpose_enabled",
}


def switches(arch: str) -> dict[str, bool | None]:
    """Name to whether it is on, as this process's environment stands; ``None`` when that cannot be determined.

    Asked of ``triton.knobs.amd`` and of the functions of ``triton.backends.amd.compiler`` that decide by architecture.

    Args:
        arch: ``gfx950``.

    Raises:
        KprofError: no usable Triton.
    """
    api()
    from triton import knobs
    from triton.backends.amd import compiler

    found: dict[str, bool | None] = {}
    for attribute, descriptor in vars(type(knobs.amd)).items():
        name = getattr(descriptor, "key", None)
        if not isinstance(name, str) or any(word in name for word in _NO_CODE):
            continue
        value = getattr(knobs.amd, attribute)
        if value is None or isinstance(value, bool):
            # Off unless it is set or a function below decides.
            found[name] = bool(value)
    for name, function in _DECIDED_BY.items():
        decide = getattr(compiler, function, None)
        if decide is not None and name in found:
            found[name] = _decision(decide, arch, copies=bool(found.get("TRITON_HIP_USE_ASYNC_COPY")))
    return dict(sorted(found.items()))


def _decision(decide: Any, arch: str, *, copies: bool) -> bool | None:
    """The backend's answer for an architecture; ``None`` when it is asked in another way by now."""
    known = {"arch": arch, "base_arch": arch, "use_async_copy": copies}
    names = inspect.signature(decide).parameters
    if not set(names) <= set(known):
        return None
    try:
        return bool(decide(**{name: known[name] for name in names}))
    except (TypeError, ValueError, AttributeError):
        return None
