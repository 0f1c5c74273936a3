"""Find the arguments that a Triton kernel may write to, by its source."""

import ast
from collections.abc import Sequence
from typing import Any

from kprof.recording.steering import called_function, passed_to, steering

_WRITES = frozenset(
    {
        "store",
        "atomic_add",
        "atomic_max",
        "atomic_min",
        "atomic_cas",
        "atomic_xchg",
        "atomic_and",
        "atomic_or",
        "atomic_xor",
    }
)
_READS = frozenset(
    {
        "load",
        "make_block_ptr",
        "advance",
        "make_tensor_descriptor",
        "arange",
        "program_id",
        "cdiv",
        "zeros",
        "full",
        "where",
        "dot",
        "multiple_of",
        "max_contiguous",
        "to",
        "cast",
    }
)
_ATTRIBUTE = "kprof_written"
_MAX_DEPTH = 6


def written_arguments(function: Any, depth: int = 0) -> frozenset[str] | None:
    """Return the names of the arguments through which a kernel may write; ``None`` if unknown.

    A name is derived from an argument if it is assigned from an expression with the argument in it. The result of a
    ``@triton.jit`` function is derived from the arguments that it returns, not from those that it only loads from. A
    pointer passed to such a function is written if that function writes it; a pointer passed to another helper always
    counts as written.

    Args:
        function: a ``@triton.jit`` function.
        depth: number of calls between the kernel and the function; from six calls on, called functions count as other
            helpers.
    """
    known = function.__dict__.get(_ATTRIBUTE, False)
    if known is not False:
        return known  # type: ignore[no-any-return]
    # A preliminary entry ends the recursion of a function that calls itself.
    function.__dict__[_ATTRIBUTE] = None
    try:
        tree = function.parse().body[0]
        names = [parameter.name for parameter in function.params]
        found: frozenset[str] | None = _written(tree, names, _globals(function), depth)
    except (AttributeError, IndexError, SyntaxError, AssertionError):
        found = None
    function.__dict__[_ATTRIBUTE] = found
    return found


def _globals(function: Any) -> dict[str, Any]:
    return getattr(getattr(function, "fn", None), "__globals__", {})


def _written(tree: ast.AST, names: list[str], known: dict[str, Any], depth: int) -> frozenset[str]:
    origin: dict[str, set[str]] = {name: {name} for name in names}

    def origins(node: ast.AST) -> set[str]:
        return _origins(node, origin, known, depth)

    # A pointer that is assigned late in a loop may be used earlier in its next iteration, so two passes are needed.
    for _ in range(2):
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                sources = origins(node.value)
                for target in targets:
                    for name in (n.id for n in ast.walk(target) if isinstance(n, ast.Name)):
                        origin.setdefault(name, set()).update(sources)
    found: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        callee = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if callee in _WRITES and isinstance(node.func, ast.Attribute):
            # The pointer is the first argument of a function, or the object of a descriptor's method.
            found |= origins(node.args[0] if node.args else node) | origins(node.func.value)
        elif callee not in _READS and not _is_language(node.func):
            for argument in _writable_arguments(node, known, depth):
                found |= origins(argument)
    return frozenset(found)


def _writable_arguments(call: ast.Call, known: dict[str, Any], depth: int) -> list[ast.expr]:
    """Return the arguments of a call through which the function may write; all arguments if that is unknown."""
    everything = [*call.args, *(keyword.value for keyword in call.keywords)]
    function = called_function(call.func, known)
    if function is None or depth == _MAX_DEPTH or any(isinstance(value, ast.Starred) for value in call.args):
        return everything
    inner = written_arguments(function, depth + 1)
    given = passed_to(function, call)
    if inner is None or len(given) < len(everything):
        return everything
    return [value for parameter, value in given if parameter in inner]


def _origins(node: ast.AST, origin: dict[str, set[str]], known: dict[str, Any], depth: int) -> set[str]:
    """Return the arguments to whose memory the value of an expression may point; loaded values are not pointers."""
    parts: Sequence[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call):
        callee = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if callee == "load":
            return set()
        returned = _returned(node, known, depth)
        parts = parts if returned is None else returned
    found = set(origin.get(node.id, ())) if isinstance(node, ast.Name) else set()
    for part in parts:
        found |= _origins(part, origin, known, depth)
    return found


def _returned(call: ast.Call, known: dict[str, Any], depth: int) -> list[ast.expr] | None:
    """Return the arguments of a call from which a ``@triton.jit`` function computes its result; ``None`` if unknown."""
    function = called_function(call.func, known)
    if function is None or depth == _MAX_DEPTH or written_arguments(function, depth + 1) is None:
        return None
    given = passed_to(function, call)
    if len(given) < len(call.args) + len(call.keywords) or any(isinstance(value, ast.Starred) for value in call.args):
        return None
    through = steering(function).through
    return [value for parameter, value in given if parameter in through]


def _is_language(node: ast.AST) -> bool:
    """Return whether a function is Triton's own, such as ``tl.load``; only those in ``_WRITES`` write."""
    while isinstance(node, ast.Attribute):
        node = node.value
        if isinstance(node, ast.Name):
            return node.id in {"tl", "libdevice", "tl_math"}
    return False
