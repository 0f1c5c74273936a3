"""Imports run down the layers and in no circle, wherever in a file they stand."""

import ast
import sys
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.architecture.conftest import PACKAGES, ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Python finds it by PYTHONPATH inside a recorded program; it belongs to no package.
OUTSIDE = {ROOT / "kprof" / "recording" / "bootstrap" / "sitecustomize.py"}
ENTRANCES = {"kprof", "kprof.__main__"}


def _contract():
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    return next(contract for contract in contracts if contract["type"] == "layers")


def _layers() -> list[set[str]]:
    """The names side by side in each layer, from the top."""
    return [{name.strip() for name in layer.split("|")} for layer in _contract()["layers"]]


def _circle(edges: dict[str, set[str]]) -> list[str]:
    """One circle of a graph, empty where there is none."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def _in_source(package: str) -> dict[str, set[str]]:
    """Module to the modules that any import statement in its file names, read without grimp."""
    folder = PACKAGES[package]
    files = {path: path.relative_to(folder.parent).with_suffix("").parts for path in folder.rglob("*.py")}
    return {
        ".".join(parts[:-1] if parts[-1] == "__init__" else parts): _named(ast.parse(path.read_text()))
        for path, parts in files.items()
        if path not in OUTSIDE
    }


def _named(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return found


def test_no_circle(graph):
    """Between files, function-level and ``TYPE_CHECKING`` imports included."""
    edges = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert _circle(edges) == []


def test_a_circle_would_be_found():
    """The check itself."""
    assert _circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) in (["b", "c", "b"], ["c", "b", "c"])


@pytest.mark.parametrize("package", PACKAGES)
def test_the_graph_has_every_import_statement(graph, package):
    """Grimp's graph has each file and, for each import in it, wherever it stands, the edge."""
    for module, named in _in_source(package).items():
        assert module in graph.modules
        found = graph.find_modules_directly_imported_by(module)
        # ``from package import name`` is an edge to package.name where that is a module, else to the package.
        missing = {n for n in named & graph.modules if n not in found and not any(f.startswith(n + ".") for f in found)}
        assert missing <= {module}, module


def test_every_module_is_in_one_layer(graph):
    """A new package has to say where it stands."""
    names = set().union(*_layers())
    for module in graph.modules - ENTRANCES:
        above = [name for name in names if module == name or module.startswith(f"{name}.")]
        assert len(above) == 1, f"{module} is in {len(above)} layers of pyproject.toml"


def test_every_layer_is_there(graph):
    """And none is left behind when a package goes."""
    assert set().union(*_layers()) <= graph.modules


def test_imports_run_down(graph):
    """No module imports one of a layer above, or of another package beside it in the same layer."""
    level = {name: place for place, names in enumerate(_layers()) for name in names}
    excused = [pattern.split(" -> ") for pattern in _contract().get("ignore_imports", ())]
    upstairs = []
    for module in graph.modules - ENTRANCES:
        own = _layer_of(module, level)
        for target in graph.find_modules_directly_imported_by(module) - ENTRANCES:
            other = _layer_of(target, level)
            if other != own and level[other] <= level[own] and not any(_fits(module, target, e) for e in excused):
                upstairs.append(f"{module} -> {target}")
    assert not upstairs


def _layer_of(module: str, level: dict[str, int]) -> str:
    return next(name for name in level if module == name or module.startswith(f"{name}."))


def _fits(module: str, target: str, patterns: list[str]) -> bool:
    return fnmatchcase(module, patterns[0]) and fnmatchcase(target, patterns[1])
