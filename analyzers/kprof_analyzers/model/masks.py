"""How much of a tile its mask lets through, from the comparisons that make the mask."""

import operator
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kprof.analysis import KernelFacts
from kprof.inputs.mlir import Module, Operation, Scalar, TensorType
from kprof_analyzers.memory.addressing import address, steps_of
from kprof_analyzers.memory.dataflow import GLOBAL_LOADS, GLOBAL_STORES, Dataflow, argument, arguments, flow_of
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.launch import samples, spread
from kprof_analyzers.model.machine import machine_of
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.values import Value, each_of, induction_variable

_DEPTH = 40
# Iterations of a loop that are looked at; of longer ones so many, spread evenly.
_ITERATIONS = 64
_SAME = {"tt.expand_dims", "tt.broadcast", "tt.reshape", "tt.trans", "ttg.convert_layout", "tt.splat"}
# Predicate to whether both sides change places, and whether equal numbers pass.
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
        share: of the elements along its axis that pass, the mean over workgroups and iterations; ``None``: not known.
        extent: elements along the axis.
        size: what they are compared with: the kernel's argument, or a number; ``None`` where it is neither.
    """

    operation: Operation
    share: float | None
    extent: int
    size: str | None


@dataclass(frozen=True)
class Masked:
    """A load or store with the part of it that its mask lets through.

    Attributes:
        access: the operation.
        share: of its elements; ``None`` where that is not known. 1 without a mask.
        bounds: the comparisons that its mask is made of.
    """

    access: Operation
    share: float | None
    bounds: tuple[Bound, ...] = ()

    @property
    def tightest(self) -> Bound | None:
        """The comparison that lets the fewest through."""
        known = [bound for bound in self.bounds if bound.share is not None]
        return min(known, key=lambda bound: bound.share or 0.0, default=None)


# The kernel that was asked for last: the model and the rules ask for the same.
_last: list[tuple[KernelFacts, tuple[Masked, ...]]] = []


def masked(facts: KernelFacts) -> tuple[Masked, ...]:
    """Loads and stores of tensors in global memory, in their order, with what their masks let through."""
    for known, found in _last:
        if known is facts:
            return found
    result = () if facts.ttgir is None else _all(facts, facts.ttgir)
    _last[:] = [(facts, result)]
    return result


def live_shares(facts: KernelFacts) -> dict[int, float]:
    """Index of a load or store of the TTGIR to the share of its elements that its mask lets through, below 1."""
    return {m.access.index: m.share for m in masked(facts) if m.share is not None and m.share < 1}


def _all(facts: KernelFacts, module: Module) -> tuple[Masked, ...]:
    accesses = [(op, _mask(op)) for op in module.operations if op.name in (*GLOBAL_LOADS, *GLOBAL_STORES)]
    if all(mask is None for _, mask in accesses):
        return tuple(Masked(op, 1.0) for op, _ in accesses)
    lanes = facts.resources.wavefront_size
    size = lanes if isinstance(lanes, int) else facts.arch.wavefront_size
    machine = machine_of(facts.arch, facts.product, size, wgp=facts.program.registers.wgp_mode)
    where = spread(facts, machine, Effects())
    evaluator = Evaluator(module, facts.arguments, samples(where), where.grid, facts.contents)
    entered: set[int] = set()
    found = []
    for access, mask in accesses:
        if mask is None:
            found.append(Masked(access, 1.0))
            continue
        _enter(evaluator, access, entered)
        reader = _Reader(evaluator, access, grid_known=where.known)
        bounds = reader.bounds(mask)
        share = None if bounds is None else _together(bounds)
        found.append(Masked(access, share, tuple(bounds or ())))
    return tuple(found)


def _mask(access: Operation) -> str | None:
    """The operand behind the address that is a tensor of single bits."""
    flow, where = flow_of(access.module), address(access)
    values = flow.inputs(access)
    at = values.index(where) + 1 if where in values else len(values)
    return next((value for value in values[at:] if _is_mask(flow, value)), None)


def _is_mask(flow: Dataflow, value: str) -> bool:
    op = flow.producer(value) or flow.producer(flow.initial(value) or "")
    kind = op.result_types[0] if op is not None and op.result_types else None
    element = kind.element if isinstance(kind, TensorType) else None
    return isinstance(element, Scalar) and element.bits == 1


def _enter(evaluator: Evaluator, access: Operation, entered: set[int]) -> None:
    """Set the variables of the loops around: the own one is in its first iteration, those further out in the middle."""
    around: list[Operation] = []
    loop = access.loop
    while loop is not None:
        around.append(access.module.operations[loop])
        loop = around[-1].loop
    for place, op in reversed(list(enumerate(around))):
        if op.index not in entered or not place:
            evaluator.enter(op, first=not place)
            entered.add(op.index)
    evaluator.inside(access.loop)


def _together(bounds: Sequence[Bound]) -> float | None:
    """What passes all comparisons, which are taken to be independent of each other."""
    share = 1.0
    for bound in bounds:
        if bound.share is None:
            return None
        share *= bound.share
    return share


class _Reader:
    """Reads the mask of one access."""

    def __init__(self, evaluator: Evaluator, access: Operation, *, grid_known: bool) -> None:
        self.evaluator, self.access, self.grid_known = evaluator, access, grid_known
        self.flow = evaluator.flow

    def bounds(self, value: str, depth: int = 0) -> list[Bound] | None:
        """The comparisons that a mask is the conjunction of; ``None`` where it is made in another way."""
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
        sides = self.flow.input(op, int(swap)), self.flow.input(op, int(not swap))
        shape = next((t.shape for t in op.result_types if isinstance(t, TensorType)), (1,))
        steps = [steps_of(op.module, side) for side in sides]
        unknown = Bound(op, None, 1, None)
        if equal is None or steps[0] is None or steps[1] is None or (steps[0] and steps[1]):
            return unknown
        varying, fixed = (0, 1) if steps[0] or not steps[1] else (1, 0)
        along = list((steps[varying] or {}).items())
        step = along[0][1].value({}) if len(along) == 1 and along[0][1] is not None else None
        if len(along) > 1 or (along and (not step or step < 0 or along[0][0] >= len(shape))):
            return unknown
        extent = shape[along[0][0]] if along else 1
        return Bound(op, self._share(sides, varying, step or 1, extent, equal=equal), extent, self._name(sides[fixed]))

    def _share(self, sides: tuple[str, str], varying: int, step: int, extent: int, *, equal: bool) -> float | None:
        """Of the numbers ``first``, ``first + step``, ... on one side, those that are less than the other side's."""
        rooms = self._rooms(*sides)
        if rooms is None:
            return None

        def passes(difference: int) -> int:
            # How far the larger side may be above the smaller one's first number.
            room = difference + int(equal)
            many = -(-room // step) if varying == 0 else extent - max(0, -(-(1 - room) // step))
            return min(extent, max(0, many))

        first, steps, times = rooms
        ends = [*first, *(one + by * (many - 1) for one, by, many in zip(first, steps, times, strict=True))]
        least, most = passes(min(ends)), passes(max(ends))
        looked_at = {many: range(0, many, -(-many // _ITERATIONS)) for many in set(times)}
        total = sum(count * len(looked_at[many]) for many, count in Counter(times).items())
        if least == most:
            return least * total / (extent * total)
        passed = 0
        for (one, by, many), count in Counter(zip(first, steps, times, strict=True)).items():
            passed += count * _summed(one, by, looked_at[many], passes)
        return passed / (extent * total)

    def _rooms(self, left: str, right: str) -> tuple[list[int], list[int], list[int]] | None:
        """How far the right side's first number is above the left one's, for each workgroup.

        In the first iteration, how much more from one iteration to the next, and how many iterations.
        """
        first = self._now(left), self._now(right)
        if first[0] is None or first[1] is None:
            return None
        loop = None if self.access.loop is None else self.evaluator.module.operations[self.access.loop]
        iterations = 1 if loop is None else self.evaluator.trips(loop)
        if iterations is None or (loop is not None and loop.name != "scf.for"):
            return None
        size = len(self.evaluator.programs)
        now = list(map(operator.sub, _listed(first[1], size), _listed(first[0], size)))
        if loop is None:
            return now, [0] * size, [1] * size
        second = self._next(loop, left, right)
        if second[0] is None or second[1] is None:
            return None
        later = map(operator.sub, _listed(second[1], size), _listed(second[0], size))
        times = [max(1, many) for many in _listed(iterations, size)]
        return now, list(map(operator.sub, later, now)), times

    def _now(self, name: str) -> Value | None:
        value = self.evaluator.certain(name)
        # Without a grid it is not known which workgroups there are.
        return value if self.grid_known or isinstance(value, int) else None

    def _next(self, loop: Operation, *names: str) -> tuple[Value | None, ...]:
        """Values in the second iteration of a loop."""
        evaluator = self.evaluator
        name, bounds = induction_variable(loop), evaluator.bounds(loop)
        if name is None or bounds is None:
            return tuple(None for _ in names)
        before = evaluator.snapshot()
        following = {v: evaluator.value(after) for v, after in evaluator.flow.carried(loop).items()}
        base = evaluator.outside(loop.loop)
        evaluator.restart({**base, **following, name: each_of(operator.add, bounds[0], bounds[2])})
        found = tuple(evaluator.certain(wanted) for wanted in names)
        evaluator.restart(before)
        return found

    def _name(self, value: str) -> str | None:
        """An argument by its name, a constant by its number."""
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
    """Sum of what never falls, or never rises, over a run of iterations: between two equal ones all are equal."""
    first, last = passes(start + step * run[0]), passes(start + step * run[-1])
    if first == last:
        return first * len(run)
    middle = len(run) // 2
    return _summed(start, step, run[:middle], passes) + _summed(start, step, run[middle:], passes)


def _listed(value: Value, size: int) -> list[int]:
    return [value] * size if isinstance(value, int) else value
