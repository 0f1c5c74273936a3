# ruff: noqa: SLF001  # the dispatcher has no public door
"""Operators that the program registers for the GPU: on its tensors they run, as they would there.

A tensor "on the GPU" has the dispatch keys of the CPU, so torch never comes to a kernel for CUDA by itself. Where an
operator reaches the dispatch mode, the mode asks :meth:`Operators.has` and calls the kernel. What torch decides above
the mode, by the CPU's keys for autograd and autocast, is redirected there (:mod:`kprof.recording.torch_redirects`).

Only kernels written in Python are called: one in C++ expects memory of a GPU.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kprof.recording import answers
from kprof.recording.torch_redirects import Redirects

if TYPE_CHECKING:
    from kprof.recording.answers import Answers
    from kprof.simulation.patches import Patches

NESTED = 16
"""Calls of an operator inside its own kernel from which on the CPU's kernel answers."""

_KEYS = {"CUDA", "AutogradCUDA", "AutocastCUDA"}
_TORCHS = {"aten", "prim", "prims", "rngprims", "debugprims", "inductor", "c10d", "_c10d_functional", "higher_order"}


class Operators:
    """What has a kernel for the GPU, and what is said of the others.

    Args:
        counts: gives the object that counts answers, which is another one after a fork.
    """

    def __init__(self, counts: "Callable[[], Answers]") -> None:
        import torch

        c: Any = torch._C
        self._counts = counts
        self._has = c._dispatch_has_kernel_for_dispatch_key
        self._cuda = c.DispatchKey.CUDA
        self._namespaces = _TORCHS | {name.partition("::")[0] for name in c._dispatch_get_all_op_names()}
        self._names: dict[Any, str] = {}
        self._registered: set[str] = set()
        self._stands_in: dict[Any, bool] = {}
        self._nested = threading.local()
        self._redirects = Redirects(lambda name: counts().ran(name))

    def install(self, patches: "Patches") -> None:
        """Take note of what is registered from now on."""
        import torch

        library: Any = torch.library.Library
        plain = library.impl

        def impl(self: Any, op_name: Any, fn: Any, dispatch_key: Any = "", *args: Any, **kwargs: Any) -> Any:
            out = plain(self, op_name, fn, dispatch_key, *args, **kwargs)
            key = str(dispatch_key or self.dispatch_key).removeprefix("DispatchKey.")
            if key in _KEYS:
                operators._follow(_registered_name(self, op_name), key)
            return out

        operators = self
        patches.set(library, "impl", impl)

    def remove(self) -> None:
        """Leave the dispatcher as it was."""
        self._redirects.remove()

    def has(self, func: Any) -> bool:
        """Whether the program has registered a kernel for the GPU, and it is still there."""
        name = self.name(func)
        return name in self._registered and bool(self._has(name, "CUDA"))

    def name(self, func: Any) -> str:
        """``library::operator.overload``, without the overload that is called ``default``."""
        found = self._names.get(func)
        if found is None:
            found = self._names[func] = qualified(func)
        return found

    def run(self, mode: Any, func: Any, args: Any, kwargs: Any) -> tuple[bool, Any]:
        """Call the kernel for the GPU, in the mode: what it makes is on the GPU too.

        Returns:
            Whether it was called, and what it gave. It is not when it is inside itself :data:`NESTED` times: then it
            calls the operator that it replaces.
        """
        depths: dict[Any, int] = self._nested.__dict__
        name = self.name(func)
        depth = depths.get(name, 0)
        if depth >= NESTED:
            self._counts().unrun(name, answers.RECURSION)
            return False, None
        depths[name] = depth + 1
        self._counts().ran(name)
        try:
            with mode:
                # Called by its key: a call by a set of keys refuses numbers where the schema has tensors.
                return True, func._op_dk(self._cuda, *args, **kwargs)
        finally:
            depths[name] = depth

    def zeros(self, func: Any) -> None:
        """Nothing could compute this operator; its result is zeros."""
        self._counts().unrun(self.name(func), answers.ZEROS)

    def computed(self, func: Any) -> None:
        """The CPU has computed this operator, which nobody registered for the GPU from Python."""
        stands_in = self._stands_in.get(func)
        if stands_in is None:
            stands_in = self._stands_in[func] = self._is_stand_in(func)
        if stands_in:
            self._counts().unrun(self.name(func), answers.CPU)

    def _is_stand_in(self, func: Any) -> bool:
        """Whether a GPU would run something else than torch's own kernels or a library's code for every device."""
        if func.namespace in self._namespaces:
            return False
        name = self.name(func)
        return not any(self._has(name, f"Composite{kind}Autograd") for kind in ("Explicit", "Implicit"))

    def _follow(self, name: str, key: str) -> None:
        if key == "CUDA":
            self._registered.add(name)
        self._redirects.follow(name, key)


def qualified(func: Any) -> str:
    """The name of an overload as the dispatcher has it."""
    schema = func._schema
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else str(schema.name)


def _registered_name(library: Any, op_name: Any) -> str:
    if not isinstance(op_name, str):
        return qualified(op_name)
    return op_name if "::" in op_name else f"{library.ns}::{op_name}"
