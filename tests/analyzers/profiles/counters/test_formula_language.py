"""The language of formulas, against Python's own arithmetic."""

import ast
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof_analyzers.profiles.counters.formula_language import evaluate, parse

_PYTHON = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
VALUES = {"A": 3.0, "TCC_HIT_sum": 0.5, "ns": 7.0}


def python_value(node):
    """Walk Python's own tree of the same text."""
    if isinstance(node, ast.BinOp):
        return _PYTHON[type(node.op)](python_value(node.left), python_value(node.right))
    if isinstance(node, ast.UnaryOp):
        return -python_value(node.operand)
    return float(node.value) if isinstance(node, ast.Constant) else VALUES[node.id]


def expressions():
    """Texts of nested expressions."""
    numbers = st.one_of(st.integers(0, 999), st.floats(0.5, 99)).map(str)
    leaves = st.one_of(numbers, st.sampled_from(sorted(VALUES)))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*/"), inner).map(" ".join),
            inner.map("({})".format),
            inner.map("-({})".format),
        ),
        max_leaves=12,
    )


@given(expressions())
def test_values_equal_pythons(text):
    """Precedence, associativity, unary minus and division by zero."""
    try:
        expected = python_value(ast.parse(text, mode="eval").body)
    except ZeroDivisionError:
        expected = float("nan")
    assert float(evaluate(parse(text), VALUES)) == pytest.approx(expected, nan_ok=True)


@given(expressions(), st.lists(st.floats(-9, 9), min_size=1, max_size=5))
def test_a_column_is_its_values_one_by_one(text, column):
    """Also where only some of them divide by zero."""
    node = parse(text)
    found = evaluate(node, {**VALUES, "A": np.asarray(column)})
    alone = [float(evaluate(node, {**VALUES, "A": each})) for each in column]
    assert np.broadcast_to(found, len(column)).tolist() == pytest.approx(alone, nan_ok=True)


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text):
    """Nothing else happens, in particular nothing is run."""
    try:
        parse(text)
    except KprofError as error:
        message = error.message
    else:
        return
    assert "formula" in message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 +",
        "(1",
        "1)",
        "a b",
        "__import__('os')",
        "a.b",
        "a[x]",
        "1 ** 2",
        "min(1)",
        "a if b else c",
        "1;2",
        "lambda: 1",
        "A < 2",
        "'a' + A",
        "True + 1",
        "not A",
    ],
)
def test_what_is_not_arithmetic_is_refused(text):
    """Attribute access, calls, subscripts, powers and statements."""
    with pytest.raises(KprofError):
        parse(text)


def test_deep_nesting_is_refused_not_overflowed():
    """A thousand brackets, and a thousand minus signs."""
    for text in ("(" * 1000 + "1" + ")" * 1000, "(" * 240 + "1" + ")" * 240, "-" * 1000 + "1", "-" * 400 + "1"):
        with pytest.raises(KprofError, match=r"the formula (is longer|has more|cannot be read)"):
            parse(text)


def test_names_and_functions():
    """Names once each and without functions; min and max of two and of three."""
    formula = parse("max(TCC_REQ, A, 4) / min(2, 5) - A")
    assert formula.names == {"TCC_REQ", "A"}
    assert evaluate(formula, {"TCC_REQ": 10.0, "A": 3.0}) == 2.0
