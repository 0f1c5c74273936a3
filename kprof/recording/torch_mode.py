"""Run a recorded program's GPU operators on the CPU, and mark their results as being on the GPU."""

import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from kprof.recording.device_marks import cuda_index, mark, mark_of, storage
from kprof.recording.torch_large import on_meta

if TYPE_CHECKING:
    from kprof.recording.recorder import Recorder
    from kprof.recording.torch_large import Large
    from kprof.recording.torch_operators import DeviceOperators

# Operators whose result shape, or effect on the program's control flow, depends on values.
_READS = {
    "aten::_local_scalar_dense": "item",
    "aten::nonzero": "nonzero",
    "aten::masked_select": "masked_select",
    "aten::_unique2": "unique",
    "aten::unique_consecutive": "unique_consecutive",
    "aten::unique_dim": "unique",
    "aten::bincount": "bincount",
    "aten::repeat_interleave": "repeat_interleave",
    "aten::equal": "equal",
}

_HEAVY = frozenset(
    f"aten::{name}"
    for name in (
        "mm", "addmm", "bmm", "baddbmm", "_scaled_mm", "convolution", "convolution_backward",
        "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu_backward",
    )
)  # fmt: skip
"""Operators whose amount of arithmetic grows faster than their memory; without ``arithmetic`` they return zeros."""


def make_mode_type(
    recorder: "Recorder", operators: "DeviceOperators", large: "Large | None", current: Callable[[], int]
) -> Any:
    """Return the class of the dispatch mode that redirects GPU operators.

    Torch wraps the method of such a class so that Dynamo does not compile it. The wrapper imports Dynamo, which takes
    seconds. The class has the plain method until :func:`protect_from_dynamo` restores the wrapper.

    Args:
        recorder: records reads of values that were not computed.
        operators: implementations that the program registered for the GPU.
        large: decides what is not computed; ``None`` to compute everything.
        current: returns the index of the current device.
    """
    import torch
    from torch.utils import _python_dispatch

    base: Any = _python_dispatch.TorchDispatchMode

    @cache
    def wraps(kind: Any) -> bool:
        """Return whether a tensor subclass calls operators on inner tensors, as nested and quantised tensors do."""
        return hasattr(kind, "__tensor_flatten__") and hasattr(kind, "__tensor_unflatten__")

    get_mode, fake = torch._C._get_dispatch_mode, torch._C._TorchDispatchModeKey.FAKE  # noqa: SLF001
    redirected = _Redirected(recorder, operators, large, current, tensor_type=torch.Tensor, cpu=torch.device("cpu"))

    class RedirectMode(base):  # type: ignore[misc]
        """Receives every operator that reaches a backend."""

        @classmethod
        def is_infra_mode(cls) -> bool:
            """Return True, so torch.compile accepts the mode as infrastructure."""
            return True

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if get_mode(fake) is not None:
                # Fake tensors handle the GPU themselves, but torch calls this mode before theirs.
                return func(*args, **kwargs)
            if types and any(map(wraps, types)):
                # The wrapper's operators on its inner tensors reach this mode separately.
                return NotImplemented
            return redirected.call(self, func, args, kwargs)

    protected = RedirectMode.__torch_dispatch__
    RedirectMode.protected_dispatch = protected
    RedirectMode.__torch_dispatch__ = getattr(protected, "__wrapped__", protected)  # type: ignore[method-assign]
    return RedirectMode


def protect_from_dynamo(mode_type: Any) -> None:
    """Restore torch's wrapper around the dispatch method, for programs that import Dynamo."""
    mode_type.__torch_dispatch__ = mode_type.protected_dispatch


