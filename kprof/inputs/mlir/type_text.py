"""Types: text to the classes of :mod:`kprof.inputs.mlir.types`."""

import re
from collections.abc import Iterator, Mapping

from kprof.inputs.boundary import whole
from kprof.inputs.mlir.layout_text import Scope
from kprof.inputs.mlir.text import closing, split
from kprof.inputs.mlir.types import MemDesc, Pointer, RawType, Scalar, TensorType, Type

_SCALAR = re.compile(r"(?:[su]?i|f|bf|tf)(\d{1,8})(?:E\d+M\d+\w*)?|index|none")
_DIMENSIONS = re.compile(r"(?:(?:\d+|\?)x)*")
_SHAPE = re.compile(r"\d{1,18}(?:x\d{1,18})*")
# Where only a buffer can stand, as behind the arrow of an asynchronous copy, its name is left out.
_MEMDESC = re.compile(r"(?:!(?:ttg|triton_gpu|tt)\.memdesc)?<")
_NESTING = 16


class TypeReader:
    """Reads types of one module; the same text is read once.

    Attributes:
        lists: what :func:`types_in` has read.
    """

    def __init__(self, scope: Scope, aliases: Mapping[str, str]) -> None:
        self._scope = scope
        self._aliases = aliases
        self._known: dict[str, Type] = {}
        self.lists: dict[str, tuple[Type, ...]] = {}

    def read(self, text: str, nesting: int = 0) -> Type:
        """A type; what is not known in detail becomes a :class:`~kprof.inputs.mlir.types.RawType`."""
        text = text.strip()
        known = self._known.get(text)
        if known is None:
            known = self._read(text, nesting) if nesting < _NESTING else RawType(text)
            self._known[text] = known
        return known

    def _read(self, text: str, nesting: int) -> Type:
        scalar = _SCALAR.fullmatch(text)
        if scalar:
            # tf32 is a format of the matrix cores in 32-bit storage.
            return Scalar(text, int(scalar[1]) if scalar[1] else None)
        if text.startswith("!") and text.endswith(".token"):
            return Scalar(text, None)
        if text.startswith("tensor<") and text.endswith(">"):
            return self._tensor(text[7:-1], nesting) or RawType(text)
        if text.startswith("!tt.ptr<") and text.endswith(">"):
            pointee, *space = split(text[8:-1]) or [""]
            number = whole(space[0]) if space else None
            return Pointer(self.read(pointee, nesting + 1), 1 if number is None else number)
        memdesc = _MEMDESC.match(text)
        if memdesc and text.endswith(">"):
            return self._memdesc(text[memdesc.end() : -1], nesting) or RawType(text)
        alias = self._aliases.get(text)
        if alias is not None and alias != text:
            return self.read(alias, nesting + 1)
        return RawType(text)

    def _tensor(self, body: str, nesting: int) -> TensorType | None:
        first, *encoding = split(body) or [""]
        found = self._shaped(first, nesting)
        if found is None:
            return None
        return TensorType(*found, self._scope.layout(encoding[0]) if encoding else None)

    def _memdesc(self, body: str, nesting: int) -> MemDesc | None:
        first, *rest = split(body) or [""]
        found = self._shaped(first, nesting)
        if found is None:
            return None
        alloc = found[0]
        for item in rest[1:]:
            if _SHAPE.fullmatch(item):
                alloc = tuple(map(int, item.split("x")))
        return MemDesc(
            shape=found[0],
            element=found[1],
            layout=self._scope.layout(rest[0]) if rest else None,
            mutable="mutable" in rest,
            alloc_shape=alloc,
        )

    def _shaped(self, text: str, nesting: int) -> tuple[tuple[int, ...], Type] | None:
        """``128x64xf16``; a dimension that is not known statically counts as 0."""
        match = _DIMENSIONS.match(text)
        end = match.end() if match else 0
        element = text[end:]
        if not element:
            return None
        sizes = [0 if part == "?" else whole(part) for part in text[:end].split("x") if part]
        shape = tuple(size for size in sizes if size is not None)
        return (shape, self.read(element, nesting + 1)) if len(shape) == len(sizes) else None


def types_in(text: str, reader: TypeReader) -> tuple[Type, ...]:
    """Types of a list such as ``A, B``, ``A * B``, ``A to B`` or ``(A, B)``."""
    known = reader.lists.get(text)
    if known is None:
        known = reader.lists[text] = tuple(_read_list(text.strip(), reader))
    return known


def _read_list(text: str, reader: TypeReader) -> Iterator[Type]:
    if text.startswith("(") and closing(text, 0) == len(text) - 1:
        text = text[1:-1]
    for part in split(text):
        yield from (reader.read(piece) for piece in _pieces(part))


def _pieces(part: str) -> list[str]:
    """``A * B`` of a dot, ``A to B`` of a cast, ``!tt.ptr<f16>[tensor<..>]`` of a buffer operation."""
    for mark in (" * ", " to "):
        if mark in part:
            return [piece for half in part.split(mark) for piece in _pieces(half)]
    if part.endswith("]") and "[" in part and not part.startswith("["):
        at = part.index("[")
        return [part[:at], part[at + 1 : -1]]
    return [part]
