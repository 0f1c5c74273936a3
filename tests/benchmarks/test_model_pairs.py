"""Before and after a retune: which rows make a pair, and what is right about a gain."""

from types import SimpleNamespace

import pytest

from validation.benchmarks.model.compiling import Facts, Point
from validation.benchmarks.model.data import Row, Rows
from validation.benchmarks.model.evaluate import Judged, Model, Scored, pair_figures, sign_right
from validation.benchmarks.model.families import pairs
from validation.benchmarks.model.problem import Candidate, Problem
from validation.benchmarks.model.summary import summary

KNOBS = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 1, "NUM_KSPLIT": 4}
KNOBS |= {"num_warps": 8, "num_stages": 2, "waves_per_eu": 2, "cache_modifier": ".cg", "matrix_instr_nonkdim": 16}


def row(name, which, us=10.0, kernel="_gemm_a8w8_blockscale_kernel", **changed):
    config = {k: v for k, v in {**KNOBS, "_pass": which, **changed}.items() if v != "none"}
    shape = {"M": 128, "N": 1024, "K": 8192}
    return Row(name, "ab_pair", kernel, shape, config, "fp8", "MI355X", us, "", "", arch="gfx950", triton="3.4")


def scored(us, measured, code="c"):
    return Scored(Candidate((), {}, measured), (code,), us, us / 2, us * 2, "matrix", us)


def test_a_pair_has_both_sides_whole():
    rows = Rows(
        [
            row("a", "baseline_clean", 12.0, BLOCK_SIZE_M=128),
            row("a", "validate_final4", 9.0),
            row("a", "baseline_triton34"),
            row("b", "baseline_clean"),
            row("c", "baseline_clean", num_warps="none"),
            row("c", "validate_final4"),
            row("d", "baseline_clean", kernel="_gemm_other_kernel"),
        ]
    )
    (problem,) = pairs.retunes(rows, False)
    before, after = problem.candidates
    assert (problem.name, problem.product) == ("128x1024x8192", "MI355X")
    assert (before.time_us, after.time_us) == (12.0, 9.0)
    assert [one.points[0].config["BLOCK_M"] for one in problem.candidates] == [128, 64]
    # Parts of K are added by a second launch; only the longer of both is in the published time.
    assert len(before.points) == 2
    assert before.longest
    assert {reason for _, reason in rows.skipped} == {
        "a pass in the middle of a retune, or a repetition",
        "the tile only is known of a side",
        "a kernel that we did not write",
    }


@pytest.mark.parametrize(("again", "used"), [(12.1, True), (15.0, True), (15.1, False), (9.5, False), (113.7, False)])
def test_a_side_that_contradicts_itself_makes_no_pair(again, used):
    """Timed once more with the same configuration, it takes as long; else it was not that configuration."""
    rows = Rows(
        [
            row("a", "baseline_clean", 12.0),
            row("a", "baseline_triton34", again),
            row("a", "validate_final4", 9.0, BLOCK_SIZE_M=32),
        ]
    )
    assert bool(pairs.retunes(rows, False)) == used
    assert any("another time" in reason for _, reason in rows.skipped) != used


@pytest.mark.parametrize(
    ("predicted", "measured", "right"),
    [(1.2, 1.5, 1), (0.8, 1.5, 0), (0.8, 0.9, 1), (1.0, 1.5, 0.5), (1.2, 1.02, None), (0.5, 0.99, None)],
)
def test_signs(predicted, measured, right):
    """Half a point for saying nothing; what is within the noise of repetitions has no sign."""
    assert sign_right(predicted, measured) == right


def test_gains_by_hand():
    problem = Problem("p", (), 1e6, 1e3, "fp8", "MI355X")
    table = [
        # Measured 1.5, predicted 1.6; measured 0.8, predicted 1.25; measured 1.01, predicted 2.
        ([scored(16.0, 15.0), scored(10.0, 10.0)], 1.5),
        ([scored(10.0, 8.0), scored(8.0, 10.0)], 0.8),
        ([scored(20.0, 10.1), scored(10.0, 10.0)], 1.01),
    ]
    judged = []
    for both, gain in table:
        figures = pair_figures(problem, both, None)
        assert figures["measured_gain"] == pytest.approx(gain)
        judged.append(Judged(problem, figures, both))
    found = summary(judged)

    assert (found["problems"], found["gains_beyond_noise"]) == (3, 2)
    assert found["sign_right"] == found["always_faster_right"] == 0.5
    assert found["gain_spearman"] == pytest.approx(0.5)
    assert found["within_1.25"] == pytest.approx(1 / 3)
    # Who says that nothing changes is near with 0.8 (just) and 1.01.
    assert found["no_gain_within_1.25"] == pytest.approx(2 / 3)
    assert found["in_range"] == 1
    assert pair_figures(problem, [scored(1.0, 1.0)], None) == {}


@pytest.mark.parametrize(("longest", "time_us"), [(False, 12.0), (True, 9.0)])
def test_launches_add_up_unless_only_the_longest_was_timed(monkeypatch, longest, time_us):
    predicted = iter([3.0, 9.0])
    model = Model(Facts(1, 1))

    def one(*_, **__):
        time = next(predicted)
        return SimpleNamespace(time_us=time, low_us=time / 2, high_us=2 * time, bound="memory bandwidth", loops=[],
                               shares={"memory bandwidth": 1.0}, speed_of_light_us=time)  # fmt: skip

    facts = SimpleNamespace(name="k", grid=(1,), arguments={}, arch=SimpleNamespace(name="gfx942"))
    monkeypatch.setattr(model, "predict", one)
    monkeypatch.setattr(model.facts, "prepare", lambda points: [facts for _ in points])
    candidate = Candidate((Point("k", {}, {}, "MI300X"),) * 2, {}, 1.0, longest=longest)
    ((scored,), failed) = model.score(Problem("p", (candidate,), 1.0, 1.0, "", "MI300X"))
    assert failed == 0
    assert (scored.us, scored.low, scored.high, scored.light) == (time_us, time_us / 2, 2 * time_us, time_us)
