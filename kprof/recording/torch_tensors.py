"""Patch the tensor attributes that Python code reads, and functions that create tensors without an operator."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from kprof.recording.device_marks import mark, mark_of, mark_storage, unmark
from kprof.recording.operator_calls import to_host

if TYPE_CHECKING:
    from kprof.recording.torch_device import StandInDevice


_MAKERS = ("tensor", "as_tensor", "asarray", "sparse_coo_tensor")


def install(device: "StandInDevice") -> None:
    """Patch ``torch.Tensor`` and the functions that create tensors from Python values."""
    import torch

    device.patches.update(torch.Tensor, {**_properties(device), **_moves(device), **_reads(device)})
    _makers(device)
    _storages(device)
    _default_device(device)
    _autocast(device)


def _properties(device: "StandInDevice") -> dict[str, Any]:
    import torch

    addresses = device.addresses

    base = torch._C.TensorBase  # noqa: SLF001
    plain_device, plain_pointer = base.device.__get__, base.data_ptr

    def device_of(tensor: Any) -> Any:
        found = plain_device(tensor)
        if found.type != "cpu":
            return found
        known = mark_of(tensor)
        return found if known is None else torch.device("cuda", known.index)

    def data_ptr(tensor: Any) -> int:
        if hasattr(tensor, "fake_mode"):
            # A fake tensor has no memory; alignment is derived from its offset in the storage.
            return int(tensor.storage_offset()) * int(tensor.element_size())
        pointer: int = plain_pointer(tensor)
        addresses.take(tensor, pointer)
        return pointer

    return {
        "device": property(device_of),
        "is_cuda": property(lambda tensor: tensor.device.type == "cuda"),
        "is_cpu": property(lambda tensor: tensor.device.type == "cpu"),
        "get_device": lambda tensor: tensor.device.index if tensor.device.type == "cuda" else -1,
        "data_ptr": data_ptr,
        "record_stream": lambda _tensor, _stream: None,
        "pin_memory": lambda tensor, *_args, **_kwargs: tensor,
        "is_pinned": lambda _tensor, *_args, **_kwargs: False,
    }


def _moves(device: "StandInDevice") -> dict[str, Any]:
    """Return replacements for ``to``, ``cuda`` and ``cpu`` of tensors that stand in for tensors on a GPU.

    Stand-ins are CPU tensors, so torch itself would not move anything.
    """
    import torch

    plain = torch._C.TensorBase.to  # noqa: SLF001

    def split(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the device named in a call of ``to``, and the other arguments by name."""
        other = kwargs.get("other", args[0] if args else None)
        if kwargs.get("device") is not None:
            target, rest = kwargs["device"], args
        elif isinstance(other, torch.Tensor):
            target, rest = other.device, (other.dtype, *args[1:])
        elif args and isinstance(args[0], str | torch.device | int) and not isinstance(args[0], bool):
            target, rest = args[0], args[1:]
        else:
            return None, {}
        named = {name: value for name, value in kwargs.items() if name not in {"device", "other"}}
        # Modules pass None for an unchanged dtype.
        named |= dict(zip(("dtype", "non_blocking", "copy"), rest, strict=False))
        return target, {name: value for name, value in named.items() if value is not None}

    def to(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        target, named = split(args, kwargs)
        if target is None or tensor.device.type not in {"cpu", "cuda"}:
            return plain(tensor, *args, **kwargs)
        index = device.index_of(target)
        if index is None and torch.device(target).type != "cpu":
            return plain(tensor, *args, **kwargs)
        if (index is None) == (tensor.device.type == "cpu"):
            return plain(tensor, **named) if named else tensor
        if index is None:
            known = mark_of(tensor)
            if known is not None and known.unknown:
                device.recorder.read("to cpu")
        copied = _copied(tensor, index, named)
        if index is None:
            unmark(copied)
        return copied

    def cuda(tensor: Any, device: Any = None, non_blocking: bool = False, **_: Any) -> Any:
        return to(tensor, "cuda" if device is None else device, non_blocking=non_blocking)

    def cpu(tensor: Any, *_args: Any, **_kwargs: Any) -> Any:
        return to(tensor, "cpu")

    return {"to": to, "cuda": cuda, "cpu": cpu}


def _copied(tensor: Any, index: int | None, named: dict[str, Any]) -> Any:
    import torch

    options = {name: named[name] for name in ("dtype", "memory_format") if name in named}
    target = torch.device("cpu") if index is None else torch.device("cuda", index)
    if torch.nn.parameter.is_lazy(tensor):
        # A lazy parameter without a shape does not support operators; until it has one, it is an empty tensor.
        return torch.empty(0, dtype=options.get("dtype", tensor.data.dtype), device=target)
    with nullcontext() if index is not None else to_host():
        return torch.ops.aten._to_copy(tensor, device=target, **options)  # noqa: SLF001


def _reads(device: "StandInDevice") -> dict[str, Any]:
    """Return wrappers of the tensor methods that read values without calling an operator: ``tolist``, ``numpy``."""
    import torch

    base = torch._C.TensorBase  # noqa: SLF001

    def watched(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def method(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            known = mark_of(tensor)
            if known is not None and known.unknown:
                device.recorder.read(name)
            return plain(tensor, *args, **kwargs)

        return method

    return {"tolist": watched("tolist", base.tolist), "numpy": watched("numpy", base.numpy)}


def _makers(device: "StandInDevice") -> None:
    """Patch functions that build a tensor in C++ before any operator is called."""
    import torch

    def redirected(plain: Callable[..., Any]) -> Callable[..., Any]:
        def make(*args: Any, **kwargs: Any) -> Any:
            index = device.index_of(kwargs.get("device"))
            if kwargs.get("pin_memory"):
                # Host memory is the simulated GPU's memory, and a torch without a GPU has no allocator for pinned
                # memory.
                kwargs = {**kwargs, "pin_memory": False}
            if index is None:
                return plain(*args, **kwargs)
            made = plain(*args, **{**kwargs, "device": "cpu"})
            if mark_of(made) is None and any(made is value for value in args):
                made = made.clone()
            mark(made, index)
            return made

        return make

    for owner, names in (
        (torch, _MAKERS),
        (torch.Tensor, ("new_tensor",)),
    ):
        for name in names:
            device.patches.set(owner, name, redirected(getattr(owner, name)))


def _storages(device: "StandInDevice") -> None:
    import torch

    def cuda(storage: Any, target: Any = None, *_args: Any, **_kwargs: Any) -> Any:
        mark_storage(storage, device.index_of(target) or 0)
        return storage

    plain = torch.UntypedStorage.to

    def to(storage: Any, *, device: Any, non_blocking: bool = False) -> Any:
        return (
            cuda(storage, device)
            if torch.device(device).type == "cuda"
            else plain(storage, device=device, non_blocking=non_blocking)
        )

    device.patches.update(torch.UntypedStorage, {"cuda": cuda, "to": to})


def _default_device(device: "StandInDevice") -> None:
    """Patch ``with torch.device("cuda")``, which adds the device after the calls have passed the patches above."""
    import torch
    from torch.utils._device import DeviceContext

    original: Any = DeviceContext.__torch_function__

    def torch_function(context: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if context.device.type == "cuda" and name in _MAKERS and not (kwargs or {}).get("device"):
            return getattr(torch, name)(*args, **{**(kwargs or {}), "device": context.device})
        return original(context, func, types, args, kwargs)

    device.patches.set(DeviceContext, "__torch_function__", torch_function)


def _autocast(device: "StandInDevice") -> None:
    """Let autocast for the GPU also take effect on the CPU, where the operators run."""
    import torch

    plain_enabled, plain_dtype = torch.set_autocast_enabled, torch.set_autocast_dtype

    def set_enabled(*args: Any, **kwargs: Any) -> None:
        plain_enabled(*args, **kwargs)
        if args and args[0] == "cuda":
            plain_enabled("cpu", *args[1:], **kwargs)

    def set_dtype(*args: Any, **kwargs: Any) -> None:
        plain_dtype(*args, **kwargs)
        if args and args[0] == "cuda" and args[1] in {torch.float16, torch.bfloat16}:
            plain_dtype("cpu", *args[1:], **kwargs)

    device.patches.update(torch, {"set_autocast_enabled": set_enabled, "set_autocast_dtype": set_dtype})
