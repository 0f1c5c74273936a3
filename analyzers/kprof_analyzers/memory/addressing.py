"""Compute the address strides of tiles: the distance in memory between neighbouring elements along each axis."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from kprof.inputs.mlir import Module, Operation, Pointer, Scalar, TensorType
from kprof.inputs.mlir.text import integers
from kprof_analyzers.memory.dataflow import Dataflow, argument, flow_of, is_load, pointer_arguments


@dataclass(frozen=True)
class Stride:
    """The step between neighbouring elements along an axis, in elements.

    Attributes:
        factor: constant factor of the step; negative if addresses decrease.
        symbols: names of run-time values, which are further factors of the step.
    """

    factor: int = 1
    symbols: tuple[str, ...] = ()

    def times(self, factor: int, symbols: tuple[str, ...]) -> "Stride":
        """Return this step multiplied by a factor and by run-time values."""
        return Stride(self.factor * factor, tuple(sorted((*self.symbols, *symbols))))

    def value(self, arguments: Mapping[str, object]) -> int | None:
        """Return the step as a number, or ``None`` if the value of an argument is unknown."""
        known = [arguments.get(name) for name in self.symbols]
        numbers = [n for n in known if isinstance(n, int) and not isinstance(n, bool)]
        return self.factor * prod(numbers) if len(numbers) == len(known) else None

    def __str__(self) -> str:
        words = [*([] if self.factor == 1 and self.symbols else [str(self.factor)]), *self.symbols]
        return " * ".join(words)


Steps = dict[int, Stride | None]
"""Address step by tile axis; ``None`` if the step varies. Axes along which the address is constant are missing."""


def strides(load: Operation) -> Steps | None:
    """Return the address steps of a load or store, or ``None`` when the address arithmetic cannot be followed.

    Works for ``tt.load`` on pointers and for AMD's buffer operations.
    """
    value = address(load)
    return None if value is None else steps_of(load.module, value)


def steps_of(module: Module, value: str) -> Steps | None:
    """Return the steps of any integer or pointer tensor, like :func:`strides`."""
    return _reader_of(module).steps(value)


def address(load: Operation) -> str | None:
    """Return the tensor of pointers or offsets of a load or store, as a value name of :class:`Dataflow`."""
    if not load.name.startswith("amdg.buffer"):
        return next(iter(flow_of(load.module).inputs(load)), None)
    return _named(load, load.text.partition("[")[2].partition("]")[0].strip())


def pointer(access: Operation) -> str | None:
    """Return the base pointer of a buffer operation; for other accesses, the tensor of pointers."""
    if not access.name.startswith("amdg.buffer"):
        return address(access)
    return _named(access, next((name for name in access.operands if f"{name}[" in access.text), ""))


def base(access: Operation) -> tuple[str, ...]:
    """Return the names of the pointer arguments that a load may read or a store may write."""
    names, start = set(pointer_arguments(access.module)), pointer(access)
    roots = flow_of(access.module).roots(start) if start is not None else set()
    return tuple(sorted(name for root in roots if (name := argument(root)) in names))


def _named(op: Operation, name: str) -> str | None:
    """Return the value of an operand, found by its name in the operation's text."""
    return flow_of(op.module).input(op, op.operands.index(name)) if name in op.operands else None


def mask_of(access: Operation) -> str | None:
    """Return the mask of a load or store: the first 1-bit tensor operand after the address."""
    flow, where = flow_of(access.module), address(access)
    values = flow.inputs(access)
    at = values.index(where) + 1 if where in values else len(values)
    return next((value for value in values[at:] if _is_mask(flow, value)), None)


def _is_mask(flow: Dataflow, value: str) -> bool:
    # A loop-carried value or a loop's result has no producer. Its type is that of its initial and yielded values.
    made, seen = value, {value}
    while (op := flow.producer(made)) is None:
        made = flow.initial(made) or flow.following(made) or ""
        if not made or made in seen:
            return False
        seen.add(made)
    kind = dict(zip(flow.results(op), op.result_types, strict=False)).get(made)
    element = kind.element if isinstance(kind, TensorType) else None
    return isinstance(element, Scalar) and element.bits == 1


def tile(load: Operation) -> TensorType | None:
    """Return the type of the loaded tile with its register layout; for a copy to LDS, the tensor of its addresses."""
    found = [t for t in (*load.result_types, *load.operand_types) if isinstance(t, TensorType)]
    return found[0] if found else None


