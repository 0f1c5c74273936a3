"""The page's first tables: a line for a family, and a figure beside what knows less."""

import pytest

from validation.benchmarks.model import metrics, origami, overview
from validation.benchmarks.model.problem import Family


def family(name, question):
    return Family(name, name.upper(), question, "", lambda _rows, _quick: [])


SUMMARIES = {
    "a": {"problems": 3, "clean_spearman": 0.9, "clean_top1": 0.99, "clean_top3": 1.0, "clean_pairs": 0.8,
          "clean_ratio": 1.1, "raw_spearman": 0.85, "raw_resource_spearman": 0.2, "raw_oracle_spearman": 0.97},
    "b": {"problems": 2, "sign_right": 0.75, "gain_spearman": 0.5, "ratio_median": 0.9, "in_range": 0.8,
          "always_faster_right": 1.0},
    "c": {"problems": 0},
    "d": {"problems": 9, "launch_right": 0.9, "always_the_same_right": 0.6},
}  # fmt: skip
CHOSEN = [family("a", "order"), family("b", "pair"), family("c", "time"), family("d", "validity")]


def test_every_family_with_problems_has_a_line():
    header, lines = overview.lines(CHOSEN, SUMMARIES, {"A": 0.96})
    assert header == ["family", "problems", "Spearman", "top-1", "top-3", "pairs", "sign", "ratio", "in range"]
    assert lines == [
        ["A", "3", "0.90", "0.99", "1.00", "0.80", "-", "1.10", "96%"],
        ["B", "2", "0.50", "-", "-", "-", "0.75", "0.90", "80%"],
    ]


def test_each_figure_stands_beside_what_knows_less():
    """What Origami does not take, and what a figure's family cannot have, is a dash."""
    header, lines = overview.beside(CHOSEN, SUMMARIES, {"a": {"raw_spearman": 0.3}})
    found = {(line[0], line[1]): dict(zip(header, line, strict=True)) for line in lines}
    first = found["A", "Spearman"]
    assert (first["model"], first["random"], first["resources"], first["Origami"], first["oracle"]) == (
        "0.85", "0.00", "0.20", "0.30", "0.97",
    )  # fmt: skip
    assert first["roofline"] == first["closed form"] == "-"
    assert found["B", "sign right"]["common"] == "1.00"
    assert found["B", "sign right"]["Origami"] == "-"
    assert found["D", "launches or not"]["common"] == "0.60"
    assert not any(line[0] == "C" for line in lines)


@pytest.mark.parametrize(
    ("winner", "others", "first", "chance"),
    [(1.0, [2.0, 3.0], 1, 1.0), (2.0, [1.0, 3.0], 1, 0.0), (2.0, [1.0, 2.0, 2.0], 2, 1 / 3), (5.0, [5.0, 5.0], 3, 1.0)],
)
def test_ties_stand_in_any_order(winner, others, first, chance):
    assert metrics.chance(winner, others, first) == pytest.approx(chance)


def test_origamis_figures_are_those_of_the_last_run_that_had_it(tmp_path):
    """A folder without it is an error; none named takes what was kept, which may be nothing."""
    assert origami.shown([], {}, "", tmp_path, write=True) == {}
    (tmp_path / origami.KEPT).write_text('{"mm": {"raw_spearman": 0.1}}')
    assert origami.shown([], {}, "", tmp_path, write=True) == {"mm": {"raw_spearman": 0.1}}
    with pytest.raises(SystemExit, match="no Origami in it"):
        origami.shown([], {}, str(tmp_path), tmp_path, write=True)
