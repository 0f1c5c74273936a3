"""Arithmetic on values of many workgroups is that on each of them."""

import operator
import sys
from fractions import Fraction
from itertools import product
from math import trunc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.model.values import each_of, induction_variable, quotient, remainder

NUMBERS = st.integers(-(2**40), 2**40)
VALUES = st.one_of(NUMBERS, st.lists(NUMBERS, min_size=3, max_size=3))
FUNCTIONS = [quotient, remainder, operator.add, operator.sub]
SMALL = range(-4, 5)


@pytest.mark.parametrize("function", FUNCTIONS)
@given(left=VALUES, right=VALUES)
def test_each_workgroups_value_is_worked_out_by_itself(function, left, right):
    found = each_of(function, left, right)
    if isinstance(left, int) and isinstance(right, int):
        assert found == function(left, right)
        return
    pairs = zip(*([side] * 3 if isinstance(side, int) else side for side in (left, right)), strict=True)
    assert found == [function(a, b) for a, b in pairs]


@pytest.mark.parametrize(("dividend", "divisor"), list(product(SMALL, SMALL)))
def test_quotients_are_rounded_towards_zero(dividend, divisor):
    """MLIR's ``divsi`` and ``remsi``: the exact fraction without its part behind the point, and what is left over."""
    exact = trunc(Fraction(dividend, divisor)) if divisor else 0
    assert quotient(dividend, divisor) == exact
    assert remainder(dividend, divisor) == dividend - exact * divisor


@pytest.mark.parametrize("function", FUNCTIONS)
def test_small_values_of_every_sign_are_worked_out_one_by_one(function):
    """All pairs of -4 to 4, as two lists, and as a list beside one number on either side; zero divisors among them."""
    for lowest_left, lowest_right in product(SMALL, SMALL):
        pairs = [(a, b) for a, b in product(SMALL, SMALL) if a >= lowest_left and b >= lowest_right]
        left, right = [a for a, _ in pairs], [b for _, b in pairs]
        assert each_of(function, left, right) == [function(a, b) for a, b in pairs]
        assert each_of(function, left, lowest_right) == [function(a, lowest_right) for a in left]
        assert each_of(function, lowest_left, right) == [function(lowest_left, b) for b in right]
    assert each_of(function, [], []) == each_of(function, [], 1) == each_of(function, 1, []) == []


def calls(function, left, right):
    """Python functions that are called for a division of two values."""
    count = 0

    def profile(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        each_of(function, left, right)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("function", [quotient, remainder])
@pytest.mark.parametrize(
    ("left", "right"),
    [(list(range(1000)), 1), (list(range(1000)), list(range(1, 1001))), (list(range(-1000, 0)), 1)],
)
def test_division_calls_no_python_code_for_each_workgroup(function, left, right):
    """A thousand workgroups take a handful of calls; zeros to divide and divisors of one are no other case."""
    assert calls(function, left, right) < 10


def test_only_a_counted_loop_has_a_variable():
    text = """
    scf.for unsigned %i.0 = %c0 to %n step %c1 : i32 {
    }
    scf.for %j = %c0 to %n step %c1 : i32 {
    }
    %r = scf.while (%k = %c0) : (i32) -> i32 {
      scf.condition(%true) %k : i32
    } do {
    ^bb0(%k: i32):
      scf.yield %k : i32
    }
    """
    loops = [op for op in mlir.parse(text).operations if op.is_loop]
    assert [induction_variable(loop) for loop in loops] == ["%i.0", "%j", None]
    nameless = mlir.parse('"scf.for"(%c0, %n, %c1) : (i32, i32, i32) -> ()').operations[0]
    assert induction_variable(nameless) is None
