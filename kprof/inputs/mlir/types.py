"""Types of TTIR and TTGIR, with their sizes."""

from dataclasses import dataclass
from typing import TypeAlias

from kprof.inputs.mlir.layouts import Layout


@dataclass(frozen=True)
class Scalar:
    """``i32``, ``f16``, ``index``, ...

    Attributes:
        name: as written.
        bits: width; ``None`` when it has none (``index``, ``none``, a token).
    """

    name: str
    bits: int | None


@dataclass(frozen=True)
class Pointer:
    """``!tt.ptr<f16>``; ``bits`` is 64."""

    pointee: "Type"
    bits: int = 64


@dataclass(frozen=True)
class TensorType:
    """``tensor<128x64xf16, #blocked>``; ``layout`` is ``None`` in TTIR."""

    shape: tuple[int, ...]
    element: "Type"
    layout: Layout | None = None

    @property
    def elements(self) -> int:
        """Number of elements."""
        return _product(self.shape)

    @property
    def bytes(self) -> int | None:
        """Size of the whole tensor over all threads, in bytes; ``None`` when the element has no width."""
        return _bytes(self.elements, self.element)


@dataclass(frozen=True)
class MemDesc:
    """``!ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>``: a buffer, in general in LDS.

    Attributes:
        shape: elements per dimension.
        element: element type.
        layout: placement in LDS.
        mutable: whether it is written after it was made.
        alloc_shape: shape of the allocation that this is a view of; ``shape`` when it is the whole.
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
        """Bytes of the elements, padding not counted; see :func:`kprof.inputs.mlir.measures.lds_bytes`."""
        return _bytes(self.elements, self.element)


@dataclass(frozen=True)
class RawType:
    """A type that kprof does not know in detail, as written."""

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
