"""Arguments of launches and operators, from what a journal holds."""

from typing import Any

from kprof.captures import layout
from kprof.captures.model import TensorInfo, TensorList


def argument(value: Any) -> Any:
    """An argument of a launch as a journal holds it, as :attr:`CapturedLaunch.arguments` has it."""
    match value:
        case {"dtype": str() as dtype, "shape": list() as shape, "strides": list() as strides} if all(
            isinstance(n, int) for n in (*shape, *strides)
        ):
            return TensorInfo(dtype, tuple(shape), tuple(strides), _values(value.get("values")))
        case {"dtype": str() as dtype, "tensors": int() as tensors, "elements": int() as elements}:
            return TensorList(dtype, tensors, elements)
        case _:
            return value


def _values(given: Any) -> tuple[int, ...] | None:
    if not isinstance(given, list) or len(given) > layout.MOST_VALUES or not all(type(n) is int for n in given):
        return None
    return tuple(given)
