"""Columns of one value, which take no memory until they must: they answer as if every number stood in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.torch_profiler.columns import OptionalIntegers, Words


@given(st.sampled_from([None, 0, 7]), st.integers(1, 5))
def test_a_run_of_one_value_is_read_row_by_row(value, count):
    numbers, words = OptionalIntegers(), Words()
    numbers.repeat(value, count)
    words.repeat(value, count)
    assert [numbers[row] for row in range(-count, count)] == [value] * 2 * count
    assert [words[row] for row in range(-count, count)] == [value] * 2 * count
    for column in (numbers, words):
        for row in (count, -count - 1):
            with pytest.raises(IndexError):
                column[row]
    assert numbers._count == count


@given(st.lists(st.integers(-5, 5), min_size=1), st.booleans())
def test_extremes_and_distinct_numbers_are_those_of_the_rows(values, one):
    column = OptionalIntegers()
    if one:
        column.repeat(values[0], len(values))
        values = [values[0]] * len(values)
    else:
        column.extend(values)
    assert column.extremes() == (min(values), max(values))
    assert column.distinct() == set(values)
