"""Columns of a table share what a line has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.output.tables import cut_apart, rows_table


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


TENSILE = "Cijk_Alik_Bljk_BBS…MT32x32x256_MI16x16x1_SN_LDSB1_AFC1_AFEM1_NLCA1_NTA{}_NTB0_NTC0_NTD0_WG32_4_1"


def test_kernels_that_begin_alike_are_told_apart_at_80_columns():
    """Two products of one macro tile, which differ in how they load A."""
    names = [TENSILE.format(0), TENSILE.format(4)]
    rows = [["0.387", "35.2 %", "24", "attention GEMM", name] for name in names]
    found = rows_table(["ms", "share", "count", "category", "kernel"], rows, wide=(4,), width=80).splitlines()
    assert max(map(len, found)) == 80
    assert "Cijk_Alik_Bljk_BBS" in found[1]
    assert "NTA0_" in found[1]
    assert "NTA4_" in found[2]


@given(
    begin=st.text("ab", max_size=60),
    ends=st.lists(st.text("abc", min_size=1, max_size=4), min_size=2, max_size=2, unique=True),
    size=st.integers(12, 40),
)
def test_two_texts_never_look_alike_where_there_is_room(begin, ends, size):
    """They differ at one place, wherever that is, and what fits is not touched."""
    texts = [begin + end for end in ends]
    shown = cut_apart(texts, size)
    assert shown[0] != shown[1]
    assert max(map(len, shown)) <= size
    assert all(one == text for one, text in zip(shown, texts, strict=True) if len(text) < size)


def test_a_table_whose_only_flexible_column_is_spared_keeps_its_numbers():
    """As where a category of a user's has a name of pages: nothing is left that could be cut."""
    found = rows_table(["name", "ms"], [["long " * 40, "9" * 80]], wide=0, spare=0, width=40)
    assert "9" * 80 in found
    assert "long" not in found
