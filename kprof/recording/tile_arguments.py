"""Find the compile-time arguments of a Triton kernel that are tile sizes, by its source.

Imports only the standard library. With another tile size, the kernel still does all of its work, because more or fewer
workgroups share it, or a loop takes more or fewer iterations. Other compile-time arguments must keep their values, such
as a block that has to cover a row, or a flag that determines what is computed.
"""

import ast
from dataclasses import dataclass
from typing import Any

from kprof.knobs import is_tile_name


@dataclass(frozen=True)
class Tiles:
    """Names of the arguments that a search may change.

    Attributes:
        dealt: arguments that set a workgroup's share of the work; the number of workgroups has to change with them.
        stepped: arguments that set the step of a loop.
        orders: arguments that set the order in which workgroups process tiles.
    """

    dealt: frozenset[str] = frozenset()
    stepped: frozenset[str] = frozenset()
    orders: frozenset[str] = frozenset()

    @property
    def all(self) -> frozenset[str]:
        """All tile arguments, of every kind."""
        return self.dealt | self.stepped | self.orders


def tiles_of(function: Any) -> Tiles:
    """Return the tile arguments of a ``@triton.jit`` function; empty if its source cannot be read."""
    try:
        tree = function.parse().body[0]
        names = frozenset(parameter.name for parameter in function.params)
        constants = frozenset(parameter.name for parameter in function.params if parameter.is_constexpr)
    except (AttributeError, IndexError, SyntaxError, AssertionError, OSError):
        return Tiles()
    return _tiles(tree, names, constants)


def _tiles(tree: ast.AST, arguments: frozenset[str], constants: frozenset[str]) -> Tiles:
    made: dict[str, set[str]] = {name: {name} for name in arguments}
    ids: set[str] = set()
    # A value that is assigned late in a loop may be used earlier in its next iteration, so two passes are needed.
    for _ in range(2):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) or node.value is None:
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)):
                made.setdefault(name, set()).update(_from(node.value, made))
                if _is_id(node.value, ids):
                    ids.add(name)
    stepped: set[str] = set()
    dealt: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.For):
            stepped |= _from(node.iter, made)
        elif isinstance(node, ast.While):
            stepped |= _from(node.test, made)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if _is_id(one, ids):
                    dealt |= _from(other, made)
        elif isinstance(node, ast.Call) and len(node.args) > 1:
            # A helper that gets both the workgroup's number and a size is assumed to compute the share from them.
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if _callee(node) not in _PLAIN and any(isinstance(part, ast.Name) and part.id in ids for part in given):
                direct = {part.id for part in given if isinstance(part, ast.Name)}
                dealt |= direct & arguments
    # Triton also specialises on the value 1, so such a run-time argument must keep its value.
    sized = {name for name in constants if is_tile_name(name) or any(word in name.upper() for word in _SHARES)}
    orders = frozenset(name for name in constants if "GROUP" in name.upper() and name.upper().endswith("_M"))
    return Tiles(frozenset(dealt & sized) - orders, frozenset(stepped & sized) - orders, orders)


_PLAIN = frozenset({"load", "store", "min", "max", "minimum", "maximum", "where", "cdiv", "range", "arange"})
_SHARES = ("SPLIT", "CHUNK")


def _from(node: ast.AST, made: dict[str, set[str]]) -> set[str]:
    """Return the arguments that an expression depends on."""
    return set().union(*(made.get(part.id, set()) for part in ast.walk(node) if isinstance(part, ast.Name)))


def _is_id(node: ast.AST, ids: set[str]) -> bool:
    """Return whether an expression depends on the number of the workgroup."""
    return any(
        (isinstance(part, ast.Name) and part.id in ids) or _callee(part) == "program_id" for part in ast.walk(node)
    )


def _callee(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
