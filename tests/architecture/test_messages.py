"""Messages are for people: what callers tell apart has a class of its own."""

import ast
import re

import pytest

from tests.architecture.conftest import ROOT, tree_of

FILES = [path for folder in ("kprof", "analyzers", "servers") for path in sorted((ROOT / folder).rglob("*.py"))]
_READS = {"startswith", "endswith", "find", "index", "split", "partition", "replace"}


def _is_message(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in {"message", "hint"}


def _reads(node: ast.AST) -> bool:
    """Whether a message's text decides something: it is searched, taken apart, or compared with another text."""
    if isinstance(node, ast.Compare):
        texts = [node.left, *node.comparators]
        return any(map(_is_message, texts)) and not any(
            isinstance(one, ast.Constant) and one.value is None for one in texts
        )
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _READS
        and bool(node.args)  # without arguments `split` only folds white space
        and _is_message(node.func.value)
    )


@pytest.mark.parametrize("text", ['"too large" in error.message', 'error.message.startswith("too")', 'e.hint == "x"'])
def test_what_is_looked_for(text: str) -> None:
    """The search below finds these."""
    assert any(map(_reads, ast.walk(ast.parse(text))))


def test_no_code_reads_the_prose_of_a_message() -> None:
    """Neither kprof nor its analyzers branch on the words of an error."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in FILES
        if re.search(r"\b(message|hint)\b", path.read_text(encoding="utf-8"))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.expr) and _reads(node)
    ]
    assert found == []
