"""Backend options of a request, checked before Triton sees them: it would drop unknown ones silently."""

from collections.abc import Mapping
from typing import Any

from kprof.errors import CompileError, near_hint


def check(options: Mapping[str, Any], defaults: Mapping[str, Any], version: tuple[int, int]) -> dict[str, Any]:
    """Options with their values in the types that Triton wants.

    Raises:
        KprofError: an option that this Triton does not have, or a value of the wrong kind.
    """
    return {name: _value(name, value, defaults, version) for name, value in options.items()}


def _value(name: str, value: Any, defaults: Mapping[str, Any], version: tuple[int, int]) -> Any:
    if name not in defaults:
        release = f"Triton {version[0]}.{version[1]}"
        raise CompileError(f"{release} has no option {name!r}", hint=near_hint(name, defaults, "its options are"))
    default = defaults[name]
    if value is None:
        return None
    if isinstance(default, bool):
        if value in (0, 1):
            return bool(value)
        raise CompileError(f"the option {name} is true or false, got {value!r}")
    if isinstance(default, int):
        if isinstance(value, bool) or not isinstance(value, int):
            raise CompileError(f"the option {name} is a whole number, got {value!r}")
        return _number(name, value)
    if isinstance(default, str) and not isinstance(value, str | tuple):
        raise CompileError(f"the option {name} is text, got {value!r}")
    return value


def _number(name: str, value: int) -> int:
    if value < 0:
        raise CompileError(f"the option {name} cannot be negative, got {value}")
    if name == "num_warps" and (value == 0 or value & (value - 1)):
        raise CompileError(f"num_warps must be a power of two, got {value}", hint="1, 2, 4, 8, 16 or 32")
    return value
