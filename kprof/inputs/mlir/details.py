"""Parse the parts of an MLIR operation on demand: operands, attributes, types and source position."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Protocol

from kprof.inputs.boundary import whole_number
from kprof.inputs.mlir.layout_text import Scope
from kprof.inputs.mlir.locations import Locations, MlirFrame
from kprof.inputs.mlir.text import closing, fields, split, top_level
from kprof.inputs.mlir.types import MemDesc, Pointer, RawType, Scalar, TensorType, Type

_SCALAR = re.compile(r"(?:[su]?i|f|bf|tf)(\d{1,8})(?:E\d+M\d+\w*)?|index|none")
_DIMENSIONS = re.compile(r"(?:(?:\d+|\?)x)*")
_SHAPE = re.compile(r"\d{1,18}(?:x\d{1,18})*")
# Where only a buffer is possible, as after the arrow of an asynchronous copy, Triton omits the type's name.
_MEMDESC = re.compile(r"(?:!(?:ttg|triton_gpu|tt)\.memdesc)?<")
_NESTING = 16


class TypeReader:
    """Reads the types of one module and caches them by their text.

    Attributes:
        lists: cache of type lists that :func:`types_in` has parsed.
    """

    def __init__(self, scope: Scope, aliases: Mapping[str, str]) -> None:
        self._scope = scope
        self._aliases = aliases
        self._known: dict[str, Type] = {}
        self.lists: dict[str, tuple[Type, ...]] = {}

    def read(self, text: str, nesting: int = 0) -> Type:
        """Parse a type; an unsupported type becomes a :class:`~kprof.inputs.mlir.types.RawType`."""
        text = text.strip()
        known = self._known.get(text)
        if known is None:
            known = self._read(text, nesting) if nesting < _NESTING else RawType(text)
            self._known[text] = known
        return known

    def _read(self, text: str, nesting: int) -> Type:
        scalar = _SCALAR.fullmatch(text)
        if scalar:
            # The number is the storage width: tf32 is a matrix-core format in 32-bit storage.
            return Scalar(text, int(scalar[1]) if scalar[1] else None)
        if text.startswith("!") and text.endswith(".token"):
            return Scalar(text, None)
        if text.startswith("tensor<") and text.endswith(">"):
            return self._tensor(text[7:-1], nesting) or RawType(text)
        if text.startswith("!tt.ptr<") and text.endswith(">"):
            pointee, *space = split(text[8:-1]) or [""]
            number = whole_number(space[0]) if space else None
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
        """Parse a shape and element type such as ``128x64xf16``; a dynamic dimension counts as 0."""
        match = _DIMENSIONS.match(text)
        end = match.end() if match else 0
        element = text[end:]
        if not element:
            return None
        sizes = [0 if part == "?" else whole_number(part) for part in text[:end].split("x") if part]
        shape = tuple(size for size in sizes if size is not None)
        return (shape, self.read(element, nesting + 1)) if len(shape) == len(sizes) else None


def types_in(text: str, reader: TypeReader) -> tuple[Type, ...]:
    """Parse a list of types such as ``A, B``, ``A * B``, ``A to B`` or ``(A, B)``."""
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
    """Split ``A * B`` of a dot, ``A to B`` of a cast, or ``!tt.ptr<f16>[tensor<..>]`` of a buffer operation."""
    for mark in (" * ", " to "):
        if mark in part:
            return [piece for half in part.split(mark) for piece in _pieces(half)]
    if part.endswith("]") and "[" in part and not part.startswith("["):
        at = part.index("[")
        return [part[:at], part[at + 1 : -1]]
    return [part]


_OPERAND = re.compile(r"%[\w$.-]+(?:#\d+)?")
_MODIFIER = re.compile(r"(?<![\w.%#])([A-Za-z_]\w*)\s*=\s*([\w.#+-]+|%[\w$.#-]+)")
_ALIAS = re.compile(r"#\w*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


class Readers:
    """Parsers shared by the operations of one module, with its attribute, type and location aliases."""

    def __init__(self, aliases: Mapping[str, str], locations: Mapping[str, str]) -> None:
        attributes = {name: text for name, text in aliases.items() if name.startswith("#")}
        self.types = TypeReader(Scope(attributes), {n: t for n, t in aliases.items() if n.startswith("!")})
        self.locations = Locations(locations)


class WrittenOperation(Protocol):
    """The fields of an operation from which its details are derived."""

    name: str
    results: tuple[str, ...]
    text: str
    tail: str


class OperationDetails:
    """Parsed parts of one operation. Each part is parsed on first use, because most callers need only one.

    Malformed text never raises an error; parts that cannot be parsed are omitted.
    """

    def __init__(self, op: WrittenOperation, readers: Readers) -> None:
        """Store the arguments; nothing is parsed yet."""
        self._op, self._readers = op, readers

    @cached_property
    def _parts(self) -> tuple[str, str, str, str]:
        """The text before the types, the types, the text after the regions, and the location."""
        op, tail = self._op, ""
        text, place = _split_location(op.text)
        region = text.endswith("{")
        if region:
            text = text[:-1].rstrip()
        body, signature = _split_types(text)
        if region:
            tail, place = _split_location(op.tail)
            if not signature and " : " in tail:
                tail, _, signature = tail.rpartition(" : ")
        elif op.tail:
            tail = _split_location(op.tail)[0]
        return body, signature, tail, place

    @cached_property
    def _text_without_braces(self) -> str:
        return _without_braces(self._parts[0])

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """SSA names of the operands."""
        text = self._op.text
        # Without attributes in braces, regions and strings, all SSA names before the types are operands.
        return tuple(_OPERAND.findall(text)) if _is_plain(text) else _operands(self._op, self._text_without_braces)

    @cached_property
    def attributes(self) -> dict[str, Any]:
        """Attributes in braces."""
        return {**_attributes(self._parts[0]), **_attributes(self._parts[2])}

    @cached_property
    def modifiers(self) -> dict[str, str]:
        """``name = value`` pairs outside braces, except those whose value is an SSA name."""
        return {
            name: found for name, found in _MODIFIER.findall(self._text_without_braces) if not found.startswith("%")
        }

    @cached_property
    def types(self) -> tuple[tuple[Type, ...], tuple[Type, ...]]:
        """Types of the operands, and types of the results."""
        return _types(self._op, self._text_without_braces, self._parts[1], self._readers.types)

    @cached_property
    def location(self) -> tuple[MlirFrame, ...]:
        """Source frames, innermost first."""
        return self._readers.locations.frames(self._parts[3])


def _split_location(text: str) -> tuple[str, str]:
    """Split off a final ``loc(...)``: return the text before it and the text inside its parentheses."""
    stripped = text.rstrip()
    at = stripped.rfind(" loc(")
    if at < 0 or not stripped.endswith(")"):
        return stripped, ""
    # Most locations are an alias, which needs no search for the closing parenthesis.
    alias = _ALIAS.fullmatch(stripped, at + 5, len(stripped) - 1) is not None
    if not alias and closing(stripped, at + 4) != len(stripped) - 1:
        return stripped, ""
    return stripped[:at].rstrip(), stripped[at + 5 : -1]


def _split_types(text: str) -> tuple[str, str]:
    """Split the text at the last colon outside all brackets."""
    masked = _STRING.sub(lambda m: "_" * len(m[0]), text) if '"' in text else text
    at = masked.rfind(":")
    while at > 0:
        before = masked[at - 1]
        if (before == ")" or before.isspace()) and masked[at + 1 : at + 2].isspace() and _is_closed(masked[:at]):
            return text[:at].rstrip(), text[at + 1 :].strip()
        at = masked.rfind(":", 0, at)
    return text, ""


def _is_closed(text: str) -> bool:
    """Return whether the numbers of opening and closing brackets are equal, for each kind of bracket."""
    count = text.count
    return count("(") == count(")") and count("[") == count("]") and count("{") == count("}")


def _attributes(text: str) -> dict[str, Any]:
    """Parse the attributes in ``{...}`` and ``<{...}>`` outside other brackets."""
    found: dict[str, Any] = {}
    at = text.find("{")
    while at >= 0:
        end = closing(text, at)
        if end < 0:
            break
        left = text[:at]
        if left.count("(") == left.count(")") and left.count("[") == left.count("]") and not _in_attribute(left):
            found.update(fields(text[at + 1 : end]))
        at = text.find("{", end)
    return found


def _in_attribute(left: str) -> bool:
    """Return whether the text before a brace has an open ``<`` of an attribute such as ``#ttg.slice<``."""
    return left.endswith("<") and bool(left[:-1]) and (left[-2].isalnum() or left[-2] == "_")


