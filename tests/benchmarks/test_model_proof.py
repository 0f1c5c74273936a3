"""The proof's way from rows of measurements to problems; no measurements and no compiler needed."""

import csv
import gzip

import pytest

from validation.benchmarks.model import baselines, data
from validation.benchmarks.model.compiling import Point, instructions
from validation.benchmarks.model.evaluate import Scored, distinct, order_figures, winner_figures
from validation.benchmarks.model.layout import markdown
from validation.benchmarks.model.problem import Candidate, Problem

COLUMNS = ("problem_id", "kind", "kernel", "shape", "config", "dtype", "gpu", "time_us", "quality", "source_ref")


def scored(us, measured, code, *, suspect=False, winner=False, **config):
    candidate = Candidate((), config, measured, suspect, winner)
    return Scored(candidate, (code,), us, us, us, "matrix", us)


def problem(*candidates):
    return Problem(
        "p", tuple(candidates), 2.0 * 4096**3, 3.0 * 2 * 4096**2, "bf16", "MI300X", ((4096, 4096, 4096, 1, 2),)
    )


def test_missing_data_is_told_in_one_sentence(tmp_path):
    with pytest.raises(SystemExit, match=r"configs\.csv\.gz: no such file.*--data"):
        data.load(str(tmp_path))


def test_rows_are_read(tmp_path):
    line = dict.fromkeys(COLUMNS, "") | {"problem_id": "a", "shape": '{"M": 1}', "config": '{"num_warps": 4}'}
    with gzip.open(tmp_path / data.NAME, "wt", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerow(line | {"time_us": "2.5", "quality": "SUSPECT_TRANSIENT"})
        writer.writerow(line)
    timed, untimed = data.load(str(tmp_path))
    assert (timed.time_us, timed.suspect, timed.shape) == (2.5, True, {"M": 1})
    assert (untimed.time_us, untimed.suspect) == (None, False)


def test_same_code_is_one_configuration_with_its_shortest_time():
    rows = [scored(1, 30.0, "a"), scored(1, 7.0, "a"), scored(2, 9.0, "b")]
    assert [one.candidate.time_us for one in distinct(rows)] == [7.0, 9.0]


def test_disturbed_times_are_left_out_of_the_clean_view():
    rows = [scored(1, 30.0, "a", suspect=True), scored(2, 9.0, "b"), scored(3, 10.0, "c")]
    figures = order_figures(problem(), rows, None)
    assert [figures[view]["n"] for view in ("raw", "distinct", "clean")] == [3, 3, 2]
    assert figures["clean"]["top1"] == 1
    assert figures["raw"]["top1"] == pytest.approx(0.3)


def test_winner_has_its_place_among_the_others():
    rows = [scored(2, None, "w", winner=True), scored(1, None, "a"), scored(3, None, "b"), scored(2, None, "w")]
    figures = winner_figures(problem(), rows, None)
    # The last one is the winner's own code: no rival.
    assert (figures["n"], figures["before"], figures["percentile"]) == (3, 1, 0.5)
    assert figures["within"] == 2


def test_roofline_is_the_data_sheets():
    # 137.4 Gflop at 1307.4 Tflop/s; 100.7 MB at 5.3 TB/s is less.
    assert baselines.roofline_us(problem()) == pytest.approx(2 * 4096**3 / 1307.4e6)


def test_resources_count_whole_tiles():
    config = {"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 64}
    whole = Candidate((Point("k", {}, config, "MI300X"),), config)
    odd = Candidate((Point("k", {}, config | {"BLOCK_M": 3000}, "MI300X"),), config)
    assert baselines.resource_us(problem(), whole) == pytest.approx(2 * 4096**3 / 1307.4e6)
    assert baselines.resource_us(problem(), odd) == pytest.approx(2 * 6000 * 4096**2 / 1307.4e6)


def test_winners_that_win_equally_often_are_equally_likely():
    """Two configurations win two problems each, one wins one: each of the two is drawn every second time."""
    table = [
        Problem(str(n), (Candidate((), {"w": w}, None, winner=True), Candidate((), {"w": 9})), 1, 1, "fp16", "MI300X")
        for n, w in enumerate((4, 8, 4, 8, 2))
    ]
    share = baselines.share_of_common
    assert [share(table, {"w": w}) for w in (4, 8, 2, 9)] == [0.5, 0.5, 0, 0]
    assert [share(table, {"w": w}, 2) for w in (4, 8, 2)] == [1, 1, 0]
    assert share(table, {"w": 2}, 5) == 1
    # On average a draw is right as often as the most common one wins.
    assert sum(share(table, one.candidates[0].config) for one in table) / 5 == pytest.approx(2 / 5)


def test_most_common_winner_of_the_other_problems():
    one = problem(Candidate((), {"w": 4}, 2.0), Candidate((), {"w": 8}, 1.0))
    two = problem(Candidate((), {"w": 4}, 2.0), Candidate((), {"w": 8}, 1.0))
    three = problem(Candidate((), {"w": 2}, 1.0))
    assert baselines.most_common([one, two, three], three) == {"w": 8}
    assert baselines.most_common([three], three) is None


def test_instructions_are_compared_without_labels_and_debug_lines():
    text = "f:\n\t.loc 1 2 3 ; a.py:2\n\ts_endpgm ; end\n.Ltmp1:\n; comment\n"
    assert instructions(text) == "s_endpgm"


def test_tables_aremarkdown():
    assert markdown(["a", "b"], [["1", "2"]]) == ["| a | b |", "|---|---:|", "| 1 | 2 |"]
