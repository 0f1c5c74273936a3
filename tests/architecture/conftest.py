"""The graph of all imports: those in functions and under ``TYPE_CHECKING`` are edges like the others."""

import ast
from functools import cache
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "kprof": ROOT / "kprof",
    "kprof_analyzers": ROOT / "analyzers" / "kprof_analyzers",
    "kprof_servers": ROOT / "servers" / "kprof_servers",
}


@cache
def tree_of(path: Path) -> ast.Module:
    """The tree of a module, parsed once for all rules that look at every file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def graph() -> grimp.ImportGraph:
    """Every module of the packages with what it imports of them."""
    return grimp.build_graph(*PACKAGES, exclude_type_checking_imports=False, cache_dir=None)
