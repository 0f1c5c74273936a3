"""Effects left out, one after the other: of families that order configurations, and of those that have a winner."""

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from kprof.hardware import machine
from kprof_analyzers.model import Effects
from validation.benchmarks.model import ablations
from validation.benchmarks.model.evaluate import Model
from validation.benchmarks.model.problem import Candidate, Family, Problem

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def _problem(product: str) -> Problem:
    return Problem(product, (Candidate((), {}),), 1.0, 1.0, "fp16", product)


def _family(name: str, question: str, problems: int, configurations: int) -> Family:
    candidates = tuple(Candidate((), {"at": at}) for at in range(configurations))
    made = [Problem(f"p{at}", candidates, 1.0, 1.0, "fp16", "MI300X") for at in range(problems)]
    return Family(name, name, question, "", lambda rows, quick: made)


class _Facts:
    def prepare(self, points: Any) -> list[Any]:
        assert not list(points)
        return []


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_effect_is_left_out_once(monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    def found(facts: Any, family: Family, problems: list[Problem], one: ablations.Ablation) -> dict[str, Any]:
        return {"clean_spearman": float(len(problems)), "left_out": one.effect, "problems": len(problems)}

    monkeypatch.setattr(ablations, "_without", found)
    chosen = [_family("mm", "order", 3, 9), _family("fused_moe", "winner", 25, 9), _family("one", "time", 9, 1)]
    chosen += [_family("aiter", "winner", 9, 9), _family("attention", "order", 4, 2)]
    tables = ablations.figures(_Facts(), chosen, [], quick=False, jobs=jobs)  # type: ignore[arg-type]

    effects, own = fields(Effects), ablations._own(["MI300X"])["gfx942"]
    assert list(tables) == ["mm", "fused_moe"]
    assert [len(table) for table in tables.values()] == [1 + len(effects) + len(own)] * 2
    assert tables["mm"]["all effects"] == {"clean_spearman": 3.0, "left_out": "", "problems": 3}
    assert tables["mm"]["without out_of_step"]["left_out"] == "out_of_step"
    assert tables["mm"]["without wrapped_rows"]["left_out"] == "wrapped_rows"
    assert tables["fused_moe"]["without lds"]["problems"] == 3, "the first, the 13th and the 25th"


def test_an_architectures_own_constants_are_left_out_one_by_one() -> None:
    """What others take comes from the file of common figures, read here without the reader."""
    folder = Path(machine.__file__).parent
    usual = tomllib.loads((folder / "model.toml").read_text(encoding="utf-8"))["model"] | {"matrix_large": 1}
    own = tomllib.loads((folder / "gfx950.toml").read_text(encoding="utf-8"))["model"]
    other = tomllib.loads((folder / "gfx942.toml").read_text(encoding="utf-8"))["model"]
    left_out = {one.name: one.constants for one in ablations._ablations([_problem("MI355X"), _problem("MI300X")])}

    assert left_out["all effects"] == left_out["without lds"] == {}
    for name in ("l1_queue", "vector_memory_share", "interleave_bytes"):
        assert own[name] != usual[name]
        assert other.get(name, usual[name]) == usual[name]
        assert left_out[f"usual {name}"] == {"gfx950": {name: usual[name]}}
    assert left_out["usual matrix_fp16"] == {"gfx942": {"matrix_fp16": 1}}
    assert left_out["usual matrix_large"] == {"gfx950": {"matrix_large": 1}, "gfx942": {"matrix_large": 1}}
    assert "usual dispatch_ns" not in left_out, "others have none: without launch_overhead is that line"


def test_constants_reach_the_prediction() -> None:
    def judged(model: Model, *_: Any) -> list[Any]:
        assert model.constants == {"gfx950": {"l1_queue": 16}}
        assert model.effects is None
        return []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ablations, "judge", judged)
        one = ablations.Ablation("usual l1_queue", constants={"gfx950": {"l1_queue": 16}})
        table = ablations._without(_Facts(), _family("retunes", "pair", 1, 2), [], one)  # type: ignore[arg-type]
    assert table["problems"] == 0


def test_pairs_and_times_of_named_families_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablations, "_without", lambda *_: {"problems": 1})
    chosen = [_family("retunes", "pair", 3, 2), _family("flydsl", "time", 3, 1), _family("gemm_times", "time", 9, 1)]
    tables = ablations.figures(_Facts(), chosen, [], quick=False, jobs=1)  # type: ignore[arg-type]
    assert list(tables) == ["retunes", "flydsl"]


def test_columns_are_those_of_the_question(capsys: pytest.CaptureFixture[str]) -> None:
    order = {"all effects": {"clean_spearman": 0.91234, "clean_top1": None}}
    winner = {"all effects": {"top5_percent": 0.5, "median_percentile": 0.05, "problems": 26}}
    ablations.show({"mm": order, "fused_moe": winner})

    shown = capsys.readouterr().out
    assert "mm, each effect left out (averages over problems that have an order, clean rows)" in shown
    assert "fused_moe, each effect left out (one problem in 12: 26)" in shown
    assert ablations.lines(order)[1] == [["all effects", "0.912", "-", "-", "-", "-"]]
    assert ablations.lines(winner)[0][1:3] == ["in the top 5 %", "median percentile"]
    assert ablations.lines(winner)[1][0][1:3] == ["0.500", "0.050"]
    pair = {"all effects": {"gain_spearman": 0.7, "sign_right": 0.9, "problems": 97}}
    assert ablations.lines(pair)[0][1:3] == ["sign right", "gains' Spearman"]
    single = {"all effects": {"spearman": 0.9, "ratio_median": 1.1, "problems": 60}}
    assert ablations.lines(single)[1] == [["all effects", "0.900", "-", "1.100", "-", "-"]]
    assert ablations.text(order) == ablations.text(pair) == ablations.text(single) == []
    assert ablations.text(winner) == ["One problem in 12: 26.", ""]
