"""Extract a server's default configuration from its code. It is used for shapes without a tuned file."""

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kprof_servers.served.lookup_process import statements, tree_of


def default_config(file: Path, lookup: str, block: tuple[int, int]) -> dict[str, Any] | None:
    """Return the default configuration for shapes without a tuned file.

    It is a dictionary with the key ``BLOCK_SIZE_M`` that is assigned in a function that calls ``lookup``.

    Args:
        file: a file of the server.
        lookup: name of the lookup function.
        block: number of columns and number of elements along K that share a scale; the values of ``block_size[0]`` and
            ``block_size[1]`` in the server's code.

    Returns:
        The dictionary, or ``None`` if the file has none whose values are integers or sizes of the block.
    """
    try:
        functions = [node for node in statements(tree_of(file)) if isinstance(node, ast.FunctionDef)]
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    for function in functions:
        inside = list(ast.walk(function))
        if not any(isinstance(node, ast.Call) and _name(node.func) == lookup for node in inside):
            continue
        for node in inside:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
                found = _literal_values(node.value, {"block_size": block, "block_n": block[0], "block_k": block[1]})
                if found is not None and "BLOCK_SIZE_M" in found:
                    return found
    return None


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _literal_values(node: ast.Dict, names: Mapping[str, Any]) -> dict[str, Any] | None:
    found = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        number = _number(value, names)
        if number is None:
            return None
        found[key.value] = number
    return found


def _number(node: ast.expr, names: Mapping[str, Any]) -> int | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name) and isinstance(names.get(node.id), int):
        return int(names[node.id])
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        pair = names.get(_name(node.value))
        place = node.slice.value
        if isinstance(pair, tuple) and isinstance(place, int) and place in {0, 1}:
            return int(pair[place])
    return None
