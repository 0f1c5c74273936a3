"""Cache results of arithmetic in a TTGIR module, keyed by the values that they depend on.

Evaluators step through loops by assigning values to loop variables, for example those of the first, second and middle
iteration. Most arithmetic depends on few or none of these variables, so its results can be reused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from kprof.inputs.mlir import Module
from kprof_analyzers.memory.dataflow import Dataflow, flow_of
from kprof_analyzers.model.arithmetic import PURE
from kprof_analyzers.model.values import Value, induction_variable

# Results of longer chains of operations are not cached.
_LONGEST = 100
# Maximum number of cached results per name.
_MOST = 8
_UNSET = -1, "not set"

Answers = Mapping[str, Value | None]


@dataclass(slots=True)
class Way:
    """Cache entry of one name: the names that its value depends on, and cached results.

    Attributes:
        leaves: names that the value depends on and that can be assigned: loop variables and carried values.
        height: number of operations in the longest chain that computes the name's value.
        found: cached results, each with the values of the leaves that it was computed for.
    """

    leaves: tuple[str, ...]
    height: int
    found: list[tuple[list[object], tuple[Value | None]]] = field(default_factory=list)

    def key(self, given: Answers) -> list[object]:
        """Return the current values of the leaves, which are the cache key."""
        return [given.get(leaf, _UNSET) for leaf in self.leaves]

    def held(self, key: list[object]) -> tuple[Value | None] | None:
        """Return the cached result in a tuple, or ``None`` if there is none for these values of the leaves."""
        for before, found in self.found:
            if before == key:
                return found
        return None

    def add(self, key: list[object], value: Value | None) -> None:
        """Add a result to the cache and drop the oldest one if the cache is full."""
        if len(self.found) >= _MOST:
            del self.found[0]
        self.found.append((key, (value,)))


class NamedValues(dict[str, Value | None]):
    """Values of names at one point of the evaluation.

    Attributes:
        given: names whose values were assigned rather than computed; ``None`` if this is unknown.
    """

    __slots__ = ("given",)

    def __init__(self, known: Answers, given: Answers | None) -> None:
        """Store copies of both mappings."""
        super().__init__(known)
        self.given = None if given is None else dict(given)

    def give(self, name: str, value: Value) -> None:
        """Assign a value to a name that has none yet."""
        if name not in self:
            self[name] = value
            if self.given is not None:
                self.given[name] = value


def named_values(names: Answers, flow: Dataflow) -> NamedValues:
    """Return a copy of values by name, which records the names that were assigned rather than computed, if known."""
    if isinstance(names, NamedValues):
        return NamedValues(names, names.given)
    return NamedValues(names, names if all(flow.producer(name) is None for name in names) else None)


class Ways:
    """Dependencies of names that are computed by arithmetic alone, without loads, atomics or ``scf.while`` results.

    Args:
        flow: data flow of the module.
        fixed: names of arguments, whose values never change.
    """

    def __init__(self, flow: Dataflow, fixed: frozenset[str]) -> None:
        self._flow = flow
        self._fixed = fixed - _set_by_loops(flow)
        self._ways: dict[str, Way | None] = {}

    def of(self, name: str, depth: int = 0) -> Way | None:
        """Return the dependencies of a name, or ``None`` if its results are not cached."""
        if name not in self._ways:
            # In malformed text a value may depend on itself. This entry ends the recursion.
            self._ways[name] = None
            if depth < _LONGEST:
                self._ways[name] = self._follow(name, depth)
        return self._ways[name]

    def _follow(self, name: str, depth: int) -> Way | None:
        op = self._flow.producer(name)
        if op is None:
            initial = self._flow.initial(name)
            if self._flow.incoming(name):
                return None
            if initial is None:
                return Way(() if name in self._fixed else (name,), 0)
            before = self.of(initial, depth + 1)
            return None if before is None else Way((name, *(n for n in before.leaves if n != name)), before.height + 1)
        if op.name not in PURE:
            return None
        ways = [self.of(value, depth + 1) for value in self._flow.inputs(op)]
        known = [way for way in ways if way is not None]
        if len(known) < len(ways):
            return None
        read = known[: PURE[op.name]]
        leaves = dict.fromkeys(leaf for way in read for leaf in way.leaves)
        return Way(tuple(leaves), 1 + max((way.height for way in read), default=-1))


def _set_by_loops(flow: Dataflow) -> frozenset[str]:
    """Return the names set by loops: like arguments, they are not results of an operation."""
    loops = [op for op in flow.module.operations if op.is_loop]
    names = {name for op in loops if op.name == "scf.while" for name in op.operands}
    return frozenset(names | {name for op in loops if (name := induction_variable(op)) is not None})


@lru_cache(maxsize=4)
def ways_of(
    module: Module,
    given: tuple[tuple[str, int], ...],
    programs: tuple[tuple[int, int, int], ...],
    grid: tuple[int, int, int],
) -> Ways:
    """Return the cache that all evaluators of the same module, arguments and workgroups share.

    Args:
        module: the TTGIR.
        given: arguments with their values.
        programs: ``tl.program_id`` of the workgroups on three axes.
        grid: the whole grid.
    """
    del programs, grid  # Only needed as part of the cache key.
    return Ways(flow_of(module), frozenset(name for name, _ in given))
