"""Environment switches of the installed Triton that change the generated code, with their defaults."""

import inspect
from typing import Any

from kprof.compiler.versions import api

# These variables print something or name a file; they have no on and off state.
_NO_CODE = ("DUMP", "PATH", "SWAP", "LIB")
# Functions of Triton's backend that decide whether a switch is on if it is not set. Ping-pong depends on asynchronous
# copies.
_DECIDED_BY = {
    "TRITON_HIP_USE_ASYNC_COPY": "is_async_copy_enabled",
    "TRITON_HIP_USE_BLOCK_PINGPONG": "is_pingpong_schedule_enabled",
    "TRITON_HIP_USE_IN_THREAD_TRANSPOSE": "is_in_thread_transpose_enabled",
}


def switches(arch: str) -> dict[str, bool | None]:
    """Return whether each switch is on in this process's environment; ``None`` if that cannot be determined.

    The values come from ``triton.knobs.amd`` and from functions of ``triton.backends.amd.compiler`` that decide by
    architecture.

    Args:
        arch: architecture, for example ``gfx950``.

    Raises:
        KprofError: if no usable Triton is installed.
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
            # A switch is off unless it is set, or one of the functions below decides otherwise.
            found[name] = bool(value)
    for name, function in _DECIDED_BY.items():
        decide = getattr(compiler, function, None)
        if decide is not None and name in found:
            found[name] = _decision(decide, arch, copies=bool(found.get("TRITON_HIP_USE_ASYNC_COPY")))
    return dict(sorted(found.items()))


def _decision(decide: Any, arch: str, *, copies: bool) -> bool | None:
    """Return the backend's decision for an architecture; ``None`` if the function has unknown parameters."""
    known = {"arch": arch, "base_arch": arch, "use_async_copy": copies}
    names = inspect.signature(decide).parameters
    if not set(names) <= set(known):
        return None
    try:
        return bool(decide(**{name: known[name] for name in names}))
    except (TypeError, ValueError, AttributeError):
        return None
