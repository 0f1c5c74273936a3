"""Arithmetic on values of many workgroups is that on each of them."""

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof_analyzers.model.values import each_of, quotient, remainder

NUMBERS = st.integers(-(2**40), 2**40)
VALUES = st.one_of(NUMBERS, st.lists(NUMBERS, min_size=3, max_size=3))


@pytest.mark.parametrize("function", [quotient, remainder, operator.add, operator.sub])
@given(left=VALUES, right=VALUES)
def test_each_workgroups_value_is_worked_out_by_itself(function, left, right):
    found = each_of(function, left, right)
    if isinstance(left, int) and isinstance(right, int):
        assert found == function(left, right)
        return
    pairs = zip(*([side] * 3 if isinstance(side, int) else side for side in (left, right)), strict=True)
    assert found == [function(a, b) for a, b in pairs]
