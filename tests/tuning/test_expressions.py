"""Expressions against Python's own arithmetic, and what they refuse."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.tuning.expressions import LONGEST, parse

NAMES = st.fixed_dictionaries({name: st.integers(1, 100) for name in ("M", "BLOCK_M", "num_warps")})
LEAVES = st.sampled_from(["M", "BLOCK_M", "num_warps", "2", "64", "100"])
OPERATORS = st.sampled_from(["+", "-", "*", "//", "%"])
COMPARISONS = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])


def arithmetic(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Expressions of two others."""
    return st.builds(lambda a, op, b: f"({a} {op} {b})", children, OPERATORS, children)


TERMS = st.recursive(LEAVES, arithmetic, max_leaves=6)


@given(left=TERMS, comparison=COMPARISONS, right=TERMS, values=NAMES)
def test_the_same_as_python(left: str, comparison: str, right: str, values: dict[str, int]) -> None:
    """Every expression has the value that Python gives it."""
    text = f"{left} {comparison} {right}"
    try:
        expected = eval(text, {"__builtins__": {}}, values)
    except ZeroDivisionError:
        with pytest.raises(KprofError, match="divides by zero"):
            parse(text).value(values)
        return
    assert parse(text).value(values) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cdiv(M, 100) * 2", 82),
        ("min(M, 64) + max(1, 2, 3)", 67),
        ("M in [1024, 4096]", True),
        ("M not in [1, 2]", True),
        ("not M > 1 or M == 4096", True),
        ("1 < M < 10", False),
        ("dtype == 'fp16' and -M < 0", True),
        ("M == 1 or 1 // 0", None),
    ],
)
def test_what_it_knows(text: str, expected: Any) -> None:
    """Functions, membership, chains; ``or`` stops where Python's does."""
    expression = parse(text)

    if expected is None:
        with pytest.raises(KprofError, match="zero"):
            expression.value({"M": 4096, "dtype": "fp16"})
    else:
        assert expression.value({"M": 4096, "dtype": "fp16"}) == expected


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "M.bit_length()",
        "[x for x in [1]]",
        "lambda: 1",
        "M ** 9999",
        "open('x')",
        "M if N else K",
        "{1: 2}",
        "f'{M}'",
        "M[0]",
        "(x := 3)",
        "M <<",
        "M / 2",
        "x" * (LONGEST + 1),
        "(" * 300,
    ],
)
def test_what_it_refuses(text: str) -> None:
    """Nothing but arithmetic and comparisons, in one sentence."""
    with pytest.raises(KprofError) as caught:
        parse(text, "the constraint")
    assert caught.value.message.startswith("the constraint")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("M + N", "no knob or problem size 'N'"),
        ("M < 'x'", "cannot be computed"),
        ("M * M * M * M * M * M * M", "cannot be computed"),
        ("'a' * M", "not a number"),
    ],
)
def test_what_has_no_value(text: str, message: str) -> None:
    """Unknown names, mixed types and sizes of nothing are told."""
    with pytest.raises(KprofError, match=message):
        parse(text).value({"M": 1 << 20})
