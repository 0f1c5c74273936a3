"""Expressions against Python's own arithmetic, and what they refuse."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.expressions import DEEPEST, LONGEST, SCALARS, Expression, whole
from kprof.expressions import parse as parse_in


def parse(text: str, what: str = "the expression") -> Expression[Any]:
    """In the language of constraints."""
    return parse_in(text, what, SCALARS)


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
        "-" * (DEEPEST + 1) + "1",
        "+".join("1" * (DEEPEST + 2)),
        "min(1)",
        "cdiv(1, 2, 3)",
        "max(*M)",
        "3j",
        "M is N",
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
        ("M + N", "'N' has no value"),
        ("M < 'x'", "cannot be computed"),
        ("M * M * M * M * M * M * M", "cannot be computed"),
        ("'a' * M", "not a number"),
    ],
)
def test_what_has_no_value(text: str, message: str) -> None:
    """Unknown names, mixed types and sizes of nothing are told."""
    with pytest.raises(KprofError, match=message):
        parse(text).value({"M": 1 << 20})


@pytest.mark.parametrize("text", ["'a'", "None", "[1]", "1e999", "1e999 - 1e999"])
def test_a_grid_is_a_number(text: str) -> None:
    """A count that is a word, nothing, a list, endless or undefined is refused."""
    with pytest.raises(KprofError):
        whole(parse(text), {})


@given(left=TERMS, values=NAMES)
def test_a_grid_is_whole(left: str, values: dict[str, int]) -> None:
    """The same number as the expression's own."""
    try:
        expected = eval(left, {"__builtins__": {}}, values)
    except ZeroDivisionError:
        return
    assert whole(parse(left), values) == expected


@given(st.text(alphabet="M12()[]+-*/%<>=,. 'andornotcdivmax", max_size=60))
def test_any_text_has_a_value_or_an_error(text: str) -> None:
    """Nothing but a KprofError leaves, whatever the text."""
    try:
        value = parse(text).value({"M": 4096})
    except KprofError as error:
        value = error.message
    assert value is None or isinstance(value, int | float | str | list)
