"""Reading what was kept runs no code."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Modules whose readers run what the bytes say.
RUNNING = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}


def test_nothing_imports_a_pickle():
    """Nor reads one through another library."""
    found = []
    for place in (ROOT / "kprof", ROOT / "analyzers", ROOT / "servers"):
        for path in place.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    names = {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom):
                    names = {(node.module or "").partition(".")[0]}
                else:
                    names = {node.attr} & {"read_pickle", "to_pickle"} if isinstance(node, ast.Attribute) else set()
                if names & (RUNNING | {"read_pickle", "to_pickle"}):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not found
