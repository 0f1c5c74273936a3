"""A command parses its options, calls the API and prints: it computes nothing itself."""

import ast

import pytest

from tests.architecture.conftest import PACKAGES

COMMANDS = {
    ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for folder in (PACKAGES["kprof"], PACKAGES["kprof_servers"])
    for path in sorted((folder / "cli").rglob("*.py"))
}
API = ("kprof.api", "kprof_servers.lint_configs", "kprof_servers.server_configs")
# What parses, prints and writes. Those of ``inputs`` read the ``K=V`` of an option; ``plug_ins`` finds commands.
TOOLS = (
    *API,
    "kprof.cli",
    "kprof.errors",
    "kprof.inputs.assignments",
    "kprof.inputs.supplied_values",
    "kprof.options",
    "kprof.origin",
    "kprof.output",
    "kprof.plug_ins",
    "kprof.reporters",
    "kprof.version",
    "kprof_servers.lint_text",
    "kprof_servers.options",
    "kprof_servers.server_configs_text",
)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_calls_the_api_and_nothing_beneath(graph, name: str) -> None:
    """Imports for the type checker and those in functions count."""
    imported = graph.find_modules_directly_imported_by(name)
    beneath = {one for one in imported if not any(one == tool or one.startswith(f"{tool}.") for tool in TOOLS)}
    assert beneath == set()


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.split(".")[-1][0] != "_"])
def test_a_command_uses_one_part_of_the_api(name: str) -> None:
    """What two commands share is shared below them; each function of a file is a command of its own."""
    tree = ast.parse(COMMANDS[name].read_text(encoding="utf-8"))
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        used = {
            node.module if node.module != "kprof.api" else f"kprof.api.{node.names[0].name}"
            for node in ast.walk(function)
            if isinstance(node, ast.ImportFrom)
            and node.module
            and f"{node.module}.".startswith(tuple(f"{part}." for part in API))
        }
        assert len(used) <= 1, function.name
