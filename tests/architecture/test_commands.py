"""A command parses its options, calls one function of the API and prints: it computes nothing itself."""

import ast
from pathlib import Path

import pytest

from tests.architecture.conftest import ROOT

CLI = ROOT / "kprof" / "cli"
LONGEST = 60
# Commands whose use case is a function of the API.
THIN = ("advise", "analyze", "check", "diff", "lint_configs", "occupancy", "report", "tune")
# What parses, prints and writes.
TOOLS = (
    "kprof.api",
    "kprof.cli",
    "kprof.errors",
    "kprof.inputs.assignments",
    "kprof.inputs.supplied_values",
    "kprof.output",
    "kprof.reporters",
)


def _imports(path: Path) -> set[str]:
    """What is imported when the program runs; names for the type checker alone are left out."""
    found = set()
    skipped: set[ast.AST] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            skipped |= {inner for statement in node.body for inner in ast.walk(statement)}
    for node in ast.walk(tree):
        if node not in skipped and isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif node not in skipped and isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.split(".")[0] in {"kprof", "kprof_analyzers"}}


@pytest.mark.parametrize("name", THIN)
def test_a_command_calls_the_api_and_nothing_beneath(name: str) -> None:
    imports = _imports(CLI / f"{name}.py")

    assert f"kprof.api.{name}" in imports
    beneath = {one for one in imports if not any(one == tool or one.startswith(f"{tool}.") for tool in TOOLS)}
    assert beneath == set()
    assert {one for one in imports if one.startswith("kprof.api")} == {f"kprof.api.{name}"}


def test_functions_of_commands_are_short() -> None:
    for path in CLI.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                length = (node.end_lineno or 0) - node.body[0].lineno + 1
                assert length <= LONGEST, f"{path.name}: {node.name} has {length} lines"
