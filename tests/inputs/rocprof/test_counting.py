"""Wide and long files as tables: gaps give no rows, every number stays as it is, every row finds its dispatch."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kprof.inputs import rocprof
from kprof.inputs.rocprof.counting import from_long, from_wide
from kprof.inputs.rocprof.frames import factorised, matrix_of
from kprof.inputs.rocprof.model import FileTables, ProfileFile
from kprof.inputs.rocprof.trust import _count_repeats, check


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
    import pandas as pd

    agent = pd.array([4, None], dtype="Int64")
    table = from_wide({"A": np.array([1.0, 2.0]), "B": np.array([3.0, 4.0])}, {"agent": agent, "dispatch_id": agent})
    assert table["agent"].isna().tolist() == [False, False, True, True]
    assert table["value"].tolist() == [1.0, 3.0, 2.0, 4.0]


_ROW = st.tuples(
    st.integers(1, 2), st.integers(0, 1), st.integers(5, 8), st.sampled_from("ab"), st.sampled_from(["C", "D", "E[0]"]),
    st.integers(1, 3),
)  # fmt: skip


@given(rows=st.lists(_ROW, min_size=1, max_size=25), in_order=st.booleans(), block=st.integers(1, 9))
def test_long_rows_belong_to_the_dispatch_of_a_plain_grouping(rows, in_order, block):
    """Any order of rows, in Arrow columns cut anywhere; dispatches are those of a dictionary, passes count starts."""
    pa = __import__("pyarrow")
    if in_order:
        rows = sorted(rows)
    process, agent, dispatch, kernel, counter, start = zip(*rows, strict=True)
    grid = [64 * number for number in dispatch]
    chunks = [grid[at : at + block] for at in range(0, len(grid), block)]
    columns = {
        "process_id": np.array(process),
        "agent": np.array(agent),
        "dispatch_id": np.array(dispatch),
        "kernel_name": factorised(list(kernel)),
        "counter": factorised(list(counter)),
        "value": np.arange(len(rows), dtype=float),
        "start_ns": np.array(start),
        "grid_work_items": pa.chunked_array(chunks, type=pa.int64()),
    }
    part = FileTables(ProfileFile("x.csv", "rocprofv3", "counter collection"))
    own, counters = from_long(columns, part)

    order = list(dict.fromkeys(row[:4] for row in rows))
    assert list(zip(own["process_id"], own["agent"], own["dispatch_id"], own["kernel_name"], strict=True)) == order
    assert list(own["grid_work_items"]) == [64 * key[2] for key in order]
    assert list(counters["dispatch"]) == [order.index(row[:4]) for row in rows]
    starts = {key: list(dict.fromkeys(row[5] for row in rows if row[:4] == key)) for key in order}
    assert list(counters["pass"]) == [starts[row[:4]].index(row[5]) for row in rows]

    part.tables["counters"] = counters
    check(part)
    twice = len(rows) - len({(row[:4], row[4], row[5]) for row in rows})
    assert sum(issue.count for issue in part.issues if issue.kind == "duplicate-counters") == twice


@given(
    matrix=arrays(np.float64, st.tuples(st.integers(1, 600), st.integers(1, 3)), elements=st.floats(-9, 9, width=16)),
    cuts=st.lists(st.integers(1, 599), max_size=3),
)
def test_a_matrix_of_arrow_columns_is_that_of_arrays(matrix, cuts):
    """Chunks that differ from column to column, and missing values."""
    pa = __import__("pyarrow")
    columns = []
    for place in range(matrix.shape[1]):
        values = [None if value == 0 else value for value in matrix[:, place]]
        edges = sorted({0, len(values), *(min(cut + place, len(values)) for cut in cuts)})
        pieces = [values[low:high] for low, high in itertools.pairwise(edges)]
        columns.append(pa.chunked_array(pieces, type=pa.float64()))
    expected = np.where(matrix == 0, np.nan, matrix)
    np.testing.assert_array_equal(matrix_of(columns), expected)


def test_a_heading_is_read_once(tmp_path, monkeypatch):
    """Files with a column a counter instance have thousands: each column must not read the heading again."""
    import csv

    from kprof.inputs.rocprof import csv_table

    lines = []
    original = csv.reader
    monkeypatch.setattr(csv_table.csv, "reader", lambda text, **options: original(lines.append(1) or text, **options))
    known = "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size"
    counters = ",".join(f"TCC_HIT[{n}]" for n in range(300))
    path = tmp_path / "pmc_perf.csv"
    path.write_text(f"{known},{counters}\n0,k,2,0,0,1,1,64,64,0,0,8,0,16,64{',1' * 300}\n")
    assert len(rocprof.read(path).table("counters")) == 300
    assert len(lines) <= 3


@given(
    st.lists(
        st.tuples(*(st.integers(low, high) for low, high in ((0, 3), (0, 2), (-1, 4096), (0, 300)))),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from([1, 1 << 40, 1 << 61]),
)
def test_rows_that_repeat_are_counted_whatever_their_numbers(rows, factor):
    """Instances from 4,095, passes from 256 and huge numbers of dispatches are not taken for other rows."""
    rows = [(dispatch * factor, *others) for dispatch, *others in rows]
    assert _count_repeats(list(zip(*rows, strict=True))) == len(rows) - len(set(rows))
