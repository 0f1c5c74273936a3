"""Decide whether a worker process can import the file of a kernel without running the user's program."""

import ast
from collections.abc import Iterable
from pathlib import Path

from kprof.errors import InputError
from kprof.inputs import boundary

# Calls that are allowed at import time, because they take no time and have no side effects.
_HARMLESS = frozenset({
    "Config", "constexpr", "jit", "heuristics", "prune_configs", "perf_model", "cdiv", "next_power_of_2",
    "range", "list", "tuple", "dict", "set", "frozenset", "product", "zip", "enumerate", "sorted", "len", "min", "max",
    "int", "float", "str", "bool", "getattr", "hasattr", "getenv", "get", "Path", "getLogger",
    "device", "is_available", "get_device_properties", "get_active_torch_device", "get_current_target",
    "get_current_device", "namedtuple", "TypeVar", "join", "split", "upper", "lower",
})  # fmt: skip
_DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass)


def runs_on_import(path: Path) -> str | None:
    """Return the place of the first statement that does more than define something, such as ``line 12``, or ``None``.

    Code under ``if __name__ == "__main__":`` is ignored.
    """
    try:
        tree = ast.parse(boundary.read_text(path))
    except (InputError, ValueError, SyntaxError, RecursionError):
        return "it cannot be read"
    found = _first(tree.body)
    return None if found is None else f"line {found}"


def _first(body: Iterable[ast.stmt]) -> int | None:
    for node in body:
        if isinstance(node, ast.If) and "__name__" in ast.dump(node.test):
            continue
        inner: list[ast.stmt] = []
        if isinstance(node, ast.If) and _is_harmless(node.test):
            inner = [*node.body, *node.orelse]
        elif isinstance(node, ast.Try):
            handlers = (statement for handler in node.handlers for statement in handler.body)
            inner = [*node.body, *handlers, *node.orelse, *node.finalbody]
        elif not _defines(node):
            return node.lineno
        within = _first(inner)
        if within is not None:
            return within
    return None


def _defines(node: ast.stmt) -> bool:
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    assigned = isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and _is_harmless(node)
    return text or assigned or isinstance(node, _DEFINES)


def _is_harmless(node: ast.AST) -> bool:
    """Whether an expression calls only functions in ``_HARMLESS``."""
    return all(_called(call) in _HARMLESS for call in ast.walk(node) if isinstance(call, ast.Call))


def _called(call: ast.Call) -> str:
    """Return the last part of a called function's name."""
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", ""))
