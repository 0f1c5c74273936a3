# ruff: noqa: SLF001  # the dispatcher has no public API
"""Redirect the CPU's autograd and autocast keys to the program's GPU kernels if a tensor is on the GPU.

torch dispatches by these keys before any dispatch mode is called. By the CPU's keys, an operator such as ``layer_norm``
is decomposed, and a kernel for ``AutogradCUDA`` is never reached.
"""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from kprof.recording.device_marks import cuda_index, mark_of

_AUTOGRAD, _AUTOCAST = "AutogradCPU", "AutocastCPU"
_AT = {"CUDA": _AUTOGRAD, "AutogradCUDA": _AUTOGRAD, "AutocastCUDA": _AUTOCAST}
_ORDER = {_AUTOGRAD: ("AutogradCUDA", "CUDA"), _AUTOCAST: ("AutocastCUDA",)}


class Redirects:
    """The redirections of dispatch keys in a process.

    Args:
        running: returns the context to enter while an operator's ``CUDA`` kernel is called from here, given its name.
        registered: returns whether the program has registered a kernel for an operator's name at a key.
    """

    def __init__(
        self, running: Callable[[str], AbstractContextManager[None]], registered: Callable[[str, str], bool]
    ) -> None:
        import torch

        self._running, self._registered = running, registered
        self._c: Any = torch._C
        self._tensor = torch.Tensor
        self._has = self._c._dispatch_has_kernel_for_dispatch_key
        self._libraries: dict[tuple[str, str], Any] = {}

    def remove(self) -> None:
        """Remove the redirections from the dispatcher."""
        for library in self._libraries.values():
            library._destroy()
        self._libraries.clear()

    def follow(self, name: str, key: str) -> None:
        """Add the redirection for a kernel that the program registers.

        Args:
            name: ``library::operator.overload``.
            key: ``CUDA``, ``AutogradCUDA`` or ``AutocastCUDA``.
        """
        at = _AT[key]
        if (name, at) in self._libraries:
            return
        if key == "CUDA" and any(self._has(name, k) for k in (_AUTOGRAD, "Autograd")):
            # torch calls the operator's derivative formula first, and then the dispatch mode as usual.
            return
        op = _overload(name)
        if op is None:
            return
        import torch

        registry: Any = torch.library
        namespace, _, rest = name.partition("::")
        library = self._libraries[name, at] = registry.Library(namespace, "IMPL")
        with warnings.catch_warnings():
            # Replacing a kernel is intended, so the warning is suppressed.
            warnings.simplefilter("ignore")
            library.impl(rest, self._redirect(op, name, at), at, with_keyset=True)

    def _redirect(self, op: Any, name: str, at: str) -> Callable[..., Any]:
        keys = self._c.DispatchKey
        onwards = self._before(op, name, at)
        autocast = self._c.DispatchKeySet(keys.AutocastCPU)

        def redirect(keyset: Any, *args: Any, **kwargs: Any) -> Any:
            target = None
            if self._on_gpu(args, kwargs):
                target = next((k for k in _ORDER[at] if self._registered(name, k)), None)
            if target is None:
                return onwards(keyset, args, kwargs)
            key = getattr(keys, target)
            if at != _AUTOCAST:
                with self._running(name) if target == "CUDA" else nullcontext():
                    return op._op_dk(key, *args, **kwargs)
            # An autocast kernel calls its operator again with CUDA's autocast disabled; here the CPU's has to be
            # disabled.
            with self._c._ExcludeDispatchKeyGuard(autocast):
                return op._op_dk(key, *args, **kwargs)

        return redirect

    def _before(self, op: Any, name: str, at: str) -> Callable[[Any, Any, Any], Any]:
        """Return a function that calls an operator as torch did at this key before the redirection."""
        c, keys = self._c, self._c.DispatchKey
        kernel = (
            c._dispatch_get_computed_kernel_for_dispatch_key(name, at)
            if c._dispatch_has_computed_kernel_for_dispatch_key(name, at)
            else None
        )
        try:
            passes = kernel is None or bool(c._dispatch_kernel_for_dispatch_key_is_fallthrough(name, at))
        except RuntimeError:
            # The kernel belongs to an alias key or is a fallback.
            passes = False
        if at == _AUTOGRAD and self._has(name, "CompositeImplicitAutograd"):
            return lambda _keyset, args, kwargs: op._op_dk(keys.CompositeImplicitAutograd, *args, **kwargs)
        if at == _AUTOGRAD and passes:
            below = c._after_autograd_keyset
            return lambda keyset, args, kwargs: op.redispatch(keyset & below, *args, **kwargs)
        if passes:
            return lambda keyset, args, kwargs: op.redispatch(keyset.remove(keys.AutocastCPU), *args, **kwargs)
        call: Any = kernel
        return lambda keyset, args, kwargs: call.call_boxed(keyset, *args, **kwargs)

    def _on_gpu(self, args: Any, kwargs: Any) -> bool:
        for value in (*args, *kwargs.values()):
            for item in value if isinstance(value, list | tuple) else (value,):
                if isinstance(item, self._tensor) and mark_of(item) is not None:
                    return True
        return cuda_index(kwargs.get("device"), 0) is not None


def _overload(name: str) -> Any:
    """Return the overload with a name; ``None`` if it is not defined."""
    import torch

    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base, None)
    return getattr(packet, overload or "default", None)
