"""The call site of a launch: evaluate its expressions again with other compile-time values.

``kernel[grid](x, out, BLOCK=BLOCK)`` may follow ``grid = (cdiv(n, BLOCK),)`` and ``out = empty(cdiv(n, BLOCK))``. Only
expressions that the launch uses and that depend on the changed values are evaluated again, in the frame of the call.
This module imports only the standard library.
"""

import ast
import linecache
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any


class CannotFollowError(Exception):
    """The launch cannot be evaluated again; the message is the reason."""


@dataclass(frozen=True)
class LaunchArguments:
    """Grid and arguments of a launch.

    Attributes:
        grid: the grid as passed to Triton.
        args, kwargs: positional and keyword arguments of the kernel.
        follows: names of the changed compile-time arguments on which the grid depends.
    """

    grid: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    follows: frozenset[str] = frozenset()


class CallSite:
    """The expression ``kernel[grid](...)`` of a launch, in a suspended frame of the program.

    Args:
        frame: the frame of the program that makes the launch.
        names: names of the kernel's arguments in order.
    """

    def __init__(self, frame: FrameType, names: list[str]) -> None:
        self._names = names
        self._globals, self._locals = frame.f_globals, dict(frame.f_locals)
        self._call, self._assigned = _find(frame)

    def again(self, launch: LaunchArguments, change: Mapping[str, Any]) -> LaunchArguments:
        """Return the launch with other compile-time values.

        Args:
            launch: the launch as the program makes it.
            change: new values by compile-time argument; the returned arguments contain them, too.

        Raises:
            CannotFollowError: if an expression that depends on the changed values cannot be evaluated.
        """
        args, kwargs = list(launch.args), dict(launch.kwargs)
        grid, follows = launch.grid, set[str]()
        call = self._call
        if call is not None:
            for name, value in change.items():
                # Change one argument at a time, to find out which arguments the grid depends on.
                if self._scope(call, {name: value}).depends(_grid(call)):
                    follows.add(name)
            scope = self._scope(call, change)
            if follows:
                grid = scope.value(_grid(call))
            for place, node in enumerate(call.args):
                if not isinstance(node, ast.Starred) and place < len(args) and scope.depends(node):
                    args[place] = scope.value(node)
            for keyword in call.keywords:
                if keyword.arg is not None and keyword.arg in kwargs and scope.depends(keyword.value):
                    kwargs[keyword.arg] = scope.value(keyword.value)
        for name, value in change.items():
            place = self._names.index(name) if name in self._names else len(args)
            if place < len(args):
                args[place] = value
            else:
                kwargs[name] = value
        return LaunchArguments(grid, tuple(args), kwargs, frozenset(follows))

    def _scope(self, call: ast.Call, change: Mapping[str, Any]) -> "_Scope":
        """Return a scope with the program's variables that hold the changed arguments, set to the new values."""
        found: dict[str, Any] = {}
        keys: dict[str, set[Any]] = {}
        for name, value in change.items():
            for node in self._argument_node(call, name):
                if isinstance(node, ast.Name):
                    found[node.id] = value
                elif (entry := _entry(node)) is not None:
                    self._set(found, keys, entry, value)
            for keyword in call.keywords:
                if keyword.arg is None and isinstance(keyword.value, ast.Name):
                    self._set(found, keys, (keyword.value.id, name), value)
        return _Scope(self, found, keys)

    def _set(self, found: dict[str, Any], keys: dict[str, set[Any]], entry: tuple[str, Any], value: Any) -> None:
        variable, key = entry
        known = found.get(variable, self.variable(variable))
        if isinstance(known, dict) and key in known:
            found[variable] = {**known, key: value}
            keys.setdefault(variable, set()).add(key)

    def _argument_node(self, call: ast.Call, name: str) -> Iterator[ast.AST]:
        place = self._names.index(name) if name in self._names else None
        if place is not None and place < len(call.args):
            yield call.args[place]
        yield from (keyword.value for keyword in call.keywords if keyword.arg == name)

    def variable(self, name: str) -> Any:
        """Return the present value of a variable."""
        return self._locals.get(name, self._globals.get(name))

    def assigned(self, name: str) -> list[ast.expr | None]:
        """Return the expressions assigned to a variable in the function.

        ``None`` stands for an assignment in another form than ``name = expression``, such as ``+=`` or a loop.
        """
        return self._assigned.get(name, [])

    def evaluate(self, node: ast.expr, changed: Mapping[str, Any]) -> Any:
        """Evaluate an expression in the frame, with some variables changed.

        Raises:
            CannotFollowError: if the evaluation fails.
        """
        code = compile(ast.Expression(node), "<again>", "eval")
        try:
            # Globals and locals are merged into one mapping, because a lambda looks only into its globals.
            return eval(code, {**self._globals, **self._locals, **changed})  # noqa: S307 - the program's own expression
        except Exception as error:
            text = ast.unparse(node)[:80]
            raise CannotFollowError(f"{text} cannot be evaluated again: {type(error).__name__}: {error}") from error


