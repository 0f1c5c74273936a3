"""Tables and JSON profiles of Omnitrace and rocprof-sys."""

# ruff: noqa: E501 - lines are as the programs write them

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs import results

TABLE = """|-----------------------------------------------------------------------------------------------|
|                            REAL-CLOCK TIMER (I.E. WALL-CLOCK TIMER)                             |
|-----------------------------------------------------------------------------------------------|
|        LABEL         | COUNT | DEPTH |   METRIC   | UNITS |   SUM    |   MEAN   |   MIN    |   MAX    |   VAR    | STDDEV   | % SELF |
|----------------------|-------|-------|------------|-------|----------|----------|----------|----------|----------|----------|--------|
| |00>>> main          |     1 |     0 | wall_clock | sec   | 13.36026 | 13.36026 | 13.36026 | 13.36026 | 0.000000 | 0.000000 |   18.2 |
| |00>>> |_solve [n|m] |    76 |     1 | wall_clock | sec   | 10.64100 |  0.14001 |  0.13000 |  0.20000 | 0.000100 | 0.010000 |  100.0 |
| |3|01>>>   |_inner   |     2 |     2 | wall_clock | sec   |  1.00000 |  0.50000 |  0.40000 |  0.60000 |          |          |        |
"""


def test_a_table(reading):
    """Labels with bars of their own, rank and thread, values that are not there."""
    found = reading(TABLE)
    main, solve, inner = found.rows
    assert (main["label"], main["depth"], main["thread"], main["rank"], main["sum"]) == ("main", 0, 0, None, 13.36026)
    assert (solve["label"], solve["count"], solve["mean"], solve["self_percent"]) == ("solve [n|m]", 76, 0.14001, 100.0)
    assert (inner["label"], inner["rank"], inner["thread"], inner["stddev"]) == ("inner", 3, 1, None)
    assert found.facts["metric"] == "real-clock timer (i.e. wall-clock timer)"
    assert not found.issues


def test_a_row_that_is_cut_off_is_told(reading):
    """With its line."""
    found = reading(TABLE[:-40] + "\n")
    assert len(found.rows) == 2
    assert [issue.partition(":")[0] for issue in found.issues] == ["line 8"]


def region(label: str, depth: int, laps: int, total: float) -> dict:
    """A region as the flat list has it."""
    stats = {"sum": total, "count": laps, "min": 0.0, "max": total, "sqr": 0.0, "mean": total / laps, "stddev": 0.0}
    return {"hash": 1, "prefix": f"|0>>> {'  ' * (depth - 1)}{'|_' if depth else ''}{label}", "depth": depth,
            "entry": {"laps": laps, "value": 1, "accum": 1, "repr_data": total, "repr_display": total}, "stats": stats}  # fmt: skip


def profile(**metric) -> str:
    """A file with one metric."""
    return json.dumps({"timemory": {"wall_clock": {"unit_repr": "sec", "description": "Real-clock timer", **metric}}})


def test_the_flat_list_of_a_profile(reading):
    """Values, statistics and the metric's unit; what is no region is told with its place."""
    found = reading(
        profile(
            ranks=[
                {
                    "rank": 2,
                    "graph_size": 2,
                    "graph": [region("main", 0, 1, 0.89), {"...": "etc."}, region("read", 1, 4, 0.2)],
                }
            ]
        )
    )
    assert [(r["label"], r["depth"], r["rank"], r["count"], r["sum"], r["mean"], r["unit"]) for r in found.rows] == [
        ("main", 0, 2, 1, 0.89, 0.89, "sec"),
        ("read", 1, 2, 4, 0.2, pytest.approx(0.05), "sec"),
    ]
    assert [issue.startswith("timemory.wall_clock.ranks.2.graph.1: ") for issue in found.issues] == [True]


def test_a_tree(reading):
    """Parents first, without the root of the process; each has what is its own."""

    def node(label: str, depth: int, total: float, own: float, *children: dict) -> dict:
        values = [{"entry": {"laps": 1, "repr_data": value}, "stats": {"sum": value}} for value in (total, own)]
        inner = {
            "prefix": label,
            "depth": depth,
            "tid": [0],
            "pid": [7],
            "inclusive": values[0],
            "exclusive": values[1],
        }
        return {"node": inner, "children": list(children)}

    tree = node(
        "unknown-hash=0", 0, 0.0, -9.0, node("main", 1, 9.0, 2.0, node("a", 2, 4.0, 4.0), node("b", 2, 3.0, 3.0))
    )
    found = reading(profile(graph=[[tree]]))
    assert [(r["label"], r["depth"], r["sum"], r["own"]) for r in found.rows] == [
        ("main", 0, 9.0, 2.0), ("a", 1, 4.0, 4.0), ("b", 1, 3.0, 3.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text", ['{"timemory": {"wall_clock": {"ranks": 7}}}', '{"timemory": {"wall', '{"timemory": 3}']
)
def test_json_of_another_form_or_cut_off_is_refused(reading, text):
    """In words."""
    with pytest.raises(KprofError, match="is not a profile of Omnitrace"):
        reading(text)


NAMES = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="|"), min_size=1, max_size=30)


@given(
    st.lists(st.tuples(NAMES, st.integers(0, 9), st.integers(1, 999), st.floats(1e-6, 1e4)), min_size=1, max_size=20)
)
def test_values_equal_those_of_the_json_module(tmp_path_factory, regions):
    """Every region of any depth."""
    path = tmp_path_factory.getbasetemp() / "wall_clock.json"
    path.write_text(profile(ranks=[{"rank": 0, "graph": [region(*each) for each in regions]}]))
    graph = json.loads(path.read_text())["timemory"]["wall_clock"]["ranks"][0]["graph"]
    rows = results.read(path).rows
    assert [(row["depth"], row["count"], row["sum"]) for row in rows] == [
        (one["depth"], one["entry"]["laps"], one["entry"]["repr_data"]) for one in graph
    ]
    assert [row["label"] for row in rows] == [name for name, *_ in regions]
