"""Evaluate the comparisons of a mask: compute the share of elements that pass, over workgroups and iterations."""

import operator
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from kprof.inputs.mlir import Operation, TensorType
from kprof_analyzers.memory.addressing import steps_of
from kprof_analyzers.memory.dataflow import argument, arguments, is_load
from kprof_analyzers.model.arithmetic import PURE
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.values import Value, each_of, induction_variable

_DEPTH = 40
# Maximum number of evaluated iterations; a longer loop is sampled evenly.
_ITERATIONS = 64
# Maximum number of evaluated iterations if the compared values do not grow linearly and each is computed separately.
_STRAYED = 256
_SAME = {"tt.expand_dims", "tt.broadcast", "tt.reshape", "tt.trans", "ttg.convert_layout", "tt.splat"}
_DIVISIONS = {"arith.divsi", "arith.divui"}
_REMAINDERS = {"arith.remsi", "arith.remui"}
_STRAIGHT = {"arith.addi", "arith.subi", "arith.muli", "tt.addptr"}
# For each predicate: whether to swap the operands, and whether equal numbers pass.
_PREDICATES = {
    "slt": (False, False),
    "ult": (False, False),
    "sle": (False, True),
    "ule": (False, True),
    "sgt": (True, False),
    "ugt": (True, False),
    "sge": (True, True),
    "uge": (True, True),
}


@dataclass(frozen=True)
class Bound:
    """One comparison of a mask.

    Attributes:
        operation: the comparison.
        share: mean share of the elements along the axis that pass, over workgroups and iterations; ``None`` if unknown.
        extent: elements along the axis.
        size: the compared bound: name of a kernel argument or a number; ``None`` if it is neither.
        fullest: like ``share``, but in the workgroup and iteration with the most passing elements.
    """

    operation: Operation
    share: float | None
    extent: int
    size: str | None
    fullest: float = 1.0


@dataclass(frozen=True)
class _Sides:
    """The comparison ``left < right * scale``; ``left`` and ``right`` are names of values."""

    left: str
    right: str
    scale: int = 1

    def rooms(self, below: Value | None, above: Value | None) -> Value | None:
        """Return ``above * scale - below``, or ``None`` if one of the values is unknown."""
        if below is None or above is None:
            return None
        high = above if self.scale == 1 else each_of(operator.mul, above, self.scale)
        return each_of(operator.sub, high, below)


