"""Sections of some families in a page that a whole run wrote."""

import json

from validation.benchmarks.model import report
from validation.benchmarks.model.evaluate import Judged
from validation.benchmarks.model.problem import Family, Problem

GOAL = {"goal": "some family: all of it", "value": "half", "reached": False}
PAGE = (
    "# Page\n\n## Fitted constants\n\nold\n\n## Goals\n\nold\n\n## One kernel\n\nold figures\n\n"
    "## How sure it is\n\nsure\n\n## What fails, and why\n\nold\n"
)


def family(name, title):
    return Family(name, title, "validity", "nothing", lambda rows, quick: [], "a note", private=True)


def judged(right):
    figures = {"launched": True, "said": right, "launch_right": right, "lds": None, "lds_told": 1, "lds_exact": None,
               "error": ""}  # fmt: skip
    return Judged(Problem("p", (), 1.0, 1.0, "fp16", "MI300X"), figures, [])


def test_only_the_families_sections_change(tmp_path):
    (tmp_path / "model.md").write_text(PAGE)
    (tmp_path / "model.json").write_text(json.dumps({"one": {"summary": 1}, "goals": [GOAL]}))
    chosen = [family("one", "One kernel, MI300X"), family("new", "New kernel")]
    report.update(tmp_path, chosen, {"one": [judged(False)], "new": [judged(True)]}, "abc, Triton 3.9.0")
    page = (tmp_path / "model.md").read_text()
    heads = [line for line in page.splitlines() if line.startswith("## ")]
    assert heads == [
        "## Fitted constants", "## Goals", "## Family by family", "## One kernel", "## One kernel, MI300X",
        "## New kernel, MI300X", "## How sure it is", "## What fails, and why",
    ]  # fmt: skip
    # What is written by hand is renewed.
    assert page.startswith("# How the performance model is validated")
    assert "\nold\n" not in page
    assert "- **Disturbed times.**" in page
    assert page.count("These figures are of commit abc, Triton 3.9.0,") == 2
    assert page.count("problems 1, failed 0, launch right 1.000") == 1
    assert "| some family: all of it | half | **no** |" in page
    assert "| One kernel, MI300X | launches or not | 0.00 |" in page
    data = json.loads((tmp_path / "model.json").read_text())
    assert data["goals"] == [GOAL]
    assert data["new"]["summary"]["launch_right"] == 1
    assert data["one"]["commit"] == "abc, Triton 3.9.0"
    # Again: replaced, not added.
    report.update(tmp_path, chosen[1:], {"new": [judged(False)]}, "def")
    again = (tmp_path / "model.md").read_text()
    assert [line for line in again.splitlines() if line.startswith("## ")] == heads
    assert "failed 0, launch right 1.000" not in again
