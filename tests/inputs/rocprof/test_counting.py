"""Wide files as long tables: gaps give no rows, and every number stays as it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kprof.inputs.rocprof.counting import from_wide
from kprof.inputs.rocprof.frames import factorised


@given(
    matrix=arrays(
        np.float64,
        st.tuples(st.integers(1, 6), st.integers(1, 4)),
        elements=st.floats(allow_nan=True, allow_infinity=True, width=64),
    )
)
def test_rows_equal_the_present_cells(matrix):
    """Against a plain loop; infinities and sums that overflow are values like others."""
    rows, counters = matrix.shape
    dispatches = {
        "agent": np.arange(rows) % 2,
        "dispatch_id": np.arange(rows) + 100,
        "kernel_name": factorised([f"k{row % 3}" for row in range(rows)]),
    }
    table = from_wide({f"C{n}": matrix[:, n] for n in range(counters)}, dispatches)
    expected = [
        (row, row % 2, row + 100, f"k{row % 3}", f"C{n}", matrix[row, n])
        for row in range(rows)
        for n in range(counters)
        if not np.isnan(matrix[row, n])
    ]
    names = ("dispatch", "agent", "dispatch_id", "kernel_name", "counter", "value")
    assert list(zip(*(list(table[name]) for name in names), strict=True)) == expected


def test_repeating_a_column_with_gaps():
    """A missing agent stays missing in each of its rows."""
    pd = pytest.importorskip("pandas")
    agent = pd.array([4, None], dtype="Int64")
    table = from_wide({"A": np.array([1.0, 2.0]), "B": np.array([3.0, 4.0])}, {"agent": agent, "dispatch_id": agent})
    assert table["agent"].isna().tolist() == [False, False, True, True]
    assert table["value"].tolist() == [1.0, 3.0, 2.0, 4.0]