def _without_braces(text: str) -> str:
    if "{" not in text:
        return text
    parts, at = [], 0
    while (start := text.find("{", at)) >= 0:
        end = closing(text, start)
        if end < 0:
            break
        parts.append(text[at:start])
        at = end + 1
    parts.append(text[at:])
    return "".join(parts)


def _is_plain(text: str) -> bool:
    """Return whether a text has no attributes in braces, regions or strings."""
    return "{" not in text and '"' not in text


def _operands(op: WrittenOperation, body: str) -> tuple[str, ...]:
    if op.name in {"tt.func", "builtin.module"}:
        return ()
    found = _OPERAND.findall(body)
    if op.name == "scf.for":
        # A loop defines its induction variable and its loop-carried values, so they are not operands. Their names
        # are on the left of an equals sign.
        own = set(re.findall(r"(%[\w$.-]+)\s*=", body))
        return tuple(name for name in found if name not in own)
    return tuple(found)


def _types(
    op: WrittenOperation, body: str, signature: str, reader: TypeReader
) -> tuple[tuple[Type, ...], tuple[Type, ...]]:
    if op.name in {"tt.func", "builtin.module"}:
        return (), ()
    inner = _arrow(body)
    if inner is not None and "->" not in signature:
        # Examples: scf.for ... -> (results) : i32, scf.if %c -> (results).
        return types_in(signature, reader), types_in(body[inner + 2 :], reader)
    arrow = _arrow(signature)
    if arrow is not None:
        left = types_in(signature[:arrow], reader)
        right = types_in(signature[arrow + 2 :], reader)
        if op.name in {"tt.dot", "tt.dot_scaled"}:
            # The accumulator operand has the same type as the result.
            return left + right, right
        return _copies(op, left, right) if _stores(op) else (left, right)
    found = types_in(signature, reader)
    if not op.results:
        return found, ()
    return _single(op, signature, found)


