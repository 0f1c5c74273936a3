"""What is said about certainty is what was found: sentences against the numbers of the page."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.model.certainty import factors, right, sentences, steps, threshold
from kprof_analyzers.model.certainty import steps as certainty_steps
from kprof_analyzers.model.ranges import calibration

ROOT = Path(__file__).parents[2]
DATA = json.loads((ROOT / "docs/validation/model.json").read_text(encoding="utf-8"))
_IN_WORDS = re.compile(r"\b(every second time|(four|five|six|seven|eight|nine) (of|out of) (five|ten))\b")


def plain(text: str) -> str:
    """Without line breaks and markers of list items and comments."""
    return " ".join(text.split())


@pytest.mark.parametrize("path", sentences(DATA))
def test_sentences_have_the_numbers_of_the_page(path):
    text = plain((ROOT / path).read_text(encoding="utf-8"))
    for sentence in sentences(DATA)[path]:
        assert plain(sentence) in text, f"{path} must say: {sentence}"


def test_the_ranges_told_are_those_of_the_file():
    text = plain((ROOT / "docs/model.md").read_text(encoding="utf-8"))
    for sentence in factors(calibration()["sorts"])["docs/model.md"]:
        assert sentence in text, f"docs/model.md must say: {sentence}"


@pytest.mark.parametrize(("path", "sentence"), threshold().items())
def test_the_threshold_told_is_the_one_used(path, sentence):
    assert sentence in plain((ROOT / path).read_text(encoding="utf-8"))


def test_nothing_else_says_it_in_words():
    """A share in words would be a figure that nobody checks."""
    files = [ROOT / "docs/model.md", ROOT / "docs/validation/model.md", ROOT / "README.md"]
    files += [file for folder in ("kprof", "analyzers") for file in (ROOT / folder).rglob("*.py")]
    found = [
        f"{file.relative_to(ROOT)}: {match.group()}"
        for file in files
        for match in _IN_WORDS.finditer(plain(file.read_text(encoding="utf-8")))
    ]
    assert not found


def test_pairs_are_pooled_over_bins():
    pairs = [
        {"least": 0.0, "most": 0.1, "pairs": 10, "right": 0.5},
        {"least": 0.1, "most": 0.2, "pairs": 30, "right": 0.9},
        {"least": 0.2, "most": None, "pairs": 10, "right": 1.0},
    ]
    assert right(pairs, 0.0, 0.2) == pytest.approx((5 + 27) / 40)
    assert right(pairs, 0.1) == pytest.approx(37 / 40)
    assert right(pairs, 0.2) == 1


def test_other_numbers_make_other_sentences():
    """A run that finds less makes the sentences of today wrong."""
    worse = json.loads(json.dumps(DATA))
    for one in worse["sureness"]["pairs"]:
        one["right"] /= 2
    for one in worse["sureness"]["coverage"]:
        one["covered"] /= 2
        one["left_out"] /= 2
    worse["retunes"]["summary"]["sign_right"] /= 2
    now, then = sentences(DATA), sentences(worse)
    assert all(set(now[path]).isdisjoint(then[path]) for path in now)


def test_the_certainty_told_is_that_of_the_page():
    """The file that kprof reads has the page's bins, pooled."""
    found = [(step.least, step.right, step.pairs) for step in certainty_steps()]
    assert found == [(least, round(share, 3), count) for least, share, count in steps(DATA["sureness"]["pairs"])]


def test_pooled_steps_do_not_fall():
    """A farther bin that was ordered less well makes one step of both, with the share of all its pairs."""
    shares = [(0.0, 10, 0.5), (0.1, 10, 0.9), (0.2, 30, 0.7)]
    pairs = [{"least": least, "pairs": count, "right": share} for least, count, share in shares]
    assert steps(pairs) == [(0.0, 0.5, 10), (0.1, pytest.approx(0.75), 40)]
