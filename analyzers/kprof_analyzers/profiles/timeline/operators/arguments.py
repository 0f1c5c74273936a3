"""Decode operator arguments recorded with ``record_shapes=True``, and describe the work of a call."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec

from kprof.inputs.boundary import JSON_ERRORS

_BYTES = {
    "double": 8, "long": 8, "long int": 8, "c10::complex<float>": 8, "c10::complex<double>": 16,
    "float": 4, "int": 4, "unsigned int": 4,
    "c10::half": 2, "c10::bfloat16": 2, "short": 2, "short int": 2,
    "signed char": 1, "unsigned char": 1, "char": 1, "byte": 1, "bool": 1,
    "c10::float8_e4m3fnuz": 1, "c10::float8_e5m2fnuz": 1, "c10::float8_e4m3fn": 1, "c10::float8_e5m2": 1,
}  # fmt: skip
_ARITHMETIC = {"c10::half": "fp16", "c10::bfloat16": "bf16", "float": "fp32", "double": "fp64", "signed char": "i8"}
_Decoded = list[object]
# Texts of a damaged trace may contain half of a surrogate pair.
_ERRORS = (UnicodeError, *JSON_ERRORS)


def element_bytes(name: str) -> int:
    """Return the bytes per element of a type named as in operators (``c10::BFloat16``) or collectives; 0 if unknown."""
    small = name.lower()
    return _BYTES.get(small) or _BYTES.get(f"c10::{small}", 0)


class Argument(msgspec.Struct, frozen=True):
    """One argument of an operator.

    Attributes:
        dims: extents of a tensor; empty for a scalar and for other arguments.
        type: recorded type in lower case: ``c10::bfloat16``, ``scalar``, ``scalarlist``; "" if there is none.
        value: a scalar or a list of scalars as text, if the profiler recorded it.
    """

    dims: tuple[int, ...]
    type: str
    value: str = ""

    @property
    def is_tensor(self) -> bool:
        """Whether the argument is a tensor of a type with a known size."""
        return self.type in _BYTES

    @property
    def elements(self) -> int:
        """Product of the extents; 1 for a scalar."""
        return math.prod(self.dims)

    @property
    def element_bytes(self) -> int:
        """Bytes of an element; 0 if the type is unknown."""
        return _BYTES.get(self.type, 0)

    @property
    def bytes(self) -> int:
        """Bytes of all elements, each counted once."""
        return self.elements * self.element_bytes

    @property
    def arithmetic(self) -> str:
        """Name that the GPU's peaks use for the type, such as ``bf16`` or ``fp8``; "" if there is no such peak."""
        return "fp8" if self.type.startswith("c10::float8") else _ARITHMETIC.get(self.type, "")

    def integers(self) -> tuple[int, ...] | None:
        """Return the value as integers (``[16, 16]``, ``1``); ``None`` if it was not recorded."""
        try:
            found = msgspec.json.decode(self.value, type=int | list[int])
        except _ERRORS:
            return None
        return (found,) if isinstance(found, int) else tuple(found)

    def flag(self) -> bool | None:
        """Return the value as a boolean; ``None`` if it was not recorded."""
        return {"True": True, "False": False}.get(self.value)


def arguments(dims: str | None, types: str | None, values: str | None = None) -> tuple[Argument, ...]:
    """Return the arguments in the operator's order; empty if the trace has no shapes.

    Args:
        dims: ``Input Dims`` as JSON text.
        types: ``Input type`` as JSON text.
        values: ``Concrete Inputs`` as JSON text.
    """
    shapes, names, texts = _list(dims), _list(types), _list(values)
    if not shapes or len(names) != len(shapes):
        return ()
    texts = texts if len(texts) == len(shapes) else [""] * len(shapes)
    return tuple(
        Argument(_extents(shape), name.lower() if isinstance(name, str) else "", text if isinstance(text, str) else "")
        for shape, name, text in zip(shapes, names, texts, strict=True)
    )


@lru_cache(maxsize=1 << 12)
def _list(text: str | None) -> _Decoded:
    try:
        return msgspec.json.decode(text, type=list[object]) if text else []
    except _ERRORS:
        return []


def _extents(shape: object) -> tuple[int, ...]:
    if not isinstance(shape, list) or not all(isinstance(extent, int) and 0 <= extent < 1 << 40 for extent in shape):
        return ()
    return tuple(shape)


class Work(msgspec.Struct, frozen=True):
    """Minimum work of one call, independent of the implementation.

    Attributes:
        flop: operations, with a multiply-add as two; ``None`` if unknown, for example if lengths are in tensors.
        bytes: bytes of all operands and results, each counted once; ``None`` if unknown.
        unit: name of the arithmetic peak that limits the call: ``matrix_bf16``, ...; "" if arithmetic is no limit.
        assumed: assumption behind the numbers, in words; "" if there is none.
    """

    flop: int | None
    bytes: int | None
    unit: str = ""
    assumed: str = ""


Formula = Callable[[Sequence[Argument]], Work | None]
"""Function that returns the work of a call for its arguments, or ``None`` if the arguments are unexpected."""


def matrix_unit(argument: Argument) -> str:
    """Return the name of the peak that applies to matrix products of a type; "" if there is none."""
    return f"matrix_{argument.arithmetic}" if argument.arithmetic else ""
