"""Marks on CPU tensors that represent tensors on the GPU.

A tensor "on the GPU" is a CPU tensor whose storage has a mark. Everything inside torch then works as on the CPU:
autograd, views, optimizers. Only queries from Python code, such as for the device, are answered differently. The mark
is an attribute of the storage's Python object, which lives as long as the storage, so views and gradients share
it.
"""

from itertools import count
from typing import Any

from kprof.recording.device_memory import MEMORY

_NAME = "_kprof_mark"
_NUMBERS = count(1)


class Mark:
    """Mark of a storage in CPU memory that represents a storage on the GPU.

    Attributes:
        index: index of the device.
        unknown: True if the values are unknown: a recorded kernel would have written them, or they depend on such
            values.
        number: unique number of this storage within the process.
    """

    __slots__ = ("__weakref__", "bytes", "index", "number", "unknown")

    def __init__(self, index: int, *, unknown: bool = False, size: int = 0) -> None:
        self.index = index
        self.unknown = unknown
        self.number = next(_NUMBERS)
        self.bytes = MEMORY.take(index, size)

    def __del__(self) -> None:
        MEMORY.give(self.index, self.bytes)


def storage(tensor: Any) -> Any:
    """Return the storage of a tensor; ``None`` for tensors without one: sparse ones, or those of unknown shape."""
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError, AttributeError, ValueError):
        return None


def mark_of(tensor: Any) -> Mark | None:
    """The mark of a tensor's storage; ``None`` for a tensor on the CPU."""
    return getattr(storage(tensor), _NAME, None)


def mark(tensor: Any, index: int, *, unknown: bool = False) -> None:
    """Mark a tensor as being on the GPU."""
    found = storage(tensor)
    if found is None:
        return
    known = getattr(found, _NAME, None)
    if known is None:
        setattr(found, _NAME, Mark(index, unknown=unknown, size=found.nbytes()))
    elif unknown:
        known.unknown = True


def unmark(tensor: Any) -> None:
    """Remove the mark from a tensor, so it is on the CPU again."""
    found = storage(tensor)
    if found is not None:
        setattr(found, _NAME, None)


def mark_storage(found: Any, index: int) -> None:
    """Mark a storage as being on the GPU."""
    setattr(found, _NAME, Mark(index, size=found.nbytes()))


def cuda_index(device: Any, current: int) -> int | None:
    """Return the index of a device named by the program; ``None`` for the CPU or no device."""
    if device is None or isinstance(device, bool):
        return None
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        kind, _, index = device.partition(":")
        return (int(index) if index.isdigit() else current) if kind == "cuda" else None
    if getattr(device, "type", None) != "cuda":
        return None
    return current if device.index is None else int(device.index)
