"""Columns of one value, which take no memory until they must: they answer as if every number stood in them."""

from array import array

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


@given(st.lists(st.tuples(st.sampled_from([None, 0, 7]), st.integers(1, 3)), min_size=1, max_size=4))
def test_runs_that_are_added_as_lists_are_read_as_lists(runs):
    """Whether the column stays one run or not; what is only read changes nothing."""
    numbers, words, wanted = OptionalIntegers(), Words(), []
    for value, count in runs:
        numbers.extend([value] * count)
        words.extend([value] * count)
        wanted += [value] * count
    for column in (numbers, words):
        is_run = len(set(wanted)) == 1
        assert (column.only is not None) == is_run
        copied = column.readable
        assert column.numbers_of(0, len(wanted)) == copied
        assert column.numbers_of(1, len(wanted) + 5) == copied[1:]
        assert (column.only is not None) == is_run
        assert [column[row] for row in range(len(wanted))] == column.part(0, len(wanted)) == wanted
        assert column.data == copied


def test_a_run_takes_no_memory_however_its_values_come():
    """As lists and as arrays: 3,000,000 kernels of one device took 300 MB more."""
    column, words = OptionalIntegers(), Words()
    for _ in range(3):
        column.extend([5, 5])
        column.extend(array("q", [5]))
        words.extend(["kernel", "kernel"])
    assert (column._count, words._count) == (9, 6)
    column.extend([5, 6])
    words.extend(["copy"])
    assert column.part(0, 20) == [5] * 10 + [6]
    assert words.part(0, 20) == ["kernel"] * 6 + ["copy"]
