"""Execute ``scf.while`` loops iteration by iteration if they depend only on arguments and program numbers."""

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field

from kprof.inputs.mlir import Operation
from kprof_analyzers.model.branches import alive
from kprof_analyzers.model.entries import Branch, branches_in, taken
from kprof_analyzers.model.values import Value, ValueContext

# Maximum number of executed iterations in total. The iterations of a loop that needs more are unknown.
_MOST_ITERATIONS = 96


@dataclass
class Counts:
    """Entries and iterations of loops, for each workgroup.

    Attributes:
        entries: number of times that each workgroup enters a loop, by loop.
        iterations: total iterations by loop; ``None`` if they depend on data.
        first: values that a loop carries into its first iteration, by loop.
        final: values that a loop carries into each workgroup's last iteration, by loop.
        passed: for each branch directly in a loop (``scf.if`` and region), the number of iterations that take it and
            the number of all iterations, both summed over all workgroups.
        last: results of the executed loop; ``None`` for results that depend on data.
    """

    entries: dict[int, list[int]] = field(default_factory=dict)
    iterations: dict[int, list[int] | None] = field(default_factory=dict)
    first: dict[int, dict[str, Value]] = field(default_factory=dict)
    final: dict[int, dict[str, Value]] = field(default_factory=dict)
    passed: dict[int, dict[Branch, tuple[int, int]]] = field(default_factory=dict)
    last: dict[str, Value | None] = field(default_factory=dict)

    def whole(self, loop: Operation) -> bool:
        """Return whether all iterations of a loop, and of the loops around it, were counted."""
        inner: int | None = loop.index
        while inner is not None and inner in self.iterations:
            if self.iterations[inner] is None:
                return False
            inner = loop.module.operations[inner].loop
        return True


def walk(evaluator: ValueContext, loop: Operation) -> Counts:
    """Count the entries and iterations of a ``scf.while`` and of the loops directly in it.

    Carried values are assumed to have the same names before the loop's condition and in its body, as Triton prints
    them.
    """
    walker = _Walker(evaluator)
    walker.go(loop, alive(evaluator, loop) or [1] * len(evaluator.programs), evaluator.known())
    return walker.counts


class _Walker:
    """Executes one loop with all loops in it."""

    def __init__(self, evaluator: ValueContext) -> None:
        self.evaluator, self.counts, self.left = evaluator, Counts(), _MOST_ITERATIONS
        self.branches: dict[int, dict[Branch, Operation]] = {}

    def go(self, loop: Operation, live: list[int], around: dict[str, Value | None]) -> None:
        """Execute one entry of a loop for the workgroups in ``live``, and count its iterations."""
        evaluator, counts, flow, size = self.evaluator, self.counts, self.evaluator.flow, len(live)
        _add(counts.entries, loop.index, live)
        names, starts = loop.operands[0::2], flow.inputs(loop)[1::2]
        begun = {name: evaluator.value(start) for name, start in zip(names, starts, strict=False)}
        state = {name: evaluator.certain(start) for name, start in zip(names, starts, strict=False)}
        children = [op for op in loop.module.operations if op.parent == loop.index]
        condition = next((op for op in children if op.name == "scf.condition"), None)
        ending = next((op for op in reversed(children) if op.name == "scf.yield"), None)
        if condition is None or ending is None or not condition.operands:
            counts.iterations[loop.index] = None
            return
        counts.iterations.setdefault(loop.index, [0] * size)
        counts.first.setdefault(loop.index, {name: value for name, value in begun.items() if value is not None})
        while any(live):
            evaluator.restart({**around, **state})
            going = evaluator.certain(flow.input(condition, 0))
            self.left -= 1
            if going is None or self.left < 0:
                counts.iterations[loop.index] = None
                return
            live = [int(bool(a) and bool(b)) for a, b in zip(live, _listed(going, size), strict=True)]
            _add(counts.iterations, loop.index, live)
            if any(live):
                self._keep(loop, live, state)
                self._pass(loop, live)
                self._count_inner_loops(loop, live)
                evaluator.restart({**around, **state})
                following = {n: evaluator.certain(v) for n, v in zip(names, flow.inputs(ending), strict=False)}
                state = {name: _chosen(live, following.get(name), state[name], size) for name in state}
        evaluator.restart({**around, **state})
        counts.last = {
            n: evaluator.certain(v) for n, v in zip(flow.results(loop), flow.inputs(condition)[1:], strict=False)
        }

    def _keep(self, loop: Operation, live: list[int], state: Mapping[str, Value | None]) -> None:
        """Record the carried values of an iteration, in case it is the last one of the ``live`` workgroups."""
        had = self.counts.final.get(loop.index, {})
        chosen = {name: _chosen(live, new, had.get(name, new), len(live)) for name, new in state.items()}
        self.counts.final[loop.index] = {name: value for name, value in chosen.items() if value is not None}

    def _pass(self, loop: Operation, live: list[int]) -> None:
        """Count which branches the ``live`` workgroups take in the current iteration of a loop."""
        here = self.evaluator.snapshot()
        if loop.index not in self.branches:
            self.branches[loop.index] = branches_in(loop.module, loop.index)
        branches = self.branches[loop.index]
        passed = self.counts.passed.setdefault(loop.index, {})
        for branch, op in branches.items():
            mine = sum(a and b for a, b in zip(live, taken(self.evaluator, op, loop.index), strict=True))
            took, of = passed.get(branch, (0, 0))
            passed[branch] = took + mine, of + sum(live)
        if branches:
            self.evaluator.restart(here)

    def _count_inner_loops(self, loop: Operation, live: list[int]) -> None:
        """Count the entries and iterations of the inner loops in the current iteration of a loop."""
        evaluator, counts = self.evaluator, self.counts
        here = evaluator.snapshot()
        for inner in [op for op in loop.module.operations if op.is_loop and op.loop == loop.index]:
            evaluator.restart(here)
            mine = [int(a and b) for a, b in zip(live, taken(evaluator, inner, loop.index), strict=True)]
            # The outline contains the inner loop in every outer iteration, so an iteration that skips the loop counts
            # as an entry with 0 iterations.
            if inner.name == "scf.while":
                self.go(inner, mine, here)
                _add(counts.entries, inner.index, [a - b for a, b in zip(live, mine, strict=True)])
                continue
            _add(counts.entries, inner.index, live)
            times = evaluator.trips_here(inner)
            if times is None:
                counts.iterations[inner.index] = None
            else:
                listed = _listed(times, len(live))
                _add(counts.iterations, inner.index, [t if on else 0 for t, on in zip(listed, mine, strict=True)])


def _chosen(live: list[int], new: Value | None, old: Value | None, size: int) -> Value | None:
    if new is None or old is None:
        return new if all(live) else None
    return [a if c else b for c, a, b in zip(live, _listed(new, size), _listed(old, size), strict=True)]


def _listed(value: Value, size: int) -> list[int]:
    return [value] * size if isinstance(value, int) else value


def _add(table: "dict[int, list[int]] | dict[int, list[int] | None]", key: int, more: list[int]) -> None:
    have = table.get(key, [0] * len(more))
    table[key] = None if have is None else list(map(operator.add, have, more))  # type: ignore[assignment]
