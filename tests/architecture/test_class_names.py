"""A class's name should say what it is without its module."""

import ast
from collections import Counter

from tests.architecture.conftest import ROOT, tree_of


def public_classes() -> Counter[str]:
    """How many classes of the package have each public name."""
    return Counter(
        node.name
        for folder in ("kprof", "analyzers/kprof_analyzers", "servers/kprof_servers")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )


def test_no_two_public_classes_share_a_name() -> None:
    assert {name: count for name, count in public_classes().items() if count > 1} == {}
