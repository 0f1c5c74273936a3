# ruff: noqa: SLF001  # the dispatcher has no public API
"""Call the kernels that the program registers for operators on the GPU, with simulated GPU tensors.

A tensor "on the GPU" has the dispatch keys of the CPU, so torch never selects a CUDA kernel by itself. When an
operator reaches the dispatch mode, the mode calls :meth:`DeviceOperators.key` and runs the kernel. Decisions that torch
makes before the mode, by the CPU's keys for autograd and autocast, are redirected separately
(:mod:`kprof.recording.torch_redirects`).

Only kernels written in Python are called: a C++ kernel expects GPU memory.
"""

import threading
from collections.abc import Callable
from contextlib import nullcontext
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from kprof.recording import operator_tally
from kprof.recording.torch_redirects import Redirects

if TYPE_CHECKING:
    from kprof.recording.operator_tally import OperatorTally
    from kprof.simulation.patches import Patches

NESTED = 16
"""Depth of recursion at which an operator's kernel that calls the operator again gets the CPU's result."""

_KEYS = {"CUDA", "AutogradCUDA", "AutocastCUDA"}
_ANYWHERE = ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
_IDLE = {
    "aten::" + name
    for name in (
        *("empty", "empty_like", "empty_strided", "empty_permuted", "empty_quantized", "_empty_affine_quantized"),
        *("new_empty", "new_empty_strided", "set_", "resize_", "resize_as_", "record_stream", "_version"),
        *("_unsafe_view", "unsafe_split", "unsafe_split_with_sizes", "lift_fresh", "squeeze_", "unsqueeze_", "t_"),
        *("transpose_", "swapaxes_", "swapdims_", "detach_", "as_strided_", "is_same_size", "is_pinned"),
        *("_has_same_storage_numel", "sym_size", "sym_stride", "sym_numel", "sym_storage_offset", "sym_is_contiguous"),
        *("sym_constrain_range", "sym_constrain_range_for_size", "set_data"),
        *("_nested_get_values", "_nested_get_offsets", "_nested_get_lengths", "_nested_get_ragged_idx"),
        *("_nested_get_min_seqlen", "_nested_get_max_seqlen", "_nested_get_jagged_dummy"),
        *("_nested_tensor_size", "_nested_tensor_strides", "_nested_tensor_storage_offsets"),
    )
}
"""Operators that launch no kernel although the dispatcher does not consider them views.

Names are complete, because ``t_copy``, for example, does launch one.
"""
_TORCHS = {"aten", "prim", "prims", "rngprims", "debugprims", "inductor", "c10d", "_c10d_functional", "higher_order"}


class _Kind(Enum):
    """Behaviour of a GPU for an operator that has no kernel in Python.

    Attributes:
        IDLE: launch no kernel: a view, an allocation, a query of a shape.
        TORCH: launch one of torch's own kernels.
        ANY_DEVICE: run a library's code that is written for every device.
        STAND_IN: launch a library's GPU kernel, which cannot run here.
    """

    IDLE = auto()
    TORCH = auto()
    ANY_DEVICE = auto()
    STAND_IN = auto()


