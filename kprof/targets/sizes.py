"""Sizes of a Triton function's problem: values of its arguments, on which a launch specialises."""

from collections.abc import Mapping
from typing import Any

from kprof.errors import TargetError, near_hint
from kprof.importing.functions import Function
from kprof.importing.wrappers import heuristics_of
from kprof.targets.signature import SignatureLike, Typed, items_by_name, read_item


def with_sizes(
    function: Function, signature: SignatureLike, values: Mapping[str, Any], sizes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the signature by argument name, with sizes instead of the types of their arguments.

    With the sizes, Triton specialises the kernel as in a launch: 4096 is known to be a multiple of 16, and 1 becomes a
    constant.

    Args:
        function: the kernel's function.
        signature: see :mod:`kprof.targets.signature`; the types of arguments with a size may be left out.
        values: values of arguments that the signature does not list.
        sizes: sizes by argument name.

    Raises:
        TargetError: if the function has no such argument, or the argument's type does not allow the value.
        KprofError: if the signature is wrong.
    """
    for name in sizes:
        if name not in function.arguments:
            raise TargetError(
                f"{function.name} has no argument {name!r} to be a size",
                path=str(function.path),
                hint=near_hint(name, function.arguments, "its arguments are"),
            )
        if name in values and values[name] != sizes[name]:
            raise TargetError(
                f"{function.name}: {name} is given as {values[name]} and as the size {sizes[name]}",
                path=str(function.path),
            )
    items = items_by_name(function, signature, values, sizes)
    sized = {
        name: _value(function, name, items.get(name), value) for name, value in sizes.items() if name not in values
    }
    return {**items, **sized}


def _value(function: Function, name: str, item: Any, value: Any) -> Any:
    """Return the value, after checking that it agrees with its written type."""
    typed = None if item is None else read_item(function, name, item)
    if typed is None or typed == value:
        return value
    what = f"{function.name}: {name}={value}"
    if not isinstance(typed, Typed):
        raise TargetError(f"{what}, but the signature says {typed}", path=str(function.path))
    if typed.kind.startswith(("*", "tensordesc")):
        raise TargetError(f"{what}: it is a pointer and has no size", path=str(function.path))
    if typed.kind.startswith(("fp", "bf")) and isinstance(value, int | float):
        return float(value)
    kind = _kind_in_a_launch(value)
    if typed.kind != kind:
        raise TargetError(
            f"{what} is passed as {kind} by a launch, the signature says {typed.kind}",
            path=str(function.path),
            hint=f"Leave the type of {name} out, or give no size for it.",
        )
    if typed.hints and value % typed.hints["divisibility"]:
        raise TargetError(
            f"{what} is not a multiple of 16, although the signature says {item}", path=str(function.path)
        )
    return value


def _kind_in_a_launch(value: Any) -> str:
    """Return Triton's type of a Python number."""
    if isinstance(value, bool):
        return "u1"
    if isinstance(value, int):
        return "i32" if -(2**31) <= value < 2**31 else "i64"
    return "fp32" if isinstance(value, float) else type(value).__name__


def by_heuristics(entry: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that ``@triton.heuristics`` compute from sizes and knobs.

    Args:
        entry: the function with its wrappers.
        values: known values of a launch; heuristics for these names are not called.

    Raises:
        TargetError: if a heuristic fails, for example because it reads a tensor or an argument with an unknown value.
    """
    found: dict[str, Any] = {}
    for name, heuristic in heuristics_of(entry):
        if name in values:
            continue
        try:
            found[name] = heuristic({**values, **found})
        except Exception as error:
            raise TargetError(
                f"the heuristic for {name} fails: {type(error).__name__}: {error}",
                hint=f"give its value: --constexpr {name}=VALUE",
            ) from error
    return found
