"""Derive the known alignment of addresses and masks, which limits the width of a load.

In this module, the divisor of a value is the largest power of two that is known to divide the value at the start of
every wide access along one axis of the tile. The derivation follows that of the compiler (divisibility and constancy),
but considers only this axis.
"""

import re
from math import gcd

from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.memory.addressing import address, constant, element_bytes, pointer, steps_of
from kprof_analyzers.memory.dataflow import argument, arguments, flow_of, is_load

_DIVISIBLE = re.compile(r"%([\w$.-]+): [^{,]*\{[^}]*tt\.divisibility = (\d{1,18})\b")
_HINT = re.compile(r"tt\.divisibility = (?:dense<)?(\d{1,18})\b")
_INDUCTION = re.compile(r"\s*(%[\w$.-]+) = ")
_SAME = {"tt.splat", "tt.expand_dims", "tt.broadcast", "ttg.convert_layout", "arith.extsi", "arith.extui",
         "arith.trunci", "tt.bitcast", "arith.index_cast"}  # fmt: skip
# A common divisor of both operands also divides the result.
_COMMON = {"arith.addi", "arith.subi", "arith.remsi", "arith.remui", "arith.minsi", "arith.maxsi", "arith.minui",
           "arith.maxui", "arith.ori", "arith.xori"}  # fmt: skip
# Results of these operations have no known divisor.
_ANY = {"tt.get_program_id", "tt.get_num_programs", "tt.load", "amdg.buffer_load", "tt.reduce", "tt.int_to_ptr"}
_FOLLOWED = {"arith.muli", "arith.divsi", "arith.divui", "arith.andi", "tt.addptr"}
_LESS = {"slt", "ult", "sge", "uge"}
_MORE = {"sgt", "ugt", "sle", "ule"}
_LOGIC = {"arith.andi", "arith.ori", "arith.xori", "arith.select"}
# The value zero, which every number divides.
_ZERO = 0
_CAP = 65_536
_ROUNDS = 20
_DEPTH = 200


class _UnknownError(Exception):
    """The divisor of an operation's result cannot be derived."""


def given_divisors(module: Module) -> dict[str, int]:
    """Map each argument to the divisor that the launch guarantees: of a pointer's address in bytes, or of a number."""
    function = next(iter(module.functions), None)
    return {name: int(by) for name, by in _DIVISIBLE.findall(function.text if function else "")}


