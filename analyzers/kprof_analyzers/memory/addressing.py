"""How far apart in memory neighbours of a loaded tile are, axis by axis, read from the address arithmetic."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from kprof.inputs.mlir import Module, Operation, Pointer, Scalar, TensorType
from kprof_analyzers.memory.dataflow import Dataflow, argument, flow_of

_DEPTH = 200


@dataclass(frozen=True)
class Stride:
    """A step between neighbours along an axis, in elements.

    Attributes:
        factor: constant part.
        symbols: names of the run-time values that it is multiplied by.
    """

    factor: int = 1
    symbols: tuple[str, ...] = ()

    def times(self, factor: int, symbols: tuple[str, ...]) -> "Stride":
        """The product."""
        return Stride(self.factor * factor, tuple(sorted((*self.symbols, *symbols))))

    def value(self, arguments: Mapping[str, object]) -> int | None:
        """The step as a number; ``None`` when an argument is not known."""
        known = [arguments.get(name) for name in self.symbols]
        numbers = [n for n in known if isinstance(n, int) and not isinstance(n, bool)]
        return self.factor * prod(numbers) if len(numbers) == len(known) else None

    def __str__(self) -> str:
        words = [*([] if self.factor == 1 and self.symbols else [str(self.factor)]), *self.symbols]
        return " * ".join(words)


Steps = dict[int, Stride | None]
"""Axis to the step along it; ``None`` when it is irregular. Axes along which nothing changes are absent."""


def strides(load: Operation) -> Steps | None:
    """Steps of the addresses of a load or store; ``None`` when they cannot be followed.

    Works for ``tt.load`` on pointers and for AMD's buffer operations.
    """
    value = address(load)
    return None if value is None else steps_of(load.module, value)


def steps_of(module: Module, value: str) -> Steps | None:
    """Steps of any tensor of numbers, as :func:`strides`."""
    try:
        return _reader_of(module).steps(value)
    except _TooLongError:
        return _Reader(module, stops=False).steps(value)


def address(load: Operation) -> str | None:
    """The tensor of pointers or offsets, as a value of the module's data flow."""
    values = flow_of(load.module).inputs(load)
    if not load.name.startswith("amdg.buffer"):
        return values[0] if values else None
    at = load.text.find("[")
    inside = load.text[at + 1 : load.text.find("]", at)].strip() if at >= 0 else ""
    return next((v for v, name in zip(values, load.operands, strict=False) if name == inside), None)


def pointer(access: Operation) -> str | None:
    """The pointer that offsets of a buffer operation are added to; of others the tensor of pointers."""
    if not access.name.startswith("amdg.buffer"):
        return address(access)
    name = next((n for n in access.operands if f"{n}[" in access.text), None)
    values = flow_of(access.module).inputs(access)
    return next((v for v, n in zip(values, access.operands, strict=False) if n == name), None)


def tile(load: Operation) -> TensorType | None:
    """The loaded tile with its register layout; for a copy to LDS the tensor of its addresses."""
    found = [t for t in (*load.result_types, *load.operand_types) if isinstance(t, TensorType)]
    return found[0] if found else None


def element_bytes(load: Operation) -> int | None:
    """Bytes of an element that a load fetches; ``None`` when the type does not say."""
    for kind in (*load.result_types, *load.operand_types):
        element = getattr(kind, "element", kind)
        element = element.pointee if isinstance(element, Pointer) else element
        if isinstance(element, Scalar) and element.bits and element.bits >= 8 and element is not kind:
            return element.bits // 8
    return None


class _TooLongError(Exception):
    """A chain of operations is longer than what is followed."""


