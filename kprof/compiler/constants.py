"""Compile-time values as Triton has them, in the form that a request carries."""

from pathlib import Path
from typing import Any

from kprof.compiler.request import DtypeRef, FunctionRef
from kprof.errors import KprofError
from kprof.importing.functions import unwrap


def constant(value: Any, what: str) -> Any:
    """A compile-time value in the form that a request carries.

    Raises:
        KprofError: a value that cannot be one, or cannot be carried to another process.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return tuple(constant(item, what) for item in value)
    inner = getattr(value, "value", None)
    if type(value).__name__ == "constexpr":
        return constant(inner, what)
    if type(value).__name__ == "dtype" and hasattr(value, "primitive_bitwidth"):
        return DtypeRef(value.name)
    function = unwrap(value)
    if function is not None and "<locals>" not in function.name:
        return FunctionRef(str(Path(function.path).absolute()), function.name)
    raise KprofError(f"{what} is a {type(value).__name__}, which kprof cannot pass to the compiler")
