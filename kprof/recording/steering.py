"""Find the tensors that steer a Triton kernel's control flow, by its source. Imports only the standard library.

A tensor steers the control flow if a loop bound, a comparison in a branch that leaves the kernel or contains a loop, or
the selection of a whole tile depends on a value loaded from it. Examples are sequence lengths, offsets, expert ids and
block tables. Blocks of values (loaded through ``tl.arange``) do not count. Values that select a row, or that are
compared with one number, do not count either, because they may be tokens.
"""

import ast
from dataclasses import dataclass, field
from typing import Any

from kprof.recording import describe

_ATTRIBUTE = "kprof_steering"
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
# A branch affects the amount of work if it contains one of these statements.
_COURSE = (ast.Return, ast.For, ast.While)
_MEMORY = frozenset({"load", "store"})
_MAX_DEPTH = 6
_WHOLE_TILES = frozenset({"make_block_ptr", "make_tensor_descriptor"})


@dataclass(frozen=True)
class Steering:
    """The arguments that steer a function's control flow.

    Attributes:
        loaded: arguments from which a steering value is loaded.
        passed: arguments whose own value steers the control flow.
        planes: arguments whose value selects tiles of two axes.
        given: arguments from which the function's result is loaded.
        through: arguments from which the function's result is computed without a load.
    """

    loaded: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    planes: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()
    through: frozenset[str] = frozenset()


def steering_arguments(function: Any) -> frozenset[str]:
    """Return the names of the pointer arguments from which the kernel loads values that steer its control flow.

    The module's docstring defines them. Called functions are examined, too.
    """
    return steering(function).loaded


def steering(function: Any, depth: int = 0) -> Steering:
    """Return the arguments that steer a ``@triton.jit`` function; empty if its source cannot be read."""
    known = function.__dict__.get(_ATTRIBUTE)
    if known is None:
        # A preliminary entry ends the recursion of a function that calls itself.
        function.__dict__[_ATTRIBUTE] = Steering()
        try:
            tree = function.parse().body[0]
            parameters = tuple(parameter.name for parameter in function.params)
            known = _Reader(tree, parameters, getattr(function.fn, "__globals__", {}), depth).read()
        except (AttributeError, IndexError, SyntaxError, AssertionError, OSError):
            known = Steering()
        function.__dict__[_ATTRIBUTE] = known
    found: Steering = known
    return found


@dataclass
class _Sources:
    """The sources of a value.

    Attributes:
        arguments: arguments from which the value is computed without a load.
        loaded: arguments from which the value, or a part of it, was loaded.
        block: True if it is a block of values.
        plane: True if it has two axes.
    """

    arguments: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    block: bool = False
    plane: bool = False

    def add(self, other: "_Sources") -> None:
        self.arguments |= other.arguments
        self.loaded |= other.loaded
        self.block |= other.block
        self.plane |= other.plane


