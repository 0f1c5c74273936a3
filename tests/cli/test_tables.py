"""Columns of a table share what a line has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.output.tables import rows_table


@given(
    rows=st.lists(st.tuples(*[st.text("abc", max_size=60)] * 4), min_size=1, max_size=5),
    width=st.integers(60, 200),
)
def test_lines_fit_and_are_cut_only_where_they_must(rows, width):
    """Whatever stands in three columns that may be cut, beside one that may not."""
    fixed = [(row[0][:10], *row[1:]) for row in rows]
    lines = rows_table(["a", "b", "c", "d"], fixed, wide=(1, 2, 3), width=width).splitlines()
    assert max(map(len, lines)) <= width
    needed = [max(len(row[place]) for row in [("a", "b", "c", "d"), *fixed]) for place in range(4)]
    if sum(needed) + 6 <= width:
        assert not any("…" in line for line in lines)


@pytest.mark.parametrize(("width", "columns"), [(44, 2), (120, 3)])
def test_a_spare_column_is_left_out_of_narrow_lines(width, columns):
    """It is there when there is room."""
    rows = [["1", "kernel_" + "x" * 30, "operator_" + "y" * 30]]
    lines = rows_table(["ms", "kernel", "operator"], rows, wide=(1, 2), width=width, spare=2).splitlines()
    assert len(lines[0].split()) == columns
    assert max(map(len, lines)) <= width