class _Redirected:
    """Runs GPU operators on the CPU. Its arguments are those of :func:`make_mode_type`, and torch's own types."""

    def __init__(
        self,
        recorder: "Recorder",
        operators: "DeviceOperators",
        large: "Large | None",
        current: Callable[[], int],
        *,
        tensor_type: type,
        cpu: Any,
    ) -> None:
        self.recorder, self.operators, self.large, self.current = recorder, operators, large, current
        self.tensor_type, self.cpu = tensor_type, cpu
        self.skip = not recorder.settings.arithmetic

    def call(self, mode: Any, func: Any, args: Any, kwargs: Any) -> Any:
        """Return an operator's result: from the program's own kernel, as zeros of its shape, or computed by the CPU."""
        marked, unknown = _inputs(args, kwargs, self.tensor_type)
        named, current = kwargs.get("device"), self.current()
        index = _device(named, marked, current)
        schema, name = func._schema, func._schema.name  # noqa: SLF001
        place = index if index is not None else _device_argument(args, current)
        key = None if place is None else self.operators.key(func)
        if place is not None and key is not None:
            ran, out = self.operators.run(key, mode, func, args, kwargs)
            if ran:
                _mark_result(out, args, place, mutable=schema.is_mutable)
                return out
        if named is not None and named.type == "cuda":
            kwargs = {**kwargs, "device": self.cpu}
        if kwargs.get("pin_memory"):
            # A torch without a GPU has no allocator for pinned memory.
            kwargs = {**kwargs, "pin_memory": False}
        if unknown and (what := _READS.get(name) or _masked(name, args)):
            self.recorder.read(what)
        if self.large is not None and index is not None and name not in _READS:
            fetches = named is not None and named.type == "cpu" and not unknown
            shapes = self.large.shapes(func, args, kwargs, fetches=fetches)
            if shapes is not None:
                self.operators.shaped(func, args, kwargs, shapes.out)
                _mark_all(shapes.out, index, self.tensor_type, unknown=shapes.unknown)
                return shapes.out
        skipped = self.skip and marked is not None and name in _HEAVY
        out, computed = (_zeros(func, args, kwargs), False) if skipped else _run(func, args, kwargs)
        if index is not None and not skipped:
            (self.operators.computed if computed else self.operators.zeros)(func, args, kwargs, out)
        unknown = unknown or not computed
        if unknown and name == "aten::copy_" and mark_of(args[0]) is None:
            self.recorder.read("to cpu")
        _mark_results(schema, out, args, index, unknown=unknown)
        return out


def _masked(name: str, args: Any) -> str | None:
    """Return a description if the operator indexes by a mask, because the mask's values set the result's length."""
    if name != "aten::index" or len(args) < 2:
        return None
    import torch

    return "index by a mask" if any(i is not None and i.dtype in {torch.bool, torch.uint8} for i in args[1]) else None


def install_fallback(operators: "DeviceOperators", current: Callable[[], int]) -> Any:
    """Redirect operators that torch calls with all modes disabled; return an object that removes the redirection."""
    import torch

    cpu = torch.device("cpu")

    def fallback(op: Any, *args: Any, **kwargs: Any) -> Any:
        index = cuda_index(kwargs.get("device"), current())
        if index is not None:
            kwargs = {**kwargs, "device": cpu}
        out, computed = _run(op, args, kwargs)
        if index is not None:
            (operators.computed if computed else operators.zeros)(op, args, kwargs, out)
            _mark_all(out, index, torch.Tensor, unknown=not computed)
        return out

    registry: Any = torch.library
    library = registry.Library("_", "IMPL")
    library.fallback(fallback, dispatch_key="CUDA")
    if torch.version.cuda is None and torch.version.hip is None:
        return _Registrations(library)
    # In a GPU build of torch, its own kernels precede a fallback, and kernels that create tensors call the driver.
    making = registry.Library("aten", "IMPL")
    factories: Any = torch.ops.aten
    for op in (factories.empty.memory_format, factories.empty_strided.default):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # The library's own method would count as a registration by the program.
            making.m.impl(op.name().removeprefix("aten::"), "CUDA", partial(fallback, op), False)
    return _Registrations(library, making)


class _Registrations:
    """Operator registrations with torch that can be removed."""

    def __init__(self, *libraries: Any) -> None:
        self._libraries = libraries

    def remove(self) -> None:
        """Remove all registrations."""
        for library in self._libraries:
            library._destroy()  # noqa: SLF001


def _device(named: Any, marked: int | None, current: int) -> int | None:
    """Return the device of an operator's result: the named device, or that of its inputs; ``None`` for the CPU.

    For torch's own code every tensor is on the CPU, so a copy "to the CPU" in it leaves a tensor where it is.
    Tensors that the program moves to the CPU lose their mark afterwards.
    """
    if named is None:
        return marked
    return cuda_index(named, current) if named.type == "cuda" or marked is None else marked


