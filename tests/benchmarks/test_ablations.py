"""Effects left out, one after the other: of families that order configurations, and of those that have a winner."""

from typing import Any

import pytest

from benchmarks.model import ablations
from benchmarks.model.problem import Candidate, Family, Problem


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
    def found(facts: Any, family: Family, problems: list[Problem], effect: str) -> dict[str, Any]:
        return {"clean_spearman": float(len(problems)), "left_out": effect, "problems": len(problems)}

    monkeypatch.setattr(ablations, "_without", found)
    chosen = [_family("mm", "order", 3, 9), _family("fused_moe", "winner", 9, 9), _family("one", "time", 9, 1)]
    chosen += [_family("aiter", "winner", 9, 9), _family("attention", "order", 4, 2)]
    tables = ablations.figures(_Facts(), chosen, [], quick=False, jobs=jobs)  # type: ignore[arg-type]

    assert list(tables) == ["mm", "fused_moe"]
    assert [len(table) for table in tables.values()] == [18, 18]
    assert tables["mm"]["all effects"] == {"clean_spearman": 3.0, "left_out": "", "problems": 3}
    assert tables["mm"]["without out_of_step"]["left_out"] == "out_of_step"
    assert tables["fused_moe"]["without lds"]["problems"] == 3, "the first, fifth and ninth"


def test_columns_are_those_of_the_question(capsys: pytest.CaptureFixture[str]) -> None:
    order = {"all effects": {"clean_spearman": 0.91234, "clean_top1": None}}
    winner = {"all effects": {"top5_percent": 0.5, "median_percentile": 0.05, "problems": 26}}
    ablations.show({"mm": order, "fused_moe": winner})

    shown = capsys.readouterr().out
    assert "mm, each effect left out (averages over problems that have an order, clean rows)" in shown
    assert "fused_moe, each effect left out (one problem in 4: 26)" in shown
    assert ablations.lines(order)[1] == [["all effects", "0.912", "-", "-", "-", "-"]]
    assert ablations.lines(winner)[0][1:3] == ["in the top 5 %", "median percentile"]
    assert ablations.lines(winner)[1][0][1:3] == ["0.500", "0.050"]
    assert ablations.text(order) == []
    assert ablations.text(winner) == ["One problem in 4: 26.", ""]
