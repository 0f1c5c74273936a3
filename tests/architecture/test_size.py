"""Files and functions stay short enough to be read at one go."""

import ast

import pytest

from tests.architecture.conftest import PACKAGES

LONGEST_FILE = 400
LONGEST_FUNCTION = 60

FILES = sorted(path for folder in PACKAGES.values() for path in folder.rglob("*.py"))


def lengths(text: str) -> dict[str, int]:
    """Function to the lines of its body, blank ones and comments included.

    Neither its signature nor its docstring counts: they grow with what can be given, a line each, and say units and
    errors. So a function may be longer than its limit on the page.
    """
    return {
        node.name: (node.end_lineno or 0) - _first(node).lineno + 1
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _first(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
    return function.body[1 if ast.get_docstring(function) is not None and len(function.body) > 1 else 0]


def test_there_are_files() -> None:
    """Both packages are looked at."""
    assert {path.name for path in FILES} >= {"analyze.py", "pipeline.py"}
    assert len(FILES) > 500


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_a_file_and_its_functions_are_short(path) -> None:
    """400 lines a file, 60 the body of a function."""
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= LONGEST_FILE
    too_long = {name: length for name, length in lengths(text).items() if length > LONGEST_FUNCTION}
    assert too_long == {}


def test_a_long_function_would_be_found() -> None:
    """The count itself: of a function with a docstring and two statements, and of one inside it."""
    text = 'def f(\n    a,\n    b,\n):\n    """What it does."""\n    def g():\n        return 1\n\n    return g\n'
    assert lengths(text) == {"f": 4, "g": 1}