def element_bytes(load: Operation) -> int | None:
    """Return the size in bytes of a loaded element, or ``None`` when the type does not specify it."""
    for kind in (*load.result_types, *load.operand_types):
        element = getattr(kind, "element", kind)
        element = element.pointee if isinstance(element, Pointer) else element
        if isinstance(element, Scalar) and element.bits and element.bits >= 8 and element is not kind:
            return element.bits // 8
    return None


class _Reader:
    """Computes steps by following a module's address arithmetic back to ``tt.make_range``."""

    def __init__(self, module: Module) -> None:
        self.flow: Dataflow = flow_of(module)
        self._known: dict[str, Steps | None] = {}

    def steps(self, name: str) -> Steps | None:
        """Return the steps of a value. Its sources are computed first, with a stack instead of recursion."""
        pending = [(name, False)]
        while pending:
            value, ready = pending.pop()
            if ready:
                self._known[value] = self._compute_steps(value)
            elif value not in self._known:
                # The value depends on itself, which no compiler emits, so nothing is known about it.
                self._known[value] = None
                pending += [(value, True), *((source, False) for source in self._sources(value))]
        return self._known[name]

    def _sources(self, value: str) -> tuple[str, ...]:
        """Return the values that the steps of a value are computed from."""
        op = self.flow.producer(value)
        if op is None:
            before = self.flow.initial(value) or self.flow.following(value)
            return () if before is None else (before,)
        if is_load(op):
            at = address(op)
            return () if at is None else (at,)
        return self.flow.inputs(op) if op.name in _FOLLOWED else ()

    def _compute_steps(self, value: str) -> Steps | None:
        op, sources = self.flow.producer(value), self._sources(value)
        if op is None:
            # A loop's result has the steps of the value that it yields. Arguments have no steps: all lanes share them.
            return self._known[sources[0]] if sources else {}
        if op.name in {"tt.splat", "arith.constant"} or not _is_tensor(op):
            return {}
        if op.name == "tt.make_range":
            return {0: Stride()}
        if op.name in _BINARY:
            return self._binary(op)
        inner = self._known[sources[0]] if sources else None
        if inner is None or op.name in _SAME:
            return inner
        if is_load(op):
            # Indices that are loaded from memory are irregular along each axis of the load.
            return dict.fromkeys(inner, None)
        if op.name == "tt.trans":
            order = integers(op.attributes.get("order"))
            return {at: inner[axis] for at, axis in enumerate(order) if axis in inner} if order else None
        axis = op.attributes.get("axis")
        return {a + (a >= axis): step for a, step in inner.items()} if isinstance(axis, int) else None

    def _binary(self, op: Operation) -> Steps | None:
        left, right = (self._known.get(self.flow.input(op, number)) for number in (0, 1))
        if left is None or right is None:
            return None
        if op.name == "arith.subi":
            right = {a: None if step is None else step.times(-1, ()) for a, step in right.items()}
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
            # A remainder (offs % M) has the steps of its dividend, except where it wraps around, which is ignored.
            return left
        return dict.fromkeys({**left, **right}, None)

    def _uniform(self, value: str) -> tuple[int, tuple[str, ...]]:
        """Return a value that is equal for all lanes as a constant factor and names of run-time factors."""
        while (op := self.flow.producer(value)) is not None:
            number = constant(op)
            if number is not None:
                return number, ()
            if op.name not in _SAME and op.name != "tt.splat":
                break
            value = self.flow.input(op, 0)
        return 1, (argument(value),)


@lru_cache(maxsize=4)
def _reader_of(module: Module) -> _Reader:
    """Return the address reader of a module. Readers are cached: a module's accesses share most of their arithmetic."""
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
_FOLLOWED = _SAME | _BINARY | {"tt.expand_dims", "tt.trans"}


def _is_tensor(op: Operation) -> bool:
    return any(isinstance(kind, TensorType) for kind in op.result_types)


def constant(op: Operation) -> int | None:
    """Return the value of ``arith.constant 64 : i32`` or ``arith.constant dense<64> : tensor<...>``."""
    if op.name != "arith.constant":
        return None
    text = op.text.strip().removeprefix("dense<").split(" ")[0].split(">")[0]
    return int(text) if text.lstrip("-").isdecimal() else None
