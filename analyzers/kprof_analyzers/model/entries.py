"""Count how often nested loops are entered and iterated, and compute the address ranges of loads inside loops."""

import operator
from collections.abc import Iterator

from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.model.values import Value, ValueContext, each_of, induction_variable

# Maximum number of outer iterations in which an inner loop is evaluated one by one. In longer outer loops, the inner
# loop is only evaluated in the middle iteration.
_MOST_ENTRIES = 64

Branch = tuple[int, int]
"""Index of a ``scf.if`` and its region: 0 is the ``then`` region, 1 is ``else``."""


def over_iterations(evaluator: ValueContext, loop: Operation) -> tuple[list[int], list[int]] | None:
    """Return how often each workgroup enters an inner loop, and how often it iterates it, over the whole outer loop.

    If an outer iteration does not take the branch with the inner loop, it counts as an entry with 0 iterations.
    ``None`` if the loop is not inside a loop, or if a number of iterations is unknown or too large.
    """
    around = None if loop.loop is None else evaluator.module.operations[loop.loop]
    if around is not None and around.name == "scf.while":
        return evaluator.walked(loop)
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
        # The inner loop's bounds do not depend on the outer iteration.
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


def over_each(evaluator: ValueContext, loop: Operation) -> Iterator[list[bool]]:
    """Step through the iterations of a ``scf.for`` and yield for each workgroup whether it is still in the loop.

    At each yield, the evaluator's state is that of the iteration. Nothing is yielded if the number of iterations is
    unknown or too large.
    """
    name, count = induction_variable(loop), evaluator.trips(loop)
    evaluator.inside(loop.loop)
    bounds = evaluator.bounds(loop)
    if name is None or count is None or bounds is None:
        return
    each = [count] * len(evaluator.programs) if isinstance(count, int) else count
    if not 0 < max(each) <= _MOST_ENTRIES:
        return
    before, base = evaluator.snapshot(), evaluator.outside(loop.loop)
    carried: dict[str, Value | None] = {}
    for iteration in range(max(each)):
        here = each_of(operator.add, bounds[0], each_of(operator.mul, bounds[2], iteration))
        evaluator.restart({**base, **carried, name: here})
        yield [iteration < last for last in each]
        carried = {v: evaluator.certain(after) for v, after in evaluator.flow.carried(loop).items()}
    evaluator.restart(before)


def course(evaluator: ValueContext, loop: Operation, *, last: bool) -> dict[str, Value]:
    """Return a ``scf.for``'s induction variable and carried values at its first or each workgroup's last iteration.

    Carried values are assumed to change linearly. The result is empty if the iterations are unknown.
    """
    around = evaluator.outside(loop.loop)
    evaluator.restart(around)
    name, bounds, count = induction_variable(loop), evaluator.bounds(loop), evaluator.trips_here(loop)
    if name is None or bounds is None or count is None:
        return {}
    if not last:
        return {name: bounds[0]}
    evaluator.restart({**around, name: bounds[0]})
    steps = {name: (bounds[0], bounds[2])}
    for carried, after in evaluator.flow.carried(loop).items():
        first, second = evaluator.value(carried), evaluator.value(after)
        if first is not None and second is not None:
            steps[carried] = first, each_of(operator.sub, second, first)
    before = each_of(operator.sub, each_of(max, count, 1), 1)
    return {v: each_of(operator.add, first, each_of(operator.mul, before, by)) for v, (first, by) in steps.items()}


def reach(evaluator: ValueContext, load: Operation) -> tuple[int, int] | None:
    """Return the lowest and highest start address of a tile in one entry of the loop around it, in elements.

    ``None`` if the tile is not in a ``scf.for``, or if addresses or iterations are unknown.
    """
    loop = None if load.loop is None else evaluator.module.operations[load.loop]
    if loop is None or loop.name != "scf.for":
        return None
    found = ends(evaluator, load, evaluator.trips(loop))
    if found is None:
        return None
    every = [address for value in found for address in ([value] if isinstance(value, int) else value)]
    return min(every), max(every)


def ends(evaluator: ValueContext, load: Operation, iterations: Value | None) -> tuple[Value, Value] | None:
    """Return the address of a tile's first element in the first and the last iteration of the ``scf.for`` around it.

    Addresses are in elements, for each workgroup. Both are equal if there is no such loop; ``None`` if addresses are
    unknown.

    Args:
        evaluator: evaluator of the workgroups.
        load: the load or store.
        iterations: iterations of the loop around it for each entry.
    """
    loop = None if load.loop is None else evaluator.module.operations[load.loop]
    first = evaluator.corner(load)
    if first is None or loop is None or loop.name != "scf.for":
        return None if first is None else (first, first)
    name, bounds = induction_variable(loop), evaluator.bounds(loop)
    if iterations is None or name is None or bounds is None:
        return None
    before = evaluator.snapshot()
    carried = {v: evaluator.value(after) for v, after in evaluator.flow.carried(loop).items()}
    base = evaluator.outside(loop.loop)
    evaluator.restart({**base, **carried, name: each_of(operator.add, bounds[0], bounds[2])})
    second = evaluator.corner(load)
    evaluator.restart(before)
    if second is None:
        return None
    step = each_of(operator.sub, second, first)
    following = each_of(max, each_of(operator.sub, iterations, 1), 0)
    return first, each_of(operator.add, first, each_of(operator.mul, step, following))


def branches_in(module: Module, loop: int) -> dict[Branch, Operation]:
    """Map each region of the branches directly in a loop to one operation in the region."""
    found: dict[Branch, Operation] = {}
    for op in module.operations:
        branch = None if op.parent is None else module.operations[op.parent]
        if branch is not None and branch.name == "scf.if" and branch.loop == loop:
            found.setdefault((branch.index, op.region), op)
    return found


def taken(evaluator: ValueContext, loop: Operation, around: int) -> list[bool]:
    """Return for each workgroup whether it takes all branches around an inner loop; unknown conditions count as taken.

    Args:
        evaluator: evaluator of the workgroups.
        loop: the inner loop or another operation.
        around: index of the outer loop; branches outside it are ignored.
    """
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
