"""Which tensors decide how often a Triton kernel's loops turn, as far as its source tells. Standard library only."""

import ast
from typing import Any

_ATTRIBUTE = "kprof_steering"


def steering_arguments(function: Any) -> frozenset[str]:
    """Names of the pointer arguments from which the bound of a loop is loaded: sequence lengths, offsets.

    Only single values count, not blocks (what is loaded through ``tl.arange``). What is loaded to branch on or to
    address with stays out: it may be a token.
    """
    known = function.__dict__.get(_ATTRIBUTE)
    if known is None:
        try:
            tree = function.parse().body[0]
            known = _steering(tree, frozenset(parameter.name for parameter in function.params))
        except (AttributeError, IndexError, SyntaxError, AssertionError):
            known = frozenset()
        function.__dict__[_ATTRIBUTE] = known
    found: frozenset[str] = known
    return found


class _Names:
    """What each name of a function is made from.

    Attributes:
        pointers: name to the arguments that it is made from, loads left out.
        loaded: name to the arguments of which it holds a loaded value.
        blocks: names that hold more than one value.
    """

    def __init__(self, arguments: frozenset[str]) -> None:
        self.pointers: dict[str, set[str]] = {name: {name} for name in arguments}
        self.loaded: dict[str, set[str]] = {}
        self.blocks: set[str] = set()

    def assign(self, names: list[str], value: ast.AST) -> None:
        for name in names:
            self.pointers.setdefault(name, set()).update(self.pointers_in(value))
            self.loaded.setdefault(name, set()).update(self.loaded_in(value))
            if self.is_block(value):
                self.blocks.add(name)

    def is_block(self, node: ast.AST) -> bool:
        return any(
            (isinstance(part, ast.Name) and part.id in self.blocks) or _callee(part) == "arange"
            for part in ast.walk(node)
        )

    def pointers_in(self, node: ast.AST) -> set[str]:
        if _callee(node) == "load":
            return set()
        found = set(self.pointers.get(node.id, ())) if isinstance(node, ast.Name) else set()
        return found.union(*(self.pointers_in(child) for child in ast.iter_child_nodes(node)))

    def loaded_in(self, node: ast.AST) -> set[str]:
        found: set[str] = set()
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                found |= self.loaded.get(part.id, set())
            elif (
                isinstance(part, ast.Call) and _callee(part) == "load" and part.args and not self.is_block(part.args[0])
            ):
                found |= self.pointers_in(part.args[0])
        return found


def _steering(tree: ast.AST, arguments: frozenset[str]) -> frozenset[str]:
    names = _Names(arguments)
    # What is assigned in a loop may be used above.
    for _ in range(2):
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names.assign([n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)], node.value)
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.For):
            found |= names.loaded_in(node.iter)
        elif isinstance(node, ast.While):
            found |= names.loaded_in(node.test)
    return frozenset(found & arguments)


def _callee(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
