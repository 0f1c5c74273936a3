"""Evaluate integer arithmetic of a TTGIR module for many workgroups at a time.

A value is a number if it is equal for all workgroups, a list with one number for each workgroup if it is not, and
``None`` if it is unknown. A tensor is represented by its first element; for a tensor of pointers this is the address of
a tile's corner. A value loaded from memory with unknown content is a placeholder number that is different for each
address. Placeholders distinguish tiles, and are marked so that they are never used as a number of iterations.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence

from kprof.analysis import Endless
from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.memory.addressing import address, pointer
from kprof_analyzers.memory.dataflow import flow_of, is_load
from kprof_analyzers.model.arithmetic import AXES, BINARY, COMPARE, SAME
from kprof_analyzers.model.branches import alive, passed
from kprof_analyzers.model.entries import Branch, course
from kprof_analyzers.model.queues import drawn
from kprof_analyzers.model.remembered import NamedValues, Way, named_values, ways_of
from kprof_analyzers.model.values import Value, each_of, induction_variable
from kprof_analyzers.model.whiles import walk

_DEPTH = 180
_PARAMETER = re.compile(r"(%[\w$.-]+): ")
_POINTER = re.compile(r"%([\w$.-]+): !tt\.ptr")
_LOWER_HALF = 1 << 44
# Distance between the placeholders of loaded values, so large that adding offsets does not make two of them equal.
_APART = 1_000_003
_VALUES = "values of "
_EXTENTS = (1 << 20, 1 << 21)


class Evaluator:
    """Evaluator of a module's values for a set of workgroups."""

    def __init__(
        self,
        module: Module,
        arguments: Mapping[str, int | float],
        programs: Sequence[tuple[int, int, int]],
        grid: tuple[int, int, int],
        contents: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        """Set up the known values.

        Args:
            module: the TTGIR.
            arguments: numeric arguments of the launch, by name.
            programs: ``tl.program_id`` of each workgroup on three axes.
            grid: the whole grid.
            contents: integers in the memory of pointer arguments, by name.
        """
        self.module, self.flow, self.programs, self.grid = module, flow_of(module), programs, grid
        given: dict[str, int] = {}
        self._from_data: set[str] = set()
        self._iterations: dict[int, Value | None] = {}
        self._walked: dict[int, tuple[list[int], list[int]]] = {}
        self._passed: dict[int, dict[Branch, tuple[int, int]]] = {}
        self._course: dict[bool, dict[int, dict[str, Value]]] = {False: {}, True: {}}
        self._ended: dict[str, Value | None] = {}
        for name, number in arguments.items():
            if isinstance(number, int):
                given[f"%{name}"] = int(number)
        function = next(iter(module.functions), None)
        names = _POINTER.findall(function.text) if function is not None else []
        self._pointers = [f"%{name}" for name in names]
        self._parameters = set(_PARAMETER.findall(function.text)) if function is not None else set()
        for place, name in enumerate(names):
            given[f"%{name}"] = (place + 1) * _LOWER_HALF
        self._contents = {names.index(name) + 1: held for name, held in (contents or {}).items() if name in names}
        self._given: dict[str, Value | None] = dict(given)
        self._known = NamedValues(given, given)
        self._ways = ways_of(module, tuple(given.items()), tuple(programs), grid)
        self._too_deep = False
        self._variables: dict[int, dict[str, Value]] = {}

    def value(self, name: str, depth: int = 0) -> Value | None:
        """Return the value of a name, which must be one of the unique names that :meth:`Dataflow.inputs` returns."""
        if name in self._known:
            return self._known[name]
        given = None if self._too_deep else self._known.given
        way = None if given is None else self._ways.of(name)
        if way is not None and given is not None and depth + way.height < _DEPTH:
            return self._remembered(name, way, given, depth)
        # Once a chain of operations was too deep to follow, results depend on the order of evaluation and must not be
        # cached.
        self._too_deep = self._too_deep or depth >= _DEPTH
        self._known[name] = None
        found = self._read(name, depth + 1) if depth < _DEPTH else None
        self._known[name] = found
        op = self.flow.producer(name)
        sources = self._sources(name)
        if (op is not None and is_load(op) and not self._is_known(op)) or not self._from_data.isdisjoint(sources):
            self._from_data.add(name)
        return found

    def _sources(self, name: str) -> Sequence[str]:
        """Return the names that a value depends on directly."""
        op = self.flow.producer(name)
        if op is not None:
            return self.flow.inputs(op)
        initial = self.flow.initial(name)
        if initial is not None:
            return (initial,)
        return [source for one in self.flow.incoming(name) for source in (*self.flow.inputs(one.branch), one.value)]

    def _remembered(self, name: str, way: Way, given: Mapping[str, Value | None], depth: int) -> Value | None:
        """Return the value of a name that is computed by arithmetic alone, from the cache if possible."""
        key = way.key(given)
        held = way.held(key)
        if held is None:
            self._known[name] = None
            found = self._read(name, depth + 1)
            way.add(key, found)
        else:
            (found,) = held
            for leaf in way.leaves:
                if leaf not in given and self.flow.initial(leaf) is None:
                    self._known.setdefault(leaf, None)
        self._known[name] = found
        return found

    def certain(self, name: str) -> Value | None:
        """Return the value of a name, or ``None`` if it depends on data loaded from memory."""
        found = self.value(name)
        return None if name in self._from_data else found

    def corner(self, load: Operation, depth: int = 0) -> Value | None:
        """Return the address of the first element of a load or store, in elements."""
        where = address(load)
        offset = self.value(where, depth + 1) if where is not None else None
        if offset is None or not load.name.startswith("amdg.buffer"):
            return offset
        of = pointer(load)
        base = self.value(of, depth + 1) if of is not None else None
        return offset if base is None else each_of(operator.add, base, offset)

    def trips(self, loop: Operation) -> Value | None:
        """Return the iterations of a loop per entry, in the current iteration of the loops around it.

        For a loop in a ``scf.while`` it is each workgroup's mean over all entries, rounded up.
        """
        if loop.index not in self._iterations:
            self._iterations[loop.index] = None
            around = None if loop.loop is None else self.module.operations[loop.loop]
            if around is not None and around.name == "scf.while":
                if self.trips(around) is None and self._iterations[loop.index] is None:
                    # Without the outer loop's variables, the bounds are only known if they do not depend on them.
                    self._known = NamedValues(self._given, self._given)
                    self._iterations[loop.index] = self.trips_here(loop)
            elif loop.name == "scf.while":
                self._walk(loop)
            else:
                self.inside(loop.loop)
                iterations, here = self.trips_here(loop), alive(self, loop)
                self._iterations[loop.index] = (
                    iterations if iterations is None or here is None else each_of(operator.mul, iterations, here)
                )
        return self._iterations[loop.index]

    def walked(self, loop: Operation) -> tuple[list[int], list[int]] | None:
        """Return each workgroup's total entries and iterations of a loop in a ``scf.while``; needs :meth:`trips`."""
        return self._walked.get(loop.index)

    def passed(self, loop: Operation) -> Mapping[Branch, tuple[int, int]]:
        """Return how often each branch in a ``scf.while`` is taken and reached; needs a call of :meth:`trips`."""
        return self._passed.get(loop.index, {})

    def trips_here(self, loop: Operation) -> Value | None:
        """Return the iterations of a ``scf.for`` for the current values of the variables that its bounds depend on."""
        bounds = self.bounds(loop)
        if bounds is None:
            return None
        first, last, step = bounds
        span = each_of(operator.sub, last, first)
        if isinstance(span, list) and isinstance(step, int) and step > 0:
            return [-(-s // step) if s > 0 else 0 for s in span]
        return each_of(lambda s, by: max(0, -(-s // by)) if by else 0, span, step)

    def _walk(self, loop: Operation) -> None:
        self.inside(loop.loop)
        counts = walk(self, loop)
        for index, iterations in counts.iterations.items():
            entries = counts.entries[index]
            if iterations is not None:
                if counts.whole(self.module.operations[index]):
                    self._walked[index] = entries, iterations
                    self._passed[index] = counts.passed.get(index, {})
                self._iterations[index] = [-(-t // max(1, e)) for t, e in zip(iterations, entries, strict=True)]
            else:
                self._iterations.setdefault(index, None)
        self._variables.update(counts.first)
        self._course[False].update(counts.first)
        self._course[True].update(counts.final)
        self._ended.update(counts.last)
        self._known = NamedValues(self._given, self._given)

    def _after(self, loop: Operation, name: str) -> Value | None:
        """Return a result of a ``scf.while``, or ``None`` if it is inside another loop."""
        if loop.loop is not None:
            return None
        before = self._known
        self.trips(loop)
        self._known = before
        return self._ended.get(name)

    def known(self) -> dict[str, Value | None]:
        """Return the values of arguments and of the names that loops set."""
        return {**self._given, **{n: v for names in self._variables.values() for n, v in names.items()}}

    def snapshot(self) -> dict[str, Value | None]:
        """Return a copy of all current values."""
        return named_values(self._known, self.flow)

    def restart(self, known: dict[str, Value | None]) -> None:
        """Replace all current values."""
        self._known = named_values(known, self.flow)

    def enter(self, loop: Operation, *, first: bool = False) -> None:
        """Set a loop's variable to its middle iteration, or to the first one. Outer loops must be entered before."""
        self.inside(loop.loop)
        name, count, bounds = induction_variable(loop), self.trips(loop), self.bounds(loop)
        if name is None or count is None or bounds is None:
            return
        start, _, step = bounds
        value = start if first else each_of(operator.add, start, each_of(lambda n, by: n // 2 * by, count, step))
        self._variables[loop.index] = {name: value}
        self._known.give(name, value)

    def at(self, loop: Operation, *, last: bool) -> None:
        """Set a loop's variable and carried values to its first iteration, or to each workgroup's last iteration."""
        walked = self._course[last].get(loop.index, {})
        self._variables[loop.index] = walked if loop.name == "scf.while" else course(self, loop, last=last)
        self._known = NamedValues(self._given, self._given)

    def inside(self, loop: int | None) -> None:
        """Continue in the body of a loop: drop the values of other loops' variables, which may have the same names."""
        wanted = self._wanted(loop)
        if any(self._known.get(name) is not value for name, value in wanted.items()):
            known = {**self._given, **wanted}
            self._known = NamedValues(known, known)

    def outside(self, loop: int | None) -> dict[str, Value | None]:
        """Return the values known without evaluation: arguments, and variables of a loop and its outer loops."""
        return {**self._given, **self._wanted(loop)}

    def _wanted(self, loop: int | None) -> dict[str, Value]:
        """Return the assigned values of a loop's variables and of those of the loops around it."""
        wanted: dict[str, Value] = {}
        around = loop
        while around is not None:
            for name, value in self._variables.get(around, {}).items():
                wanted.setdefault(name, value)
            around = self.module.operations[around].loop
        return wanted

    def bounds(self, loop: Operation) -> tuple[Value, Value, Value] | None:
        """Return the first value, end and step of a ``scf.for``, or ``None`` if one is unknown."""
        bounds = [self.certain(name) for name in self.flow.inputs(loop)[:3]]
        if loop.name != "scf.for" or len(bounds) < 3:
            return None
        first, last, step = bounds
        return None if first is None or last is None or step is None else (first, last, step)

    def _read(self, name: str, depth: int) -> Value | None:
        op = self.flow.producer(name)
        if op is None:
            initial = self.flow.initial(name)
            if initial is not None:
                return self.value(initial, depth)
            return passed(self, name, depth) if self.flow.incoming(name) else None
        inputs = self.flow.inputs(op)
        if is_load(op):
            where = self.corner(op, depth)
            if where is None:
                return None
            return self._content_of(self._where_run(op, where)) if self._contents else _opaque(where)
        if op.name in BINARY:
            return self._two(BINARY[op.name], inputs, depth)
        if op.name in SAME:
            return self.value(inputs[0], depth) if inputs else None
        if op.name == "arith.constant":
            return _constant(op)
        if op.name == "tt.make_range":
            start = op.attributes.get("start")
            return start if isinstance(start, int) else None
        if op.name == "tt.get_program_id":
            axis = AXES.get(op.text.strip()[:1], 0)
            return [p[axis] for p in self.programs]
        if op.name == "tt.get_num_programs":
            return self.grid[AXES.get(op.text.strip()[:1], 0)]
        if op.name == "arith.cmpi":
            compare = COMPARE.get(op.text.strip().partition(",")[0])
            return self._two(lambda a, b: int(compare(a, b)), inputs, depth) if compare is not None else None
        if op.name == "arith.select":
            return self._choice(*(self.value(v, depth) for v in inputs[:3]))
        if op.name == "scf.if":
            return self._branch(op, name, inputs, depth)
        if op.name == "scf.while":
            return self._after(op, name)
        return drawn(self, op, depth) if op.name == "tt.atomic_rmw" else None

    def _content_of(self, where: Value) -> Value:
        """Return the content of each address, or a unique placeholder if the content is unknown."""
        if isinstance(where, int):
            return self._held_at(where)
        # Fast path: all addresses of most loads are in one argument, and all are within, or all beyond, known content.
        base = min(where) // _LOWER_HALF * _LOWER_HALF
        held, most = self._contents.get(base // _LOWER_HALF, ()), max(where) - base
        if not held and most < _LOWER_HALF:
            return _opaque(where)
        return [held[at - base] for at in where] if most < len(held) else [self._held_at(at) for at in where]

    def _where_run(self, load: Operation, where: Value) -> Value:
        """Return a load's addresses; workgroups that do not reach the load get the address of one that does.

        The own addresses of such workgroups may be outside the argument's known content.
        """
        here = None if isinstance(where, int) else alive(self, load)
        if here is None or isinstance(where, int) or not any(here):
            return where
        first = where[here.index(1)]
        return [at if comes else first for at, comes in zip(where, here, strict=True)]

    def _held_at(self, where: int) -> int:
        argument, element = divmod(where, _LOWER_HALF)
        held = self._contents.get(argument, ())
        return held[element] if element < len(held) else where * _APART

    def _is_known(self, load: Operation) -> bool:
        """Return whether the content of every address of a load is known."""
        where = self.corner(load) if self._contents else None
        if where is None:
            return False
        where = self._where_run(load, where)
        # All elements of a tile belong to the same argument.
        listed = [where] if isinstance(where, int) else where
        argument, element = divmod(max(listed), _LOWER_HALF)
        return min(listed) >= argument * _LOWER_HALF and element < len(self._contents.get(argument, ()))

    def missing(self, loop: Operation) -> tuple[str, ...]:
        """Return the unknown arguments that a loop's bounds depend on, such as ``n`` or ``values of lengths``."""
        found: dict[str, None] = {}
        seen: set[str] = set()
        left = list(self.flow.inputs(loop)[: 3 if loop.name == "scf.for" else None])
        while left:
            name = left.pop()
            if name in seen:
                continue
            seen.add(name)
            sources = self._sources(name)
            if sources:
                left += sources
            elif name in self._pointers:
                known = self._pointers.index(name) + 1 in self._contents
                found |= {} if known else {f"{_VALUES}{name.removeprefix('%')}": None}
            elif name in self._parameters and name not in self._given:
                found[name.removeprefix("%")] = None
        return tuple(found)

    def elements_an_iteration(self, loop: Operation) -> float | None:
        """Return the number of elements that one iteration covers on the axis of unknown extent.

        If the axis is longer by this number, the loop has one more iteration. The number is computed by evaluating the
        loop with two extents. ``None`` if nothing is unknown, or if the iterations do not depend on the unknown values.
        """
        names = self.missing(loop)
        iterations = [self._supposing(names, extent).trips(loop) for extent in _EXTENTS] if names else []
        first = [
            iteration if iteration is None or isinstance(iteration, int) else max(iteration) for iteration in iterations
        ]
        if len(first) < 2 or first[0] is None or first[1] is None or first[1] <= first[0]:
            return None
        return (_EXTENTS[1] - _EXTENTS[0]) / (first[1] - first[0])

    def _supposing(self, names: Sequence[str], extent: int) -> "Evaluator":
        """Return an evaluator of the first workgroup that takes ``extent`` as the value of each unknown name."""
        arguments = {name.removeprefix("%"): value for name, value in self._given.items() if isinstance(value, int)}
        arguments |= {name: extent for name in names if not name.startswith(_VALUES)}
        pointers = [name.removeprefix("%") for name in self._pointers]
        contents = {pointers[place - 1]: held for place, held in self._contents.items()}
        # Element n has the value (n + 1) * extent, which is valid for lengths as well as for offsets.
        contents |= {name.removeprefix(_VALUES): Endless(extent, extent) for name in names if name.startswith(_VALUES)}
        return Evaluator(self.module, arguments, self.programs[:1], self.grid, contents)

    def _two(self, function: Callable[[int, int], int], inputs: Sequence[str], depth: int) -> Value | None:
        if len(inputs) < 2:
            return None
        left, right = self.value(inputs[0], depth), self.value(inputs[1], depth)
        if left is None or right is None:
            return None
        return each_of(function, left, right)

    def _branch(self, op: Operation, name: str, inputs: Sequence[str], depth: int) -> Value | None:
        """Return a result of an ``scf.if``. ``inputs`` are its condition and the values that both branches yield."""
        results = self.flow.results(op)
        place = results.index(name)
        if len(inputs) < 1 + 2 * len(results):
            return None
        sides = inputs[1 + place], inputs[1 + len(results) + place]
        return self._choice(self.value(inputs[0], depth), *(self.value(v, depth) for v in sides))

    def _choice(self, condition: Value | None, yes: Value | None = None, no: Value | None = None) -> Value | None:
        if isinstance(condition, int):
            return yes if condition else no
        if condition is None or yes is None or no is None:
            return None
        size = len(condition)
        left = yes if isinstance(yes, list) else [yes] * size
        right = no if isinstance(no, list) else [no] * size
        return [a if c else b for c, a, b in zip(condition, left, right, strict=True)]


def _opaque(where: Value) -> Value:
    return each_of(operator.mul, where, _APART)


def _constant(op: Operation) -> int | None:
    text = op.text.strip().removeprefix("dense<").partition(" ")[0].partition(">")[0]
    if text in {"true", "false"}:
        return int(text == "true")
    return int(text) if text.lstrip("-").isdecimal() else None
