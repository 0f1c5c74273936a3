"""Follow the data flow of a TTGIR module: find the producers of each value, through loops and through LDS."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from kprof.inputs.mlir import Module, Operation
from kprof.inputs.mlir.measures import copies_to_lds, is_view, makes_buffer, writes_lds

_CARRIED = re.compile(r"(%[\w$.-]+)\s*=\s*(%[\w$.-]+(?:#\d+)?)")
_ARGUMENT = re.compile(r"(%[\w$.-]+): ")
_TARGET = re.compile(r"\^[\w$.-]+")
_POINTER = re.compile(r"(%[\w$.-]+): !tt\.ptr\b")

Stop = Callable[[Operation], bool]


class Incoming(NamedTuple):
    """A value that a branch passes to a block's argument.

    Attributes:
        branch: the ``cf.br`` or ``cf.cond_br``.
        target: index of the branch's target: 0 for an unconditional branch or a true condition, 1 for a false
            condition.
        value: the passed value.
    """

    branch: Operation
    target: int
    value: str


class Dataflow:
    """The producers of all values of a module.

    MLIR may reuse a name after the region that defined it has ended. Values are therefore identified by unique names,
    which :meth:`inputs` returns for an operation's operands. A loop-carried value comes from two values: its initial
    value, and the value that the loop yields for the next iteration. An argument of a block has a value from each
    branch to the block.

    Attributes:
        module: the module.
        branches: its branches to blocks; empty if no block has arguments.
    """

    def __init__(self, module: Module) -> None:
        """Resolve all names of a module, in one pass."""
        self.module = module
        self._inputs: list[tuple[str, ...]] = [()] * len(module.operations)
        self._results: list[tuple[str, ...]] = [()] * len(module.operations)
        self._producers: dict[str, Operation] = {}
        self._initial: dict[str, str] = {}
        self._yielded: dict[str, str] = {}
        self._carried: dict[int, list[str]] = {}
        self._written: dict[str, list[Operation]] = {}
        self._visible: list[tuple[int | None, dict[str, str]]] = [(None, {})]
        self._incoming: dict[str, list[Incoming]] = {}
        self._arguments: dict[tuple[int | None, str], tuple[str, ...]] = {}
        self.branches = [op for op in module.operations if op.name in BRANCHES] if module.block_arguments else []
        self._targets = {(op.parent, label) for op in self.branches for label in branch_targets(op)}
        for op in module.operations:
            self._add_operation(op)
        for op in self.branches:
            self._add_branch(op)
        for op in module.operations:
            if (writes_lds(op) or copies_to_lds(op)) and not makes_buffer(op):
                self._note_write(op)

    def _add_operation(self, op: Operation) -> None:
        self._enter_region(op)
        self._enter_block(op)
        self._inputs[op.index] = inputs = tuple(self._resolve(name) for name in op.operands)
        if op.name == "scf.yield":
            self._end_region(op, inputs)
            return
        self._results[op.index] = results = tuple(self._define(name, op.index) for name in op.results)
        for value in results:
            self._producers[value] = op
        if op.name == "scf.for":
            self._visible.append((op.index, {}))
            carried = _CARRIED.findall(op.text.partition("iter_args(")[2].partition(") ->")[0])
            self._carried[op.index] = []
            for name, initial in carried:
                start = self._resolve(initial)
                value = self._define(name, op.index)
                self._carried[op.index].append(value)
                self._initial[value] = start

    def _enter_region(self, op: Operation) -> None:
        """Leave the regions that do not contain an operation, and enter the region that does."""
        around = op.parent
        while around is not None and all(place != around for place, _ in self._visible):
            around = self.module.operations[around].parent
        while self._visible[-1][0] != around:
            self._visible.pop()
        if around != op.parent:
            self._visible.append((op.parent, {}))

    def _enter_block(self, op: Operation) -> None:
        """Define the arguments of a block at its first operation."""
        place = op.parent, op.block
        if place in self._targets and place not in self._arguments:
            names = self.module.block_arguments.get(place, ())
            self._arguments[place] = tuple(self._define(name, op.index) for name in names)

    def _add_branch(self, op: Operation) -> None:
        """Record the values that a branch passes to the arguments of its targets."""
        passed = self._inputs[op.index][op.name == "cf.cond_br" :]
        for number, label in enumerate(branch_targets(op)):
            arguments = self._arguments.get((op.parent, label), ())
            for target, value in zip(arguments, passed, strict=False):
                self._incoming.setdefault(target, []).append(Incoming(op, number, value))
            passed = passed[len(arguments) :]

    def _end_region(self, op: Operation, values: tuple[str, ...]) -> None:
        """Make the values that a region yields the values of its next iteration, and of the enclosing operation."""
        if op.parent is None:
            return
        around = self.module.operations[op.parent]
        if around.name == "scf.execute_region":
            # A region that runs exactly once: the operation's results are the values that it yields.
            self._visible[-2][1].update(zip(around.results, values, strict=False))
            return
        if around.name == "scf.for":
            for targets in (self._carried[op.parent], self._results[op.parent]):
                self._yielded.update(zip(targets, values, strict=False))
        else:
            # A result of an scf.if depends on the values that both branches yield.
            self._inputs[op.parent] += values

    def _resolve(self, name: str) -> str:
        for _, names in reversed(self._visible):
            if name in names:
                return names[name]
        return name

    def _define(self, name: str, index: int) -> str:
        names = self._visible[-1][1]
        value = f"{name}@{index}"
        names[name] = value
        return value

    def _note_write(self, op: Operation) -> None:
        """Record the allocation that an operation writes to."""
        for value in self._inputs[op.index]:
            for source in self.back(value, stop=lambda o: not is_view(o)):
                if source.name == "ttg.local_alloc" and not source.operands:
                    self._written.setdefault(self._results[source.index][0], []).append(op)

    def inputs(self, op: Operation) -> tuple[str, ...]:
        """Return the input values of an operation, in the order of its operands."""
        return self._inputs[op.index]

    def input(self, op: Operation, number: int) -> str:
        """Return one input value of an operation; "", which has no producer, if the operation's text lacks it."""
        values = self._inputs[op.index]
        return values[number] if number < len(values) else ""

    def results(self, op: Operation) -> tuple[str, ...]:
        """Return the values that an operation produces."""
        return self._results[op.index]

    def producer(self, value: str) -> Operation | None:
        """Return the operation that computes a value; ``None`` for arguments and for values of ``scf.for`` loops."""
        op = self._producers.get(value)
        return None if op is None or op.name == "scf.for" else op

    def initial(self, value: str) -> str | None:
        """Return the initial value of a loop-carried value."""
        return self._initial.get(value)

    def following(self, value: str) -> str | None:
        """Return the value that a loop-carried value has in the next iteration."""
        return self._yielded.get(value)

    def incoming(self, value: str) -> Sequence[Incoming]:
        """Return the values that branches pass to a block's argument; empty for other values."""
        return self._incoming.get(value, ())

    def carried(self, loop: Operation) -> dict[str, str]:
        """Map each loop-carried value of a ``scf.for`` to its value in the next iteration."""
        return {v: self._yielded[v] for v in self._carried.get(loop.index, ()) if v in self._yielded}

    def writers(self, allocation: Operation) -> list[Operation]:
        """Return the operations that write to an LDS buffer, given the allocation that creates it uninitialised."""
        results = self._results[allocation.index]
        return self._written.get(results[0], []) if results else []

    def back(
        self, value: str, stop: Stop | None = None, *, carried: bool = True, memory: bool = False
    ) -> Iterator[Operation]:
        """Yield every operation that a value depends on, nearest first.

        Args:
            value: a value as returned by :meth:`inputs`.
            stop: function that returns whether an operation ends the search. Such an operation is yielded, but its
                inputs are not followed.
            carried: whether to also follow values from earlier iterations of a loop.
            memory: whether to also follow values through LDS, from an allocation to the operations that write to its
                buffer.
        """
        pending, seen = [value], {value}
        for current in pending:
            op = self.producer(current)
            if op is None:
                sources = self._carried_sources(current, carried=carried)
            else:
                yield op
                sources = [] if stop is not None and stop(op) else list(self._inputs[op.index])
                if memory and op.name == "ttg.local_alloc" and not op.operands:
                    for writer in self._written.get(current, ()):
                        yield writer
                        sources += self._inputs[writer.index]
            for source in sources:
                if source not in seen:
                    seen.add(source)
                    pending.append(source)

    def roots(self, value: str, ends: Collection[str] = ()) -> set[str]:
        """Return the arguments that a value depends on. Operations named in ``ends`` are not followed."""
        found, pending, seen = set(), [value], {value}
        for current in pending:
            op = self.producer(current)
            if op is None:
                sources = self._carried_sources(current)
                found |= set() if sources else {current}
            else:
                sources = [] if op.name in ends else list(self._inputs[op.index])
            pending += [source for source in dict.fromkeys(sources) if source not in seen]
            seen.update(sources)
        return found

    def _carried_sources(self, value: str, *, carried: bool = True) -> list[str]:
        """Return the possible sources of a loop-carried value or of a block's argument.

        For a loop, these are the initial value and, if ``carried``, the yielded value; for a block, the values that
        branches pass.
        """
        if value in self._incoming:
            return [one.value for one in self._incoming[value]]
        sources = (self._initial.get(value), self._yielded.get(value) if carried else None)
        return [source for source in sources if source is not None]


