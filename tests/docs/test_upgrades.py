"""The page of known upgrades: what its script writes of the facts and the results."""

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(name="script", scope="module")
def _script() -> Any:
    sys.path.insert(0, str(ROOT / "validation"))
    try:
        import known_upgrades
    finally:
        sys.path.remove(str(ROOT / "validation"))
    return known_upgrades


def test_the_page_is_what_the_script_writes(script: Any) -> None:
    """From the results beside it, without another Triton."""
    text = script.page(script.facts(), script.read())

    assert script.PAGE.read_text(encoding="utf-8") == text, "python validation/known_upgrades.py --page"


def test_every_upgrade_has_a_source_a_program_and_a_result(script: Any) -> None:
    """At least ten, each with a link and a program of this repository."""
    upgrades = script.facts()["upgrade"]

    assert len(upgrades) >= 10
    assert {each["name"] for each in upgrades} == set(script.read())
    for each in upgrades:
        assert each["report"].startswith("https://github.com/"), each["name"]
        assert (ROOT / "validation" / "upgrades" / each["run"][0]).is_file(), each["name"]


def _found(old: float | None, new: float | None, **more: Any) -> dict[str, Any]:
    figures = {"model_us": [old, None, new], "hot_cycles": [100.0, None, 300.0], "vgpr_spills": [0, 1, 2]}
    kernel = {"name": "k", "figures": figures, "part": "", "switches": [], "cures": [], "summary": "", **more}
    return {"seconds": 1, "kernels": [kernel]}


@pytest.mark.parametrize(
    ("after", "new", "sign", "near"),
    [(2.0, 20.0, True, True), (2.0, 28.1, True, False), (1.02, 9.8, True, True), (0.9, 10.5, False, True)],
)
def test_sign_and_factor(script: Any, after: float, new: float, sign: bool, near: bool) -> None:
    """Three percent are no change; a factor of 1.4 between both is near."""
    one = script.judged({"before": 1.0, "after": after, "part": "", "turned": []}, _found(10.0, new))

    assert (one["sign"], one["near"]) == (sign, near)
    assert one["told"] is None


def test_without_a_time_the_hot_loop_counts(script: Any) -> None:
    """A loop whose iterations nobody knows still has a length."""
    one = script.judged({"before": 1.0, "after": 3.0, "part": "", "turned": []}, _found(None, None))

    assert (one["predicted"], one["remark"]) == (3.0, "an iteration")


def test_cause_and_cure_are_held_against_the_report(script: Any) -> None:
    """A switch, a half of the compiler, and the knob that the report turned."""
    cures = [{"change": {"num_warps": 8}, "speedup": 2.0}]
    found = _found(10.0, 20.0, part="llvm", switches=["TRITON_HIP_USE_ASYNC_COPY"], cures=cures, summary="why")
    told = {"before": 1.0, "after": 2.0, "part": "TRITON_HIP_USE_ASYNC_COPY", "turned": ["num_warps"]}

    assert script.judged(told, found)["told"] is True
    assert script.judged({**told, "part": "passes"}, found)["told"] is False
    assert script.judged(told, found)["reports_own"] is True
    assert script.judged({**told, "turned": ["BLOCK_K"]}, found)["reports_own"] is False