class _Reader:
    """Follows address arithmetic back to ``tt.make_range``.

    Args:
        module: the TTGIR.
        stops: stop with an error where a chain is too long, so that what is found does not depend on what was asked
            before; else what lies beyond is not known.
    """

    def __init__(self, module: Module, *, stops: bool = True) -> None:
        self.flow: Dataflow = flow_of(module)
        self._stops = stops
        self._known: dict[str, tuple[Steps | None, int]] = {}
        self._deepest = 0

    def steps(self, name: str, depth: int = 0) -> Steps | None:
        if name in self._known:
            found, height = self._known[name]
        else:
            if depth >= _DEPTH:
                found, height = None, 0
            else:
                self._known[name] = None, 0
                before, self._deepest = self._deepest, depth
                found = self._read(name, depth + 1)
                height = self._deepest - depth
                self._deepest = before
            self._known[name] = found, height
        if self._stops and depth + height >= _DEPTH:
            self._known.clear()
            raise _TooLongError
        self._deepest = max(self._deepest, depth + height)
        return found

    def _read(self, name: str, depth: int) -> Steps | None:
        op = self.flow.producer(name)
        if op is None:
            initial = self.flow.initial(name)
            return self.steps(initial, depth) if initial is not None else {}
        if op.name in {"tt.splat", "arith.constant", "tt.get_program_id"} or not _is_tensor(op):
            return {}
        if op.name == "tt.make_range":
            return {0: Stride()}
        if op.name in _SAME:
            return self.steps(self.flow.input(op, 0), depth)
        if op.name == "tt.expand_dims":
            inner, axis = self.steps(self.flow.input(op, 0), depth), op.attributes.get("axis")
            if inner is None or not isinstance(axis, int):
                return None
            return {a + (a >= axis): step for a, step in inner.items()}
        if op.name == "tt.trans":
            return self._transposed(op, depth)
        if op.name in _BINARY:
            return self._binary(op, depth)
        if op.name == "tt.load" or op.name.startswith("amdg.buffer_load"):
            # Indices from memory: irregular along the axes along which they are loaded.
            at = address(op)
            where = self.steps(at, depth) if at is not None else None
            return None if where is None else dict.fromkeys(where, None)
        return None

    def _transposed(self, op: Operation, depth: int) -> Steps | None:
        inner, order = self.steps(self.flow.input(op, 0), depth), op.attributes.get("order")
        if inner is None or not isinstance(order, list | tuple):
            return None
        return {place: inner[axis] for place, axis in enumerate(order) if axis in inner}

    def _binary(self, op: Operation, depth: int) -> Steps | None:
        left, right = (self.steps(self.flow.input(op, number), depth) for number in (0, 1))
        if left is None or right is None:
            return None
        if op.name in {"arith.addi", "tt.addptr", "arith.subi"}:
            both = {**left, **right}
            for axis in left.keys() & right.keys():
                both[axis] = None
            return both
        if op.name == "arith.muli":
            if left and right:
                return dict.fromkeys({**left, **right}, None)
            varying, uniform = (left, self.flow.input(op, 1)) if left else (right, self.flow.input(op, 0))
            factor, symbols = self._uniform(uniform)
            return {a: None if step is None else step.times(factor, symbols) for a, step in varying.items()}
        if op.name == "arith.remsi" and not right:
            # Wrapping round at the edge (offs % M) leaves neighbours neighbours.
            return left
        return dict.fromkeys({**left, **right}, None)

    def _uniform(self, value: str) -> tuple[int, tuple[str, ...]]:
        """A value that is the same for all lanes: its constant, or its name."""
        for _ in range(_DEPTH):
            op = self.flow.producer(value)
            if op is None:
                break
            number = constant(op)
            if number is not None:
                return number, ()
            if op.name not in _SAME and op.name != "tt.splat":
                break
            value = self.flow.input(op, 0)
        return 1, (argument(value),)


@lru_cache(maxsize=4)
def _reader_of(module: Module) -> _Reader:
    """The reader of a module: its accesses have most of their arithmetic in common."""
    return _Reader(module)


_SAME = {
    "tt.broadcast",
    "ttg.convert_layout",
    "arith.extsi",
    "arith.extui",
    "arith.trunci",
    "arith.index_cast",
    "tt.bitcast",
}
_BINARY = {"arith.addi", "arith.subi", "arith.muli", "tt.addptr", "arith.remsi", "arith.divsi", "arith.divui"}


def _is_tensor(op: Operation) -> bool:
    return any(isinstance(kind, TensorType) for kind in op.result_types)


def constant(op: Operation) -> int | None:
    """The number of ``arith.constant 64 : i32`` and ``arith.constant dense<64> : tensor<...>``."""
    if op.name != "arith.constant":
        return None
    text = op.text.strip().removeprefix("dense<").split(" ")[0].split(">")[0]
    return int(text) if text.lstrip("-").isdecimal() else None