class _Reader:
    """Finds the steering arguments of one function."""

    def __init__(self, tree: ast.AST, parameters: tuple[str, ...], names: dict[str, Any], depth: int) -> None:
        self.tree, self.parameters, self.globals, self.depth = tree, parameters, names, depth
        self.names = {name: _Sources({name}) for name in parameters}
        self.loaded: set[str] = set()
        self.passed: set[str] = set()
        self.planes: set[str] = set()
        self.result = _Sources()

    def read(self) -> Steering:
        # A value that is assigned late in a loop may be used earlier in its next iteration, so two passes are needed.
        for _ in range(2):
            for node in ast.walk(self.tree):
                self._assigned(node)
        for node in ast.walk(self.tree):
            self._used(node)
        mine = frozenset(self.parameters)
        found = (self.loaded, self.passed, self.planes, self.result.loaded, self.result.arguments)
        return Steering(*(mine & names for names in found))

    def _assigned(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            made = self.sources(node.value)
            for name in (n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)):
                self.names.setdefault(name, _Sources()).add(made)
        if isinstance(node, ast.For | ast.While):
            # For example, a binary search sets its bounds in branches that compare a loaded value.
            for branch in (n for n in ast.walk(node) if isinstance(n, ast.If)):
                test = self.sources(branch.test)
                for name in _assigned_names(branch):
                    self.names.setdefault(name, _Sources()).add(_Sources(test.arguments, test.loaded))

    def _used(self, node: ast.AST) -> None:
        match node:
            case ast.For():
                self._decides(self.sources(node.iter))
            case ast.While():
                self._decides(self.sources(node.test))
            case ast.If() if any(isinstance(part, _COURSE) for part in ast.walk(node)):
                for test in ast.walk(node.test):
                    if isinstance(test, ast.Compare) and isinstance(test.ops[0], _ORDER):
                        self._decides(self.sources(test))
            case ast.Return() if node.value is not None:
                self.result.add(self.sources(node.value))
            case ast.Call():
                self._called(node)
            case _:
                pass

    def _called(self, call: ast.Call) -> None:
        name = _callee(call)
        if name in _MEMORY and isinstance(call.func, ast.Attribute):
            where = self.sources(call.args[0]) if call.args else self.sources(call.func.value)
            if where.plane or _is_tuple(call):
                self.planes |= where.arguments
                self.loaded |= where.loaded
        elif name in _WHOLE_TILES:
            for value in (*call.args, *(keyword.value for keyword in call.keywords)):
                self.loaded |= self.sources(value).loaded
        for parameter, value in self._passed_to(call):
            inner, made = self._inner(call), self.sources(value)
            if parameter in inner.passed or (parameter in inner.planes and not made.block):
                self._decides(made)
            if parameter in inner.loaded:
                self.loaded |= made.arguments

    def _decides(self, made: _Sources) -> None:
        self.loaded |= made.loaded
        self.passed |= made.arguments

    def sources(self, node: ast.AST) -> _Sources:
        """Return the sources of an expression."""
        if isinstance(node, ast.Name):
            found = _Sources()
            if node.id in self.names:
                found.add(self.names[node.id])
            return found
        if isinstance(node, ast.Call):
            return self._of_call(node)
        found = _Sources()
        for child in ast.iter_child_nodes(node):
            found.add(self.sources(child))
        if isinstance(node, ast.Subscript) and any(_is_new_axis(n) for n in ast.walk(node.slice)):
            found.plane = True
        return found

    def _of_call(self, call: ast.Call) -> _Sources:
        name = _callee(call)
        if name == "load" and isinstance(call.func, ast.Attribute):
            where = self.sources(call.args[0] if call.args else call.func.value)
            if where.block or _is_tuple(call):
                return _Sources(block=True, plane=where.plane)
            # If the address itself was loaded, the value depends on the addressed tensor and the tensor of addresses.
            return _Sources(loaded=where.arguments | where.loaded)
        inner = self._inner(call)
        if inner is not _NOTHING:
            found = _Sources()
            for parameter, value in self._passed_to(call):
                made = self.sources(value)
                found.block |= made.block
                found.loaded |= made.loaded if parameter in inner.through else set()
                found.loaded |= made.arguments if parameter in inner.given else set()
                found.arguments |= made.arguments if parameter in inner.through else set()
            return found
        found = _Sources(block=name == "arange")
        for value in (*call.args, *(keyword.value for keyword in call.keywords)):
            found.add(self.sources(value))
        if isinstance(call.func, ast.Attribute):
            found.add(self.sources(call.func.value))
        return found

    def _inner(self, call: ast.Call) -> Steering:
        function = self._function(call.func) if self.depth < _MAX_DEPTH else None
        return _NOTHING if function is None else steering(function, self.depth + 1)

    def _function(self, node: ast.AST) -> Any:
        return called_function(node, self.globals)

    def _passed_to(self, call: ast.Call) -> list[tuple[str, ast.expr]]:
        return passed_to(self._function(call.func), call)


def called_function(node: ast.AST, names: dict[str, Any]) -> Any:
    """Return the program's ``@triton.jit`` function that an expression names; ``None`` for Triton's own.

    Args:
        node: the called expression.
        names: globals of the calling function.
    """
    found: Any = None
    if isinstance(node, ast.Name):
        found = names.get(node.id)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        found = getattr(names.get(node.value.id), node.attr, None)
    if not hasattr(found, "parse") or not hasattr(found, "params"):
        return None
    return None if str(getattr(found, "__module__", "")).startswith("triton.language") else found


def passed_to(function: Any, call: ast.Call) -> list[tuple[str, ast.expr]]:
    """Return parameters of a called function with their argument expressions; empty if the function is unknown."""
    if function is None:
        return []
    names = [parameter.name for parameter in function.params]
    keywords = [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None]
    return [*zip(names, call.args, strict=False), *keywords]


_NOTHING = Steering()


def _assigned_names(node: ast.AST) -> set[str]:
    """Return the names that are assigned somewhere in a statement."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _is_tuple(call: ast.Call) -> bool:
    """Return whether the first argument of a load or store is a descriptor's tile coordinates, and not a pointer."""
    return bool(call.args) and isinstance(call.args[0], ast.List | ast.Tuple)


def _is_new_axis(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _callee(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def add_values(described: dict[str, Any], function: Any, values: dict[str, Any], most: int) -> None:
    """Add the values of integer tensors with up to ``most`` elements that steer the kernel's control flow."""
    for name in steering_arguments(function):
        held = describe.values_of(values.get(name), most)
        if held is not None and isinstance(described.get(name), dict):
            described[name]["values"] = held