def known_alignment(load: Operation, axis: int, width: int) -> int | None:
    """Return the number of bytes that is known to divide the start address of each ``width``-byte access of a load.

    Args:
        load: a load from global memory.
        axis: the axis of the tile that is contiguous in memory.
        width: bytes of an access, a power of two.

    Returns:
        A power of two up to ``width``, or ``None`` when the address cannot be followed.
    """
    size, value, flow = element_bytes(load), address(load), flow_of(load.module)
    if size is None or value is None or size > width:
        return None
    reader = _Divisors(load, width // size, size)
    try:
        found = reader.of(value, axis)
        if load.name.startswith("amdg.buffer"):
            found = gcd(reader.of(flow.input(load, 0), None), found * size)
    except _UnknownError:
        return None
    return gcd(found, width)


def pointer_from_memory(load: Operation) -> str | None:
    """Return the name of the pointer that a load uses, if the pointer was itself loaded from memory; else ``None``.

    Pointers with a divisibility hint are ignored. The compiler knows the alignment of arguments from the launch, but
    nothing about the alignment of a loaded pointer.
    """
    flow = flow_of(load.module)
    base = pointer(load) or ""
    for op in flow.back(base, stop=lambda one: one.name == "tt.int_to_ptr" or is_load(one)):
        if op.name == "tt.int_to_ptr" and _HINT.search(op.text) is None:
            # Remove the numeric suffix by which MLIR distinguishes values of the same name.
            return re.sub(r"_\d+$", "", op.results[0].removeprefix("%")) if op.results else None
    return None


def mask_is_constant(load: Operation, mask: str, axis: int, width: int) -> bool | None:
    """Return whether all elements of each access of ``width`` bytes have the same mask value; ``None`` if unknown."""
    size = element_bytes(load)
    if size is None or size > width:
        return None
    try:
        return _constant_mask(_Divisors(load, width // size, size), mask, axis, width // size)
    except _UnknownError:
        return None


def _constant_mask(reader: "_Divisors", mask: str, axis: int | None, group: int, depth: int = 0) -> bool:
    op = reader.flow.producer(mask)
    if op is None or depth > _DEPTH:
        raise _UnknownError
    if axis is None or op.name in {"tt.splat", "arith.constant"}:
        return True
    if op.name == "arith.cmpi":
        return _constant_comparison(reader, op, axis, group)
    if op.name == "tt.expand_dims":
        axis = _before(op, axis)
    elif op.name not in {"tt.broadcast", "ttg.convert_layout"} | _LOGIC:
        raise _UnknownError
    return all(_constant_mask(reader, value, axis, group, depth + 1) for value in reader.flow.inputs(op))


def _constant_comparison(reader: "_Divisors", op: Operation, axis: int, group: int) -> bool:
    """Return whether ``position < limit`` is constant within each group of elements.

    The comparison is constant if positions have a step of 1, and the group's first position and the limit are multiples
    of the group's size.
    """
    left, right = reader.flow.input(op, 0), reader.flow.input(op, 1)
    predicate = op.text.strip().partition(",")[0]
    left_steps, right_steps = (steps_of(op.module, value) for value in (left, right))
    if left_steps is None or right_steps is None:
        raise _UnknownError
    if axis not in left_steps and axis not in right_steps:
        return True
    if axis in left_steps and axis in right_steps:
        return False
    allowed, step = (_LESS, left_steps[axis]) if axis in left_steps else (_MORE, right_steps[axis])
    if predicate not in allowed or step is None or step.value({}) != 1:
        return False
    return all(reader.of(value, axis) % group == 0 for value in (left, right))


def _before(op: Operation, axis: int | None) -> int | None:
    """Return the index of an axis in the input of a ``tt.expand_dims``; ``None`` for the axis that it inserts."""
    at = op.attributes.get("axis")
    if not isinstance(at, int):
        raise _UnknownError
    return None if axis is None or at == axis else axis - (at < axis)


class _Divisors:
    """Computes the divisors of values. The divisor of a loop-carried value is valid in every iteration.

    Args:
        load: the load whose module and enclosing loops are used.
        group: elements of an access.
        size: bytes of an element.
    """

    def __init__(self, load: Operation, group: int, size: int) -> None:
        self.flow = flow_of(load.module)
        self._group = group
        self._size = size
        self._arguments = frozenset(arguments(load.module))
        self._given = given_divisors(load.module)
        self._loops = _around(load.module, load)
        self._before: dict[tuple[str, int | None], int] = {}
        self._now: dict[tuple[str, int | None], int] = {}

    def of(self, value: str, axis: int | None) -> int:
        """Return the divisor of a value at the starts of groups along an axis, or everywhere if ``axis`` is None.

        0 means that every number divides the value. A loop-carried value is first assumed to be divisible by every
        number, and evaluated again until nothing changes.
        """
        self._before = {}
        for _ in range(_ROUNDS):
            self._now = {}
            found = self._alignment_of(value, axis, 0)
            if self._now == self._before:
                return found
            self._before = self._now
        raise _UnknownError

    def _alignment_of(self, value: str, axis: int | None, depth: int) -> int:
        key = (value, axis)
        if key not in self._now:
            if depth > _DEPTH:
                raise _UnknownError
            self._now[key] = self._before.get(key, _ZERO)
            self._now[key] = self._compute_alignment(value, axis, depth + 1)
        return self._now[key]

    def _compute_alignment(self, value: str, axis: int | None, depth: int) -> int:
        op = self.flow.producer(value)
        if op is None:
            return self._without_producer(value, axis, depth)
        hint = _HINT.search(op.text)
        if hint is not None:
            return _power(int(hint[1]))
        if op.name == "arith.constant":
            number = constant(op)
            if number is None:
                raise _UnknownError
            return _power(number)
        if op.name == "tt.make_range":
            start = op.attributes.get("start")
            if not isinstance(start, int):
                raise _UnknownError
            return gcd(_power(start), self._group) if axis is not None else 1
        before = _before(op, axis) if op.name == "tt.expand_dims" else axis
        return self._computed(op.name, [(v, before) for v in self.flow.inputs(op)], depth)

    def _computed(self, name: str, inputs: list[tuple[str, int | None]], depth: int) -> int:
        if name in _ANY:
            return 1
        if name == "arith.select":
            inputs = inputs[1:]
        elif name not in _SAME | _COMMON | _FOLLOWED:
            raise _UnknownError
        found = [self._alignment_of(*one, depth) for one in inputs]
        if name == "arith.muli":
            return min(found[0] * found[1], _CAP)
        if name in {"arith.divsi", "arith.divui"}:
            return self._quotient(inputs[1][0], found[0])
        if name == "arith.andi":
            return _ZERO if _ZERO in found else max(found)
        if name == "tt.addptr":
            return gcd(found[0], found[1] * self._size)
        return gcd(*found)

    def _quotient(self, by: str, divisor: int) -> int:
        """Return the divisor of a quotient; 1 unless ``by`` is a constant power of two that divides ``divisor``."""
        op = self.flow.producer(by)
        number = constant(op) if op is not None else None
        if number is None or number <= 0 or number != _power(number):
            return 1
        return divisor // number if divisor % number == 0 else 1

    def _without_producer(self, value: str, axis: int | None, depth: int) -> int:
        """Return the divisor of an argument, a loop-carried value or a loop counter."""
        if argument(value) in self._arguments:
            return _power(self._given.get(argument(value), 1))
        initial, following = self.flow.initial(value), self.flow.following(value)
        if initial is not None and following is not None:
            return gcd(self._alignment_of(initial, axis, depth), self._alignment_of(following, axis, depth))
        loop = self._loops.get(value)
        if loop is None:
            raise _UnknownError
        first, _, step, *_ = self.flow.inputs(loop)
        return gcd(self._alignment_of(first, None, depth), self._alignment_of(step, None, depth))


def _around(module: Module, load: Operation) -> dict[str, Operation]:
    """Map the counter names of all enclosing loops to the loops. For equal names, the innermost loop counts."""
    found: dict[str, Operation] = {}
    inside = load.parent
    while inside is not None:
        op = module.operations[inside]
        name = _INDUCTION.match(op.text)
        if op.name == "scf.for" and name is not None:
            found.setdefault(name[1], op)
        inside = op.parent
    return found


def _power(number: int) -> int:
    """Return the largest power of two that divides a number, up to ``_CAP``; 0 for 0."""
    return min(number & -number, _CAP)
