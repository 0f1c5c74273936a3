"""Detect tensors that Inductor's kernels fill with a single integer, by their source.

Inductor creates the constants of a graph, such as ``torch.ones``, by kernels. Loops of later kernels may depend on
them: attention without a mask reads its number of blocks from such a tensor.
"""

import ast
import ctypes
import struct
from collections.abc import Mapping
from typing import Any

from kprof.recording.describe import INTEGERS

_ATTRIBUTE = "kprof_filled"
_BRANCHES = (ast.For, ast.While, ast.If, ast.IfExp)
_MAX_ELEMENTS = 1 << 20
"""Maximum number of elements of a tensor to fill."""


def fill(function: Any, args: tuple[Any, ...]) -> frozenset[str]:
    """Fill the tensors that a launch's kernel fills with a single integer; return the names of these arguments.

    Args:
        function: a ``@triton.jit`` function.
        args: arguments of the launch, in the order of the parameters.
    """
    constants = filled_arguments(function)
    if not constants:
        return frozenset()
    given = dict(zip(map(str, function.arg_names), args, strict=False))
    count = constants.get("xnumel", given.get("xnumel"))
    return frozenset(
        name for name, value in constants.items() if name != "xnumel" and _write(given.get(name), value, count)
    )


def filled_arguments(function: Any) -> Mapping[str, int]:
    """Return the integer that a kernel stores in each of the first ``xnumel`` elements, by pointer argument.

    The result is empty for kernels that load anything or branch, and for kernels that Inductor did not generate. If the
    source has the number of elements as a constant, it is included as ``xnumel``.
    """
    known = function.__dict__.get(_ATTRIBUTE)
    if known is None:
        try:
            known = _filled(function.parse().body[0], [parameter.name for parameter in function.params])
        except (AttributeError, IndexError, SyntaxError, AssertionError):
            known = {}
        function.__dict__[_ATTRIBUTE] = known
    return known  # type: ignore[no-any-return]


def _filled(tree: ast.AST, names: list[str]) -> dict[str, int]:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = [node.func.attr for node in calls if isinstance(node.func, ast.Attribute)]
    if {"xnumel", "XBLOCK"} - {*names} or {"ynumel", "r0_numel"} & {*names}:
        return {}
    if any(isinstance(node, _BRANCHES) for node in ast.walk(tree)):
        return {}
    if any(name == "load" or name.startswith("atomic") for name in called):
        return {}
    values = _assigned_once(tree)
    stores = [node for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr == "store"]
    count = values.get("xnumel")
    size = count.value if isinstance(count, ast.Constant) and isinstance(count.value, int) else None
    found = {} if size is None else {"xnumel": size}
    for store in stores:
        pointer, value = _stored(store, values, one=size == 1)
        if pointer not in names or pointer in found or value is None:
            return {}
        found[pointer] = value
    return found if stores else {}


def _assigned_once(tree: ast.AST) -> dict[str, ast.expr]:
    """Return the expressions of names that are assigned exactly once."""
    found: dict[str, ast.expr] = {}
    again: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                name = getattr(target, "id", "")
                again |= {name} & found.keys()
                found[name] = node.value
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            again.add(getattr(node.target, "id", ""))
    return {name: value for name, value in found.items() if name not in again}


def _stored(store: ast.Call, values: Mapping[str, ast.expr], *, one: bool) -> tuple[str, int | None]:
    """Return a store's pointer argument and the integer that it stores; ``None`` if not every element gets it.

    Args:
        store: the call.
        values: assigned expressions by name.
        one: True if the tensor has one element.
    """
    place, value, *_ = store.args
    if not isinstance(place, ast.BinOp) or not isinstance(place.op, ast.Add) or not isinstance(place.left, ast.Name):
        return "", None
    index = _resolved(place.right, values)
    every = isinstance(index, ast.Name) and index.id == "xindex"
    if not every and not (one and _integer(index) == 0):
        return "", None
    return place.left.id, _integer(_resolved(value, values))


def _resolved(node: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    """Replace a name by its assigned expression; ``xindex``, the element's index, stays a name."""
    while isinstance(node, ast.Name) and node.id != "xindex" and node.id in values:
        node = values[node.id]
    return node


def _integer(node: ast.expr) -> int | None:
    """Return the integer of ``tl.full([...], 1, ...)``, possibly broadcast, or of a literal; None for anything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "broadcast_to":
            return _integer(node.func.value)
        return _integer(node.args[1]) if node.func.attr == "full" and len(node.args) > 1 else None
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None


def _write(tensor: Any, value: int, count: Any) -> bool:
    """Fill a tensor of the simulated GPU; return whether that was possible."""
    form = INTEGERS.get(str(getattr(tensor, "dtype", "")))
    if form is None or not tensor.is_contiguous() or not 0 < tensor.numel() <= _MAX_ELEMENTS or tensor.numel() != count:
        return False
    try:
        element = struct.pack(f"={form}", value)
    except struct.error:
        return False
    ctypes.memmove(tensor.data_ptr(), element * tensor.numel(), len(element) * tensor.numel())
    return True
