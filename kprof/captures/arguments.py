"""Read arguments of launches and operators from a journal."""

import math
import re
from collections.abc import Mapping
from typing import Any

from kprof.captures import layout
from kprof.captures.model import TensorInfo, TensorList


def argument(value: Any) -> Any:
    """Convert a launch argument read from a journal: objects that describe tensors become :class:`TensorInfo`.

    Objects that describe lists of tensors become :class:`TensorList`; other values are returned unchanged.
    """
    match value:
        case {"dtype": str() as dtype, "shape": list() as shape, "strides": list() as strides} if all(
            isinstance(n, int) for n in (*shape, *strides)
        ):
            return TensorInfo(dtype, tuple(shape), tuple(strides), _values(value.get("values")))
        case {"dtype": str() as dtype, "tensors": int() as tensors, "elements": int() as elements}:
            return TensorList(dtype, tensors, elements)
        case _:
            return value


def numbers(arguments: Mapping[str, Any]) -> dict[str, int | float]:
    """Return the arguments of a launch that are numbers, by name."""
    return {name: value for name, value in arguments.items() if isinstance(value, int | float)}


def contents(arguments: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the recorded integer values of a launch's tensor arguments, by argument name."""
    tensors = ((name, value) for name, value in arguments.items() if isinstance(value, TensorInfo))
    return {name: value.values for name, value in tensors if value.values is not None}


def tensor_bytes(arguments: Mapping[str, Any]) -> int | None:
    """Return the total size in bytes of all tensors among the arguments of a launch.

    A launch accesses only the memory of its tensors. Return ``None`` if the size is not known, because no tensors were
    recorded or a tensor contains 64-bit integers, which may be addresses of other memory.
    """
    found = 0
    for value in arguments.values():
        if not isinstance(value, TensorInfo | TensorList):
            continue
        bits = re.search(r"\d+", value.dtype)
        if value.dtype in {"int64", "uint64"} or (bits is None and value.dtype != "bool"):
            return None
        size = 1 if bits is None else max(1, int(bits[0]) // 8)
        if isinstance(value, TensorList):
            found += size * value.elements
        else:
            extent = 1 + sum((n - 1) * abs(stride) for n, stride in zip(value.shape, value.strides, strict=False))
            found += size * min(math.prod(value.shape), extent)
    return found or None


def _values(given: Any) -> tuple[int, ...] | None:
    if not isinstance(given, list) or len(given) > layout.MOST_VALUES or not all(type(n) is int for n in given):
        return None
    return tuple(given)