def _mark_results(schema: Any, out: Any, args: Any, index: int | None, *, unknown: bool) -> None:
    """Mark the tensors that an operator returned or changed."""
    import torch

    name = schema.name
    if schema.is_mutable:
        _after_change(out, args, index, unknown=unknown, in_place=name.endswith("_") and "foreach" not in name)
    elif index is not None:
        if name.startswith(("aten::empty", "aten::new_empty")):
            # Uninitialised memory would differ between runs, and so could the recording.
            out.zero_()
        _mark_all(out, index, torch.Tensor, unknown=unknown)


def _after_change(out: Any, args: Any, index: int | None, *, unknown: bool, in_place: bool) -> None:
    """Mark the results of an operator that changes its arguments; a CPU tensor that it changes stays on the CPU."""
    import torch

    tensors = [item for value in args for item in (value if isinstance(value, list | tuple) else (value,))]
    tensors = [item for item in tensors if isinstance(item, torch.Tensor)]
    plain = {id(storage(item)) for item in tensors if mark_of(item) is None}
    if unknown:
        for item in tensors[:1] if in_place else tensors:
            found = mark_of(item)
            if found is not None:
                found.unknown = True
    made = out if isinstance(out, list | tuple) else (out,)
    for item in made:
        if index is not None and isinstance(item, torch.Tensor) and id(storage(item)) not in plain:
            mark(item, index, unknown=unknown)


def _inputs(args: Any, kwargs: Any, tensor_type: type) -> tuple[int | None, bool]:
    """Return the index of the arguments' device, and whether any argument has values that were not computed."""
    index, unknown = None, False
    for value in (*args, *kwargs.values()):
        items = value if isinstance(value, list | tuple) else (value,)
        for item in items:
            if isinstance(item, tensor_type):
                found = mark_of(item)
                if found is not None:
                    index = found.index
                    unknown = unknown or found.unknown
    return index, unknown


def _mark_all(out: Any, index: int, tensor_type: type, *, unknown: bool) -> None:
    if isinstance(out, tensor_type):
        mark(out, index, unknown=unknown)
    elif isinstance(out, list | tuple):
        for item in out:
            _mark_all(item, index, tensor_type, unknown=unknown)


def _device_argument(args: Any, current: int) -> int | None:
    """Return the index of the device among the positional arguments, which need not be called ``device``."""
    import torch

    return next((cuda_index(value, current) for value in args if isinstance(value, torch.device)), None)


def _mark_result(out: Any, args: Any, index: int, *, mutable: bool) -> None:
    """Mark the results of a program's kernel as known; tensors that a launch writes are marked at the launch."""
    import torch

    if mutable:
        _after_change(out, args, index, unknown=False, in_place=False)
    else:
        _mark_all(out, index, torch.Tensor, unknown=False)


def _run(func: Any, args: Any, kwargs: Any) -> tuple[Any, bool]:
    """Run an operator on the CPU; if the CPU does not support these types, return zeros of the result's shape.

    Returns:
        The result, and whether it was computed.
    """
    try:
        return func(*args, **kwargs), True
    except (NotImplementedError, RuntimeError) as error:
        if not isinstance(error, NotImplementedError) and "not implemented for" not in str(error):
            raise
    wider = _wider(func, args, kwargs)
    return (wider, True) if wider is not None else (_zeros(func, args, kwargs), False)


def _wider(func: Any, args: Any, kwargs: Any) -> Any:
    """Compute an operator in wider types that the CPU supports; return ``None`` if that fails."""
    import torch
    from torch.utils._pytree import tree_map_only

    def widened(tensor: Any) -> Any:
        return tensor.to(torch.float32 if tensor.is_floating_point() else torch.float64)

    if func._schema.is_mutable or "dtype" in kwargs:  # noqa: SLF001
        return None
    try:
        kinds = on_meta(func, args, kwargs)
        made = func(*tree_map_only(torch.Tensor, widened, args), **tree_map_only(torch.Tensor, widened, kwargs))
    except (NotImplementedError, RuntimeError, TypeError):
        return None
    if isinstance(made, torch.Tensor) and isinstance(kinds, torch.Tensor) and made.shape == kinds.shape:
        return made.to(kinds.dtype)
    return None


def _zeros(func: Any, args: Any, kwargs: Any) -> Any:
    if kwargs.get("out") is not None:
        return kwargs["out"]
    import torch
    from torch.utils._pytree import tree_map_only

    out = on_meta(func, args, kwargs)
    return tree_map_only(
        torch.Tensor, lambda t: torch.empty_strided(t.shape, t.stride(), dtype=t.dtype, device="cpu").zero_(), out
    )