class MaskReader:
    """Reader of the mask of one access."""

    def __init__(
        self,
        evaluator: Evaluator,
        access: Operation,
        following: dict[int, dict[str, Value | None]],
        *,
        grid_known: bool,
    ) -> None:
        """Store the context of the mask.

        Args:
            evaluator: evaluator of the sampled workgroups.
            access: the access whose mask is read.
            following: cache of the values that loops carry into their second iteration, shared by all masks.
            grid_known: whether the grid is known.
        """
        self.evaluator, self.access, self.grid_known, self._following = evaluator, access, grid_known, following
        self.flow = evaluator.flow

    def bounds(self, value: str, depth: int = 0) -> list[Bound] | None:
        """Return the comparisons that a mask combines with "and"; ``None`` if the mask has another form."""
        op = self.flow.producer(value)
        if op is None or depth > _DEPTH:
            return None
        if op.name == "arith.cmpi":
            return [self._bound(op)]
        if op.name == "arith.constant":
            return [] if "true" in op.text else None
        if op.name in _SAME:
            return self.bounds(self.flow.input(op, 0), depth + 1)
        if op.name != "arith.andi":
            return None
        left, right = (self.bounds(self.flow.input(op, n), depth + 1) for n in (0, 1))
        return None if left is None or right is None else [*left, *right]

    def _bound(self, op: Operation) -> Bound:
        swap, equal = _PREDICATES.get(op.text.strip().partition(",")[0], (False, None))
        left, right = self.flow.input(op, int(swap)), self.flow.input(op, int(not swap))
        shape = _shape_of(op)
        scale = 1
        if equal is False and None in (steps_of(op.module, left) or {}).values():
            left, scale, shape = self._undivided(left) or (left, scale, shape)
        sides = _Sides(left, right, scale)
        steps = [steps_of(op.module, side) for side in (left, right)]
        unknown = Bound(op, None, 1, None)
        if self._wraps(left) or self._wraps(right):
            return unknown
        if equal is None or steps[0] is None or steps[1] is None or (steps[0] and steps[1]):
            return unknown
        varying, fixed = (0, right) if steps[0] or not steps[1] else (1, left)
        along = list((steps[varying] or {}).items())
        step = along[0][1].value({}) if len(along) == 1 and along[0][1] is not None else None
        if len(along) > 1 or (along and (step is None or step <= 0 or along[0][0] >= len(shape))):
            return unknown
        extent = shape[along[0][0]] if along else 1
        shares = self._share(sides, varying, step or 1, extent, equal=equal)
        share, fullest = shares if shares is not None else (None, 1.0)
        return Bound(op, share, extent, self._name(fixed), fullest)

    def _wraps(self, value: str) -> bool:
        """Return whether an index tensor uses a remainder, as in ``m % W``, and may wrap to 0 within a tile."""
        before = self.flow.back(value, stop=is_load, carried=False)
        return any(op.name in _REMAINDERS and any(isinstance(t, TensorType) for t in op.result_types) for op in before)

    def _undivided(self, value: str) -> tuple[str, int, tuple[int, ...]] | None:
        """Return a quotient's dividend, its divisor and the dividend's shape.

        With them, ``m // HW < images`` can be rewritten as ``m < images * HW``. ``None`` if the value is not a
        quotient, or is a quotient of numbers that may be negative.
        """
        inner, divisor, divided = value, 1, False
        while (op := self.flow.producer(inner)) is not None:
            if op.name in _DIVISIONS:
                by = self.evaluator.certain(self.flow.input(op, 1))
                if not isinstance(by, int) or by < 1:
                    break
                divisor, divided = divisor * by, True
            elif op.name not in _SAME:
                break
            inner = self.flow.input(op, 0)
        first = self._now(inner) if divided else None
        if first is None or (first if isinstance(first, int) else min(first)) < 0:
            return None
        made = self.flow.producer(inner)
        return None if made is None else (inner, divisor, _shape_of(made))

    def _share(self, sides: _Sides, varying: int, step: int, extent: int, *, equal: bool) -> tuple[float, float] | None:
        """Return the share of a tile's elements that pass a comparison: mean and maximum; ``None`` if unknown.

        Mean and maximum are over all workgroups and iterations. The side ``varying`` (0 is left) has the values
        ``first``, ``first + step``, ... along the tile's axis; the other side has one value.
        """
        rooms = self._rooms(sides)
        if rooms is None:
            return None

        def passes(difference: int) -> int:
            # Number of elements of the varying side that pass.
            room = difference + int(equal)
            many = -(-room // step) if varying == 0 else extent - max(0, -(-(1 - room) // step))
            return min(extent, max(0, many))

        first, steps, times = rooms
        # If a side is computed from the iteration number with a remainder or quotient, it may not grow linearly.
        strayed = self._strayed(sides, rooms)
        if strayed is not None:
            found = [passes(room) for turn in strayed for room in turn]
            return (sum(found) / (extent * len(found)), max(found) / extent) if found else None
        last = each_of(operator.add, first, each_of(operator.mul, steps, each_of(operator.sub, times, 1)))
        least, most = passes(min(_least(first), _least(last))), passes(max(_most(first), _most(last)))
        fullest = max(least, most) / extent
        if least == most:
            return least / extent, fullest
        size = len(self.evaluator.programs)
        each = Counter(zip(*(_listed(value, size) for value in rooms), strict=True))
        looked_at = {many: range(0, many, -(-many // _ITERATIONS)) for _, _, many in each}
        total = sum(count * len(looked_at[many]) for (_, _, many), count in each.items())
        passed = sum(count * _summed(one, by, looked_at[many], passes) for (one, by, many), count in each.items())
        return passed / (extent * total), fullest

    def _rooms(self, sides: _Sides) -> tuple[Value, Value, Value] | None:
        """Return the difference of the compared first elements, its increase per iteration, and the iterations.

        The difference is that of the first iteration. ``None`` if one of the results is unknown.
        """
        now = sides.rooms(self._now(sides.left), self._now(sides.right))
        loop = None if self.access.loop is None else self.evaluator.module.operations[self.access.loop]
        iterations = 1 if loop is None else self.evaluator.trips(loop)
        if now is None or iterations is None or (loop is not None and loop.name != "scf.for"):
            return None
        if loop is None:
            return now, 0, 1
        later = self._room_at(loop, 1, sides)
        if later is None:
            return None
        return now, each_of(operator.sub, later, now), each_of(max, iterations, 1)

    def _now(self, name: str) -> Value | None:
        value = self.evaluator.certain(name)
        # Without a grid the workgroups are unknown, so only values that are equal for all of them can be used.
        return value if self.grid_known or isinstance(value, int) else None

    def _strayed(self, sides: _Sides, rooms: tuple[Value, Value, Value]) -> list[list[int]] | None:
        """Return both sides' differences for sampled iterations if they do not grow linearly; ``None`` if they do.

        The result is empty if the differences cannot be computed.
        """
        first, steps, times = rooms
        loop = None if self.access.loop is None else self.evaluator.module.operations[self.access.loop]
        if loop is None or _most(times) < 3 or not (self._bends(sides.left) or self._bends(sides.right)):
            return None
        size, before = len(self.evaluator.programs), each_of(operator.sub, times, 1)
        going_on = each_of(operator.add, first, each_of(operator.mul, steps, before))
        last = self._room_at(loop, before, sides)
        if last is None:
            return []
        if _listed(last, size) == _listed(going_on, size):
            return None
        most = _most(times)
        turns = [each_of(operator.floordiv, each_of(operator.mul, times, turn), most) for turn in _looked_at(most)]
        found = [self._room_at(loop, turn, sides) for turn in turns]
        return [_listed(one, size) for one in found if one is not None]

    def _bends(self, value: str) -> bool:
        """Return whether a loop computes a value with operations other than addition and multiplication."""
        before = self.flow.back(value, stop=is_load, carried=False)
        return any(op.loop is not None and PURE.get(op.name, 0) > 1 and op.name not in _STRAIGHT for op in before)

    def _room_at(self, loop: Operation, turn: Value, sides: _Sides) -> Value | None:
        """Return for each workgroup the difference of both sides' first elements in the iteration ``turn``."""
        return sides.rooms(*self._in_iteration(loop, turn, sides.left, sides.right))

    def _in_iteration(self, loop: Operation, turn: Value, *names: str) -> tuple[Value | None, ...]:
        """Return the named values in iteration ``turn`` (from 0) of a loop.

        Values that the loop carries from iteration to iteration are assumed to change linearly.
        """
        evaluator = self.evaluator
        name, bounds = induction_variable(loop), evaluator.bounds(loop)
        if name is None or bounds is None:
            return tuple(None for _ in names)
        before = evaluator.snapshot()
        if loop.index not in self._following:
            after = evaluator.flow.carried(loop)
            self._following[loop.index] = {value: evaluator.value(second) for value, second in after.items()}
        carried = dict(self._following[loop.index])
        for value, second in carried.items() if turn != 1 else ():
            now = evaluator.value(value)
            if second is not None and now is not None:
                by = each_of(operator.sub, second, now)
                carried[value] = each_of(operator.add, now, each_of(operator.mul, by, turn))
        base = evaluator.outside(loop.loop)
        here = each_of(operator.add, bounds[0], each_of(operator.mul, bounds[2], turn))
        evaluator.restart({**base, **carried, name: here})
        found = tuple(evaluator.certain(wanted) for wanted in names)
        evaluator.restart(before)
        return found

    def _name(self, value: str) -> str | None:
        """Return the name of an argument or the number of a constant; ``None`` for other values."""
        known = set(arguments(self.evaluator.module))
        for _ in range(_DEPTH):
            op = self.flow.producer(value)
            if op is None:
                return argument(value) if argument(value) in known else None
            if op.name == "arith.constant":
                number = self.evaluator.value(value)
                return str(number) if isinstance(number, int) else None
            if op.name not in _SAME and op.name not in {"arith.extsi", "arith.trunci"}:
                return None
            value = self.flow.input(op, 0)
        return None


def _summed(start: int, step: int, run: range, passes: Callable[[int], int]) -> int:
    """Sum a monotonic function over a range of iterations, with few calls.

    If the function has the same value at two iterations, it has this value between them.
    """
    first, last = passes(start + step * run[0]), passes(start + step * run[-1])
    if first == last:
        return first * len(run)
    middle = len(run) // 2
    return _summed(start, step, run[:middle], passes) + _summed(start, step, run[middle:], passes)


def _shape_of(op: Operation) -> tuple[int, ...]:
    return next((tuple(t.shape) for t in op.result_types if isinstance(t, TensorType)), ())


def _looked_at(iterations: int) -> Sequence[int]:
    """Return all iterations, or for a long loop one random iteration of each of ``_STRAYED`` equal parts.

    Random choice avoids aliasing with periodic values.
    """
    if iterations <= _STRAYED:
        return range(iterations)
    lots = Random(0)  # noqa: S311  # It is not used for secrets.
    return [int((part + lots.random()) * iterations / _STRAYED) for part in range(_STRAYED)]


def _listed(value: Value, size: int) -> list[int]:
    return [value] * size if isinstance(value, int) else value


def _least(value: Value) -> int:
    return value if isinstance(value, int) else min(value)


def _most(value: Value) -> int:
    return value if isinstance(value, int) else max(value)