@lru_cache(maxsize=4)
def flow_of(module: Module) -> Dataflow:
    """Return the cached data flow of a module, which all rules share."""
    return Dataflow(module)


BRANCHES = ("cf.br", "cf.cond_br")


def branch_targets(branch: Operation) -> list[str]:
    """Return the labels of a branch's targets; of a conditional one, first the target if its condition is true."""
    return _TARGET.findall(branch.text.partition(" loc(")[0])


def argument(value: str) -> str:
    """Return the kernel argument's name for a value: ``%K`` becomes ``K``."""
    return value[1:].partition("@")[0]


def arguments(module: Module) -> tuple[str, ...]:
    """Return the names of the kernel's run-time arguments, without the percent sign."""
    function = next(iter(module.functions), None)
    return () if function is None else tuple(name[1:] for name in _ARGUMENT.findall(function.text))


def pointer_arguments(module: Module) -> tuple[str, ...]:
    """Return the names of the run-time arguments that are pointers."""
    return tuple(name[1:] for function in module.functions[:1] for name in _POINTER.findall(function.text))


GLOBAL_LOADS = ("tt.load", "amdg.buffer_load", "amdg.buffer_load_to_local", "ttg.async_copy_global_to_local")
GLOBAL_STORES = ("tt.store", "amdg.buffer_store")


def global_loads(module: Module) -> Iterator[Operation]:
    """Yield the loads of tensors from global memory, to registers or directly to LDS."""
    yield from module.named(*GLOBAL_LOADS)


def is_load(op: Operation) -> bool:
    """Return whether an operation loads from global memory."""
    return op.name in GLOBAL_LOADS