class DeviceOperators:
    """Finds the operators for which the program registered a GPU kernel, and counts the calls of all others.

    Args:
        counts: returns the tally of operator calls; a fork of the program has a tally of its own.
        note: called with each call that would launch a GPU kernel: the operator, its arguments and its result.
    """

    def __init__(self, counts: "Callable[[], OperatorTally]", note: Callable[..., None] | None = None) -> None:
        import torch

        self._note = note

        c: Any = torch._C
        self._counts = counts
        self._has = c._dispatch_has_kernel_for_dispatch_key
        self._keys: Any = c.DispatchKey
        self._in_force: set[str] = torch.library._impls
        self._namespaces = _TORCHS | {name.partition("::")[0] for name in c._dispatch_get_all_op_names()}
        self._names: dict[Any, str] = {}
        self._entries: dict[tuple[str, str], str] = {}
        self._python: set[str] = set()
        self._kinds: dict[Any, _Kind] = {}
        self._nested = threading.local()
        self._redirects = Redirects(lambda name: counts().running(name), self._registered)

    def install(self, patches: "Patches") -> None:
        """Track registrations from now on."""
        import torch

        library: Any = torch.library.Library
        plain = library.impl

        def impl(self: Any, op_name: Any, fn: Any, dispatch_key: Any = "", *args: Any, **kwargs: Any) -> Any:
            out = plain(self, op_name, fn, dispatch_key, *args, **kwargs)
            key = str(dispatch_key or self.dispatch_key or "CompositeImplicitAutograd").removeprefix("DispatchKey.")
            if key in _KEYS:
                operators._follow(_registered_name(self, op_name), key, self.ns)
            elif key in _ANYWHERE:
                operators._python.add(_registered_name(self, op_name))
            return out

        operators = self
        patches.set(library, "impl", impl)

    def remove(self) -> None:
        """Remove all redirections from the dispatcher."""
        self._redirects.remove()

    def key(self, func: Any) -> Any:
        """Return the dispatch key of the Python implementation that the program registered for an operator.

        Implementations for any device or for the CPU are included, because they may launch GPU kernels. ``None`` if the
        program registered no implementation, or removed it.
        """
        name = self.name(func)
        if self._registered(name, "CUDA"):
            return self._keys.CUDA
        if name not in self._python or func.namespace in _TORCHS:
            return None
        # The key of the registration is needed, not the key that the dispatcher would use.
        found = next((key for key in _ANYWHERE if self._has(name, key)), None)
        return None if found is None else getattr(self._keys, found)

    def name(self, func: Any) -> str:
        """Return ``library::operator.overload``, without the overload ``default``."""
        found = self._names.get(func)
        if found is None:
            found = self._names[func] = qualified(func)
        return found

    def run(self, key: Any, mode: Any, func: Any, args: Any, kwargs: Any) -> tuple[bool, Any]:
        """Call a kernel of the program inside the mode, so the tensors it creates are on the GPU, too.

        Returns:
            Whether it was called, and its result. The kernel is not called if it is nested :data:`NESTED` times,
            because it then calls the operator that it replaces.
        """
        depths: dict[Any, int] = self._nested.__dict__
        name = self.name(func)
        depth = depths.get(name, 0)
        if depth >= NESTED:
            self._counts().unrun(name, operator_tally.RECURSION)
            return False, None
        depths[name] = depth + 1
        counts = self._counts()
        stands_in = key == self._keys.CPU
        if stands_in:
            counts.unrun(name, operator_tally.CPU)
        try:
            with nullcontext() if stands_in else counts.running(name), mode:
                # A call by a key set would reject numbers where the schema has tensors.
                return True, func._op_dk(key, *args, **kwargs)
        finally:
            depths[name] = depth

    def zeros(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """Count an operator that nothing could compute; its result is zeros."""
        self._counts().unrun(self.name(func), operator_tally.ZEROS)
        self._note_call(func, args, kwargs, out)

    def computed(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """Count an operator that the CPU computed, because no GPU implementation in Python is registered."""
        self._report(func, operator_tally.CPU)
        self._note_call(func, args, kwargs, out)

    def shaped(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """Count an operator that was not computed because its tensors are large; its result has only a shape."""
        self._report(func, operator_tally.SHAPE)
        self._note_call(func, args, kwargs, out)

    def _note_call(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        if self._note is not None and self._kind(func) is not _Kind.IDLE:
            self._note(func, args, kwargs, out)

    def _report(self, func: Any, how: str) -> None:
        kind = self._kind(func)
        if kind is _Kind.TORCH:
            self._counts().torchs(self.name(func))
        elif kind is _Kind.STAND_IN or (how == operator_tally.SHAPE and kind is _Kind.ANY_DEVICE):
            self._counts().unrun(self.name(func), how)

    def _kind(self, func: Any) -> "_Kind":
        found = self._kinds.get(func)
        if found is None:
            found = self._kinds[func] = self._find_kind(func)
        return found

    def _find_kind(self, func: Any) -> "_Kind":
        name = self.name(func)
        if func.namespace in self._namespaces:
            idle = func.is_view or name.partition(".")[0] in _IDLE
            return _Kind.IDLE if idle else _Kind.TORCH
        composite = any(self._has(name, f"Composite{kind}Autograd") for kind in ("Explicit", "Implicit"))
        return _Kind.ANY_DEVICE if composite else _Kind.STAND_IN

    def _follow(self, name: str, key: str, library: str) -> None:
        self._entries[name, key] = f"{library}/{name.rpartition('::')[2]}/{key}"
        self._redirects.follow(name, key)

    def _registered(self, name: str, key: str) -> bool:
        """Return whether a kernel that the program registered still exists.

        The dispatcher alone cannot tell: in a GPU build of torch, torch's own kernel returns when the program's is
        removed.
        """
        entry = self._entries.get((name, key))
        return entry is not None and entry in self._in_force and self._has(name, key)


def qualified(func: Any) -> str:
    """Return the dispatcher's name of an overload."""
    schema = func._schema
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else str(schema.name)


def _registered_name(library: Any, op_name: Any) -> str:
    if not isinstance(op_name, str):
        return qualified(op_name)
    return op_name if "::" in op_name else f"{library.ns}::{op_name}"
