"""Where a value of a TTGIR module comes from and where it goes, through loops."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from kprof.inputs.mlir import Module, Operation

_CARRIED = re.compile(r"(%[\w$.-]+)\s*=\s*(%[\w$.-]+(?:#\d+)?)")
_ARGUMENT = re.compile(r"(%[\w$.-]+): ")

Stop = Callable[[Operation], bool]


class Dataflow:
    """Producers and users of the values of a module.

    A value that a loop carries has two producers: its initial value and what the loop yields for it.
    """

    def __init__(self, module: Module) -> None:
        """Read the loops' carried values; everything else is looked up when asked for."""
        self.module = module
        self._definitions = module.definitions
        self._initial: dict[str, str] = {}
        self._yielded: dict[str, str] = {}
        self._passed: dict[str, list[str]] = {}
        yields = {op.parent: op for op in module.named("scf.yield") if op.parent is not None}
        for loop in module.named("scf.for"):
            carried = _CARRIED.findall(loop.text.partition("iter_args(")[2].partition(") ->")[0])
            last = yields.get(loop.index)
            values = last.operands if last is not None else ()
            for position, (name, initial) in enumerate(carried):
                self._initial[name] = initial
                self._passed.setdefault(initial, []).append(name)
                if position < len(values):
                    self._yielded[name] = values[position]
                    self._passed.setdefault(values[position], []).append(name)
                    if position < len(loop.results):
                        self._yielded[loop.results[position]] = values[position]
                        self._passed[values[position]].append(loop.results[position])
        self._users: dict[str, list[Operation]] = {}
        for op in module.operations:
            if op.name not in {"scf.for", "scf.yield"}:
                for operand in op.operands:
                    self._users.setdefault(operand, []).append(op)

    def producer(self, name: str) -> Operation | None:
        """The operation that makes a value; ``None`` for arguments and carried values."""
        op = self._definitions.get(name)
        return None if op is None or op.name == "scf.for" else op

    def initial(self, name: str) -> str | None:
        """What a loop's carried value begins with."""
        return self._initial.get(name)

    def yielded(self, name: str) -> str | None:
        """What an iteration gives to the next one, or the loop's result, for a carried value."""
        return self._yielded.get(name)

    def back(self, name: str, stop: Stop | None = None, *, carried: bool = True) -> Iterator[Operation]:
        """Every operation that a value depends on, nearest first; ``stop`` tells which ones end the search.

        Args:
            name: the value.
            stop: operations beyond which nothing is followed; they are given themselves.
            carried: also follow what earlier iterations of a loop made.
        """
        pending, seen = [name], {name}
        for value in pending:
            op = self.producer(value)
            sources: list[str] = []
            if op is not None:
                yield op
                sources = [] if stop is not None and stop(op) else list(op.operands)
            else:
                initial, before = self._initial.get(value), self._yielded.get(value)
                sources = [v for v in (initial, before if carried else None) if v is not None]
            for source in sources:
                if source not in seen:
                    seen.add(source)
                    pending.append(source)

    def forward(self, name: str, stop: Stop | None = None) -> Iterator[Operation]:
        """Every operation that depends on a value, nearest first, through carried values too."""
        pending, seen = [name], {name}
        for value in pending:
            following = list(self._passed.get(value, ()))
            for op in self._users.get(value, ()):
                yield op
                if stop is None or not stop(op):
                    following += op.results
            for result in following:
                if result not in seen:
                    seen.add(result)
                    pending.append(result)


@lru_cache(maxsize=4)
def flow_of(module: Module) -> Dataflow:
    """The data flow of a module; rules that look at the same module share it."""
    return Dataflow(module)


def arguments(module: Module) -> tuple[str, ...]:
    """Names of the kernel's run-time arguments, without the percent sign."""
    function = next(iter(module.functions), None)
    return () if function is None else tuple(name[1:] for name in _ARGUMENT.findall(function.text))


GLOBAL_LOADS = ("tt.load", "amdg.buffer_load", "amdg.buffer_load_to_local", "ttg.async_copy_global_to_local")


def global_loads(module: Module) -> Iterator[Operation]:
    """Loads of tensors from global memory, to registers or straight to LDS."""
    yield from module.named(*GLOBAL_LOADS)


def is_load(op: Operation) -> bool:
    """A load from global memory."""
    return op.name in GLOBAL_LOADS
