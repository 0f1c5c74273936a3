"""The page that compares releases of Triton: complete, and what its script writes."""

import sys
from pathlib import Path
from typing import Any

import pytest

from kprof.targets.library import bundled

ROOT = Path(__file__).parents[2]


@pytest.fixture(name="script", scope="module")
def _script() -> Any:
    sys.path.insert(0, str(ROOT / "validation"))
    try:
        import scorecard
    finally:
        sys.path.remove(str(ROOT / "validation"))
    return scorecard


def test_the_page_is_what_the_script_writes(script: Any) -> None:
    """From the results beside it, without another Triton."""
    text = script.page(script.read(), sorted(bundled()))

    assert script.PAGE.read_text(encoding="utf-8") == text, "python validation/scorecard.py --page"


def test_every_kernel_is_compared_or_says_why_not(script: Any) -> None:
    """With each release: a time, or the reason among the problems."""
    rows = script.read()["rows"]

    assert set(rows) == {f"{kernel} | {gpu}" for kernel in bundled() for gpu in script.GPUS}
    for key, row in rows.items():
        assert row.get("kernels") or row.get("why"), key
        for figures in row.get("kernels", {}).values():
            assert len(figures["vgpr_spills"]) == len(script.RELEASES), key


def test_public_programs_are_compared_or_said_to_be_missing(script: Any) -> None:
    """Rows of known programs on known GPUs only; what has no row is named on the page."""
    kept = script.read()
    programs = {each["name"] for each in script.public_programs()}
    every = {f"{name} | {gpu}" for name in programs for gpu in script.GPUS}

    assert set(kept["public"]) <= every
    text = script.page(kept, sorted(bundled()))
    for key in every - set(kept["public"]):
        assert key.replace(" | ", " on ") in text


def test_what_is_explained_is_a_step(script: Any) -> None:
    """The largest ones."""
    kept = script.read()
    explained = set(kept["explained"])

    assert explained
    assert explained <= {step.key for step in script.steps(kept)}


def test_a_step_is_found_between_the_releases_that_have_a_time(script: Any) -> None:
    """Where one between does not compile the kernel, it lies between its neighbours; small ones are none."""
    figures = {"model_us": [10.0, None, 12.0, 12.5, 11.0, 20.0], "vgpr_spills": [0, None, 3, 3, 3, 9]}
    row = {"case": "small", "kernels": {"mine": {**figures, "lds_bytes": [0] * 6}}}
    found = script.steps({"rows": {"mine | MI300X": row}, "explained": {}})

    assert [(step.old, step.new, round(step.ratio, 2), step.spills) for step in found] == [
        ("3.8.0", "3.9.0", 1.82, (3, 9)),
        ("3.4.0", "3.6.0", 1.2, (0, 3)),
    ]
