"""Model work queues: each workgroup draws work item numbers from a counter in memory with atomic additions."""

from collections import Counter
from collections.abc import Sequence
from math import prod

from kprof.inputs.mlir import Operation, TensorType
from kprof_analyzers.model.values import Value, ValueContext


def drawn(evaluator: ValueContext, op: Operation, depth: int) -> Value | None:
    """Return the result of an atomic addition for each workgroup; ``None`` if unknown.

    The counter is assumed to start at 0, and the workgroups are assumed to draw in turn, as if all did equal work. The
    n-th workgroup (from 0) that draws from a counter first gets n times the added number. Workgroups with the least
    work before the draw come first. Each further draw in a loop returns the workgroup's previous number plus the number
    of workgroups.
    """
    inputs = evaluator.flow.inputs(op)
    if (
        len(inputs) < 2
        or not op.text.strip().startswith("add")
        or any(isinstance(t, TensorType) for t in op.result_types)
    ):
        return None
    where, step = evaluator.value(inputs[0], depth), evaluator.certain(inputs[1])
    if where is None or not isinstance(step, int):
        return None
    count = len(evaluator.programs)
    counters = [where] * count if isinstance(where, int) else where
    # The evaluator may contain only an evenly spread sample. Each sampled workgroup represents this number of
    # workgroups.
    part = prod(evaluator.grid) / max(1, count)
    sizes = Counter(counters)
    around = None if op.loop is None else op.module.operations[op.loop]
    if around is None:
        return _first(counters, _work(evaluator, op), part, step)
    before = _carried_name(evaluator, around, op)
    last = evaluator.value(before, depth) if before is not None else None
    if last is None:
        return None
    had = [last] * count if isinstance(last, int) else last
    return [one + round(sizes[counter] * part) * step for one, counter in zip(had, counters, strict=True)]


def _first(counters: Sequence[int], work: Sequence[int], part: float, step: int) -> list[int]:
    seen: Counter[int] = Counter()
    found = [0] * len(counters)
    for n in sorted(range(len(counters)), key=work.__getitem__):
        found[n] = round(seen[counters[n]] * part) * step
        seen[counters[n]] += 1
    return found


def _work(evaluator: ValueContext, op: Operation) -> list[int]:
    """Return the number of iterations that each workgroup executes before an operation, in loops of known length."""
    found = [0] * len(evaluator.programs)
    for loop in op.module.operations[: op.index]:
        if loop.is_loop and loop.loop is None:
            iterations = evaluator.trips(loop)
            if iterations is not None:
                each = [iterations] * len(found) if isinstance(iterations, int) else iterations
                found = [a + b for a, b in zip(found, each, strict=True)]
    return found


def is_queue(module_loop: Operation, evaluator: ValueContext) -> bool:
    """Return whether a loop draws a number from a work queue and carries it to its next iteration."""
    inside = module_loop.module.operations
    draws = [op for op in inside if op.loop == module_loop.index and op.name == "tt.atomic_rmw"]
    return any(_carried_name(evaluator, module_loop, op) is not None for op in draws)


def _carried_name(evaluator: ValueContext, loop: Operation, op: Operation) -> str | None:
    """Return the name under which a loop carries an operation's result to its next iteration, or ``None``."""
    if loop.name != "scf.while":
        return None
    results = set(evaluator.flow.results(op))
    ending = next(
        (o for o in reversed(loop.module.operations) if o.parent == loop.index and o.name == "scf.yield"), None
    )
    if ending is None:
        return None
    names = loop.operands[0::2]
    return next((n for n, v in zip(names, evaluator.flow.inputs(ending), strict=False) if v in results), None)
