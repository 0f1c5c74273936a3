"""An operator's arguments, as the profiler writes them with ``record_shapes=True``, and the work of a call."""

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
# Half of a surrogate pair may stand in what a damaged trace says.
_ERRORS = (UnicodeError, *JSON_ERRORS)


def element_bytes(name: str) -> int:
    """Bytes of an element of a type as operators (``c10::BFloat16``) or collectives (``BFloat16``) name it; or 0."""
    small = name.lower()
    return _BYTES.get(small) or _BYTES.get(f"c10::{small}", 0)


class Argument(msgspec.Struct, frozen=True):
    """One argument of an operator.

    Attributes:
        dims: extents of a tensor; empty for a scalar, and for what is no tensor.
        type: as written, in small letters: ``c10::bfloat16``, ``scalar``, ``scalarlist``; empty for none.
        value: a scalar or a list of them as text, where the profiler wrote it.
    """

    dims: tuple[int, ...]
    type: str
    value: str = ""

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor of a type whose size is known."""
        return self.type in _BYTES

    @property
    def elements(self) -> int:
        """Product of the extents; 1 of a scalar."""
        return math.prod(self.dims)

    @property
    def element_bytes(self) -> int:
        """Bytes of an element; 0 where the type is not known."""
        return _BYTES.get(self.type, 0)

    @property
    def bytes(self) -> int:
        """Bytes of all elements, each once."""
        return self.elements * self.element_bytes

    @property
    def arithmetic(self) -> str:
        """The GPU's name of the type in products: ``bf16``, ``fp8``, ...; empty where there is none."""
        return "fp8" if self.type.startswith("c10::float8") else _ARITHMETIC.get(self.type, "")

    def integers(self) -> tuple[int, ...] | None:
        """The value as integers (``[16, 16]``, ``1``); ``None`` where it was not written."""
        try:
            found = msgspec.json.decode(self.value, type=int | list[int])
        except _ERRORS:
            return None
        return (found,) if isinstance(found, int) else tuple(found)

    def flag(self) -> bool | None:
        """The value as truth; ``None`` where it was not written."""
        return {"True": True, "False": False}.get(self.value)


def arguments(dims: str | None, types: str | None, values: str | None = None) -> tuple[Argument, ...]:
    """The arguments, in the operator's order; none where the trace does not tell shapes.

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
    """What one call has to do, however it is done.

    Attributes:
        flop: operations, a multiply-add being two; ``None`` where it is not known (lengths in tensors).
        bytes: every operand and result once; ``None`` as above.
        unit: whose peak holds: ``matrix_bf16``, ...; empty where arithmetic is no limit.
        assumed: what was taken for granted, in words.
    """

    flop: int | None
    bytes: int | None
    unit: str = ""
    assumed: str = ""


Formula = Callable[[Sequence[Argument]], Work | None]
"""Work of a call from its arguments; ``None`` where they are not what the operator takes."""


def matrix_unit(argument: Argument) -> str:
    """The peak that holds for products of a type."""
    return f"matrix_{argument.arithmetic}" if argument.arithmetic else ""
