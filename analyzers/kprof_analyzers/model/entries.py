"""Sums over all iterations of a loop: entries and iterations of the loops in it, and how far its addresses go."""

import operator
from itertools import repeat

from kprof.inputs.mlir import Operation
from kprof_analyzers.model.values import Evaluation, each_of, induction_variable

# Beyond so many iterations of the loop around it, a loop is looked at in the middle one only.
_MOST_ENTRIES = 64


def over_iterations(evaluator: Evaluation, loop: Operation) -> tuple[list[int], list[int]] | None:
    """Entries and iterations of a loop in a ``scf.for``, for each workgroup, added up over the iterations of that.

    Entries from branches that are not taken count with no iterations. ``None`` where the loop is in no such loop, or
    where one of the two is not known or too long to be looked at.
    """
    around = None if loop.loop is None else evaluator.module.operations[loop.loop]
    if around is None or around.name != "scf.for":
        return None
    name, count = induction_variable(around), evaluator.trips(around)
    evaluator.inside(around.loop)
    bounds = evaluator.bounds(around)
    if name is None or count is None or bounds is None:
        return None
    size = len(evaluator.programs)
    each = [count] * size if isinstance(count, int) else count
    if not 0 < max(each) <= _MOST_ENTRIES:
        return None
    before, base = evaluator.snapshot(), evaluator.outside(around.loop)
    evaluator.restart(base)
    always = evaluator.trips_here(loop) if loop.parent == around.index else None
    if always is not None:
        # The bounds do not depend on the iteration.
        evaluator.restart(before)
        return each, [a * b for a, b in zip(each, [always] * size if isinstance(always, int) else always, strict=True)]
    total = [0] * size
    for iteration in range(max(each)):
        evaluator.restart({**base, name: each_of(operator.add, bounds[0], each_of(operator.mul, bounds[2], iteration))})
        iterations, here = evaluator.trips_here(loop), taken(evaluator, loop, around.index)
        if iterations is None:
            evaluator.restart(before)
            return None
        listed = [iterations] * size if isinstance(iterations, int) else iterations
        total = [
            sum_ + (more if on and iteration < last else 0)
            for sum_, more, on, last in zip(total, listed, here, each, strict=True)
        ]
    evaluator.restart(before)
    return each, total


def reach(evaluator: Evaluation, load: Operation) -> tuple[int, int] | None:
    """Lowest and highest address, in elements, at which a tile begins in one entry of the loop around it.

    ``None`` where it is in no ``scf.for``, or where addresses or iterations are not known.
    """
    loop = None if load.loop is None else evaluator.module.operations[load.loop]
    if loop is None or loop.name != "scf.for":
        return None
    iterations, first = evaluator.trips(loop), evaluator.corner(load)
    name, bounds = induction_variable(loop), evaluator.bounds(loop)
    if iterations is None or first is None or name is None or bounds is None:
        return None
    before = evaluator.snapshot()
    following = {v: evaluator.value(after) for v, after in evaluator.flow.carried(loop).items()}
    base = evaluator.outside(loop.loop)
    evaluator.restart({**base, **following, name: each_of(operator.add, bounds[0], bounds[2])})
    second = evaluator.corner(load)
    evaluator.restart(before)
    if second is None:
        return None
    if isinstance(first, int) and isinstance(second, int) and isinstance(iterations, int):
        last = first + (second - first) * (iterations - 1)
        return min(first, last), max(first, last)
    one, two, count = (repeat(value) if isinstance(value, int) else value for value in (first, second, iterations))
    ends = [begin + (then - begin) * (times - 1) for begin, then, times in zip(one, two, count, strict=False)]
    ends += [first] if isinstance(first, int) else first
    return min(ends), max(ends)


def taken(evaluator: Evaluation, loop: Operation, around: int) -> list[bool]:
    """Which workgroups take the branches that lead to a loop; those of unknown conditions are taken."""
    found = [True] * len(evaluator.programs)
    inner = loop
    while inner.parent is not None and inner.parent != around:
        outer = evaluator.module.operations[inner.parent]
        condition = evaluator.certain(evaluator.flow.input(outer, 0)) if outer.name == "scf.if" else None
        if condition is not None:
            listed = [condition] * len(found) if isinstance(condition, int) else condition
            found = [a and bool(b) == (inner.region == 0) for a, b in zip(found, listed, strict=True)]
        inner = outer
    return found