class _Scope:
    """The program's variables after a change. Variables that depend on a changed one are evaluated on demand."""

    def __init__(self, site: CallSite, changed: Mapping[str, Any], keys: Mapping[str, set[Any]]) -> None:
        self._site, self._keys = site, keys
        self._known = dict(changed)
        self._depends: dict[str, bool] = dict.fromkeys(changed, True)

    def depends(self, node: ast.AST) -> bool:
        """Return whether an expression depends on a change; ``config["BLOCK_M"]`` depends on that entry alone."""
        entry = _entry(node)
        if entry is not None and entry[0] in self._keys:
            return entry[1] in self._keys[entry[0]]
        if isinstance(node, ast.Name):
            return self._is_changed(node.id)
        return any(self.depends(child) for child in ast.iter_child_nodes(node))

    def value(self, node: ast.expr) -> Any:
        """Return an expression's value after the change."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and self._is_changed(part.id) and part.id not in self._known:
                self._known[part.id] = self._made(part.id)
        return self._site.evaluate(node, self._known)

    def _is_changed(self, name: str) -> bool:
        if name not in self._depends:
            # A variable that is assigned from itself must not cause an endless recursion.
            self._depends[name] = False
            self._depends[name] = any(node is not None and self.depends(node) for node in self._site.assigned(name))
        return self._depends[name]

    def _made(self, name: str) -> Any:
        nodes = self._site.assigned(name)
        if len(nodes) != 1 or nodes[0] is None:
            raise CannotFollowError(f"{name} depends on it and is assigned more than once")
        return self.value(nodes[0])


def _grid(call: ast.Call) -> ast.expr:
    assert isinstance(call.func, ast.Subscript)
    return call.func.slice


def _entry(node: ast.AST) -> tuple[str, Any] | None:
    """Return variable and key of ``config["BLOCK_M"]``; ``None`` for other expressions."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant):
        return node.value.id, node.slice.value
    return None


def _find(frame: FrameType) -> tuple[ast.Call | None, dict[str, list[ast.expr | None]]]:
    """Return the call ``kernel[grid](...)`` that a frame is executing, and the assignments in its function."""
    code, line = frame.f_code, frame.f_lineno
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename, frame.f_globals)))
    except (SyntaxError, ValueError, RecursionError):
        return None, {}
    body: ast.AST = tree
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == code.co_firstlineno:
                body = node
    calls = [
        node
        for node in ast.walk(body)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Subscript)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return (calls[0] if len(calls) == 1 else None), _assignments(body)


def _assignments(body: ast.AST) -> dict[str, list[ast.expr | None]]:
    found: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(body):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
                else:
                    _unclear(target, found)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            found.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.AugAssign | ast.For | ast.NamedExpr):
            _unclear(node.target, found)
    return found


def _unclear(target: ast.AST, found: dict[str, list[ast.expr | None]]) -> None:
    for part in ast.walk(target):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.setdefault(part.id, []).append(None)
