"""Convert Triton's compile-time values to the form used in requests."""

from pathlib import Path
from typing import Any

from kprof.compiler.request import DtypeRef, FunctionRef
from kprof.errors import KprofError
from kprof.importing.functions import unwrap


def constant(value: Any, what: str) -> Any:
    """Convert a compile-time value to the form used in requests.

    Raises:
        KprofError: if the value is not a compile-time value, or cannot be sent to another process.
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
