"""Results of arithmetic in a module, kept beside what they follow from, so that none is worked out twice.

Evaluators go through loops by giving names other values: the first iteration, the second, the middle one. Most of the
arithmetic follows from few of these names, or from none, and comes out the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from kprof.inputs.mlir import Module
from kprof_analyzers.memory.dataflow import Dataflow, flow_of
from kprof_analyzers.model.arithmetic import PURE
from kprof_analyzers.model.values import Value, induction_variable

# Longer chains of operations are not remembered.
_LONGEST = 100
# Results of one name that are kept.
_MOST = 8
_UNSET = -1, "not set"

Answers = Mapping[str, Value | None]


@dataclass(slots=True)
class Way:
    """How a name's value comes about.

    Attributes:
        leaves: names that it follows from and that may be given values: of loops, and what they carry.
        height: operations of the longest chain up to it.
        found: values of the leaves with what came of them.
    """

    leaves: tuple[str, ...]
    height: int
    found: list[tuple[list[object], tuple[Value | None]]] = field(default_factory=list)

    def key(self, given: Answers) -> list[object]:
        """The leaves' values."""
        return [given.get(leaf, _UNSET) for leaf in self.leaves]

    def held(self, key: list[object]) -> tuple[Value | None] | None:
        """What came of these values of the leaves; ``None`` where that is not known."""
        for before, found in self.found:
            if before == key:
                return found
        return None

    def add(self, key: list[object], value: Value | None) -> None:
        """Remember one more."""
        if len(self.found) >= _MOST:
            del self.found[0]
        self.found.append((key, (value,)))


class NamedValues(dict[str, Value | None]):
    """Names with their values at some point.

    Attributes:
        given: names that were given values and did not get them from others; ``None`` where that cannot be told.
    """

    __slots__ = ("given",)

    def __init__(self, known: Answers, given: Answers | None) -> None:
        """A copy of both."""
        super().__init__(known)
        self.given = None if given is None else dict(given)

    def give(self, name: str, value: Value) -> None:
        """Set a name that has no value yet."""
        if name not in self:
            self[name] = value
            if self.given is not None:
                self.given[name] = value


def named_values(names: Answers, flow: Dataflow) -> NamedValues:
    """A copy of names with values: of another point, or given ones."""
    if isinstance(names, NamedValues):
        return NamedValues(names, names.given)
    return NamedValues(names, names if all(flow.producer(name) is None for name in names) else None)


class Ways:
    """Ways of a module's names that arithmetic alone leads to: no loads, atomics or results of ``scf.while``.

    Args:
        flow: the module's.
        fixed: names of arguments.
    """

    def __init__(self, flow: Dataflow, fixed: frozenset[str]) -> None:
        self._flow = flow
        self._fixed = fixed - _set_by_loops(flow)
        self._ways: dict[str, Way | None] = {}

    def of(self, name: str, depth: int = 0) -> Way | None:
        """A name's way; ``None`` where it is not remembered."""
        if name not in self._ways:
            # In text that makes a value of itself there is none.
            self._ways[name] = None
            if depth < _LONGEST:
                self._ways[name] = self._follow(name, depth)
        return self._ways[name]

    def _follow(self, name: str, depth: int) -> Way | None:
        op = self._flow.producer(name)
        if op is None:
            initial = self._flow.initial(name)
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
    """Names that loops may set although they look like arguments."""
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
    """Ways that all evaluators of the same module, arguments and workgroups share.

    Args:
        module: the TTGIR.
        given: arguments with their values.
        programs: the workgroups' numbers on three axes.
        grid: the whole grid.
    """
    del programs, grid  # The results differ with them.
    return Ways(flow_of(module), frozenset(name for name, _ in given))
