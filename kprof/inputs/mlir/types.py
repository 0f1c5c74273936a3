"""Types of TTIR and TTGIR, with their sizes."""

from dataclasses import dataclass
from typing import TypeAlias

from kprof.inputs.mlir.layouts import Layout


@dataclass(frozen=True)
class Scalar:
    """A scalar type such as ``i32``, ``f16`` or ``index``.

    Attributes:
        name: name as written.
        bits: width in bits; ``None`` for types without one (``index``, ``none``, a token).
    """

    name: str
    bits: int | None


@dataclass(frozen=True)
class Pointer:
    """A pointer type such as ``!tt.ptr<f16>``; ``bits`` is 64."""

    pointee: "Type"
    bits: int = 64


@dataclass(frozen=True)
class TensorType:
    """A tensor type such as ``tensor<128x64xf16, #blocked>``; ``layout`` is ``None`` in TTIR."""

    shape: tuple[int, ...]
    element: "Type"
    layout: Layout | None = None

    @property
    def elements(self) -> int:
        """Number of elements."""
        return _product(self.shape)

    @property
    def bytes(self) -> int | None:
        """Bytes of the whole tensor over all threads; ``None`` if the element has no width."""
        return _bytes(self.elements, self.element)


@dataclass(frozen=True)
class MemDesc:
    """A buffer type such as ``!ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>``; usually in LDS.

    Attributes:
        shape: elements per dimension.
        element: element type.
        layout: placement in LDS.
        mutable: whether the buffer may be written after its creation.
        alloc_shape: shape of the allocation of which this is a view; equal to ``shape`` if it is the entire allocation.
    """

    shape: tuple[int, ...]
    element: "Type"
    layout: Layout | None = None
    mutable: bool = False
    alloc_shape: tuple[int, ...] = ()

    @property
    def elements(self) -> int:
        """Number of elements."""
        return _product(self.shape)

    @property
    def bytes(self) -> int | None:
        """Bytes of the elements without padding; see :func:`kprof.inputs.mlir.measures.lds_bytes`."""
        return _bytes(self.elements, self.element)


@dataclass(frozen=True)
class RawType:
    """The text of a type that kprof does not model."""

    text: str


Type: TypeAlias = Scalar | Pointer | TensorType | MemDesc | RawType


def _product(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def _bytes(elements: int, element: Type) -> int | None:
    bits = getattr(element, "bits", None)
    return None if bits is None else (elements * bits + 7) // 8