def _single(op: WrittenOperation, signature: str, found: tuple[Type, ...]) -> tuple[tuple[Type, ...], tuple[Type, ...]]:
    """Return operand and result types of an operation that has results but no arrow in its text."""
    if " to " in signature and len(found) == 2:
        return found[:1], found[1:]
    if op.name == "tt.load" and found:
        return found, (_loaded(found[0]),)
    if op.name in {"tt.dot", "tt.dot_scaled", "arith.select"} or op.name.startswith("scf."):
        return found, found[-1:]
    if op.name in {"arith.cmpi", "arith.cmpf"} and found:
        return found, (_condition_type(found[0]),)
    if op.name == "tt.addptr":
        return found, found[:1]
    if op.name.startswith("amdg.buffer_load"):
        return (), found
    # A single type applies to all operands and results, as in arith.addf %a, %b : f32. Constants and indices have no
    # operands.
    return (found if "%" in op.text else ()), found[-1:] * len(op.results)


def _stores(op: WrittenOperation) -> bool:
    """Return whether an operation is a copy or store, whose arrow separates the source from the destination."""
    return not op.results or "_to_local" in op.name or "_copy_" in op.name or op.name == "ttg.local_store"


def _copies(
    op: WrittenOperation, left: tuple[Type, ...], right: tuple[Type, ...]
) -> tuple[tuple[Type, ...], tuple[Type, ...]]:
    token: tuple[Type, ...] = (Scalar("!ttg.async.token", None),) * len(op.results)
    return left + right, token


def _loaded(kind: Type) -> Type:
    """Return the type that a load returns for a pointer or tensor of pointers."""
    if isinstance(kind, TensorType) and isinstance(kind.element, Pointer):
        return TensorType(kind.shape, kind.element.pointee, kind.layout)
    if isinstance(kind, Pointer):
        return kind.pointee
    return kind


def _condition_type(kind: Type) -> Type:
    if isinstance(kind, TensorType):
        return TensorType(kind.shape, Scalar("i1", 1), kind.layout)
    return Scalar("i1", 1)


def _arrow(text: str) -> int | None:
    """Return the position of the last arrow outside brackets, or ``None``."""
    if "->" not in text:
        return None
    found = [at for at, token in top_level(text) if token == "->"]  # noqa: S105
    return found[-1] if found else None
