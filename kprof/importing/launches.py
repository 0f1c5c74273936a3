"""Detect whether a Python file launches Triton functions, from its text and without running it."""

import ast
from pathlib import Path

from kprof.errors import InputError
from kprof.inputs import boundary


def launches_kernels(path: Path) -> bool:
    """Return whether the file contains a call in the form of a Triton launch: ``name[grid](...)``.

    A file that cannot be read, or is not Python, contains no launch.
    """
    try:
        tree = ast.parse(boundary.read_text(path))
    except (InputError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Subscript) for call in calls)
