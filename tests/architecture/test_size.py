"""Files and functions stay short enough to be read at one go."""

import ast

import pytest

from tests.architecture.conftest import PACKAGES, ROOT, tree_of

SERVERS = PACKAGES["kprof_servers"]
ENTRY_POINTS = [
    PACKAGES["kprof"] / "api",
    PACKAGES["kprof"] / "cli",
    SERVERS / "cli",
    SERVERS / "lint_configs.py",
    SERVERS / "server_configs.py",
]
LONGEST_FILE = 600
LONGEST_FUNCTION = 60
LONGEST_ENTRY_POINT = 40
"""Lines of the body of a command or of a public function of ``kprof.api``.

Their signature has a line for each option and their docstring one for each argument, which is what ``--help`` and
``help()`` show. Neither counts there, and the body gets less room for it.
"""

FILES = sorted(path for folder in PACKAGES.values() for path in folder.rglob("*.py"))


def functions(tree: ast.Module) -> dict[str, tuple[int, int]]:
    """Function to its lines with decorators, signature and docstring, and to those of its body alone."""
    return {
        node.name: (_end(node) - _begin(node) + 1, _end(node) - _first(node).lineno + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def too_long(tree: ast.Module, *, entry_points: bool) -> dict[str, int]:
    """Functions over their limit, and their lines. Only public functions are entry points."""
    found = {}
    for name, (whole, body) in functions(tree).items():
        exempt = entry_points and not name.startswith("_")
        if whole > LONGEST_FUNCTION and not (exempt and body <= LONGEST_ENTRY_POINT):
            found[name] = whole
    return found


def _begin(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])


def _end(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return function.end_lineno or 0


def _first(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
    return function.body[1 if ast.get_docstring(function) is not None and len(function.body) > 1 else 0]


def test_there_are_files() -> None:
    """All packages are looked at."""
    assert {path.name for path in FILES} >= {"analyze.py", "pipeline.py"}
    assert len(FILES) > 500


def test_files_and_their_functions_are_short() -> None:
    """A guide is 400 lines a file; from 600 on it has to be split. 60 a function with all that belongs to it."""
    over: dict[str, object] = {}
    for path in FILES:
        lines = path.read_text(encoding="utf-8").count("\n")
        long = too_long(tree_of(path), entry_points=any(map(path.is_relative_to, ENTRY_POINTS)))
        if lines > LONGEST_FILE or long:
            over[str(path.relative_to(ROOT))] = (lines, long)
    assert over == {}


def test_a_long_function_would_be_found() -> None:
    """The count itself: of a function with a decorator, a docstring and two statements, and of one inside it."""
    text = '@d\ndef f(\n    a,\n    b,\n):\n    """What it does."""\n    def g():\n        return 1\n\n    return g\n'
    assert functions(ast.parse(text)) == {"f": (10, 4), "g": (2, 1)}


@pytest.mark.parametrize(("name", "body", "found"), [("f", 40, {}), ("f", 41, {"f": 62}), ("_f", 40, {"_f": 61})])
def test_only_options_and_documentation_make_an_entry_point_longer(name, body, found) -> None:
    """20 lines of arguments: with 40 of a body a public function may have them, elsewhere none may."""
    text = f"def {name}(\n" + "    a,\n" * 19 + "):\n" + "    pass\n" * body
    assert too_long(ast.parse(text), entry_points=True) == found
    assert name in too_long(ast.parse(text), entry_points=False)
