"""What is said about certainty is what was found: sentences against the numbers of the page."""

import json
import re
from pathlib import Path

import pytest

from kprof_analyzers.model.certainty import ENOUGH
from kprof_analyzers.model.certainty import steps as certainty_steps
from kprof_analyzers.model.ranges import calibration
from validation.benchmarks.model.certainty import factors, sentences, threshold
from validation.benchmarks.model.orders import left_out, steps

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
    files += [file for folder in ("kprof", "analyzers", "servers") for file in (ROOT / folder).rglob("*.py")]
    found = [
        f"{file.relative_to(ROOT)}: {match.group()}"
        for file in files
        for match in _IN_WORDS.finditer(plain(file.read_text(encoding="utf-8")))
    ]
    assert not found


def test_other_numbers_make_other_sentences():
    """A run that finds less makes the sentences of today wrong."""
    worse = json.loads(json.dumps(DATA))
    for one in worse["sureness"]["orders"]:
        one["right"] /= 2
    for one in worse["sureness"]["coverage"]:
        one["covered"] /= 2
        one["left_out"] = one["left_out"] and one["left_out"] / 2
    for one in worse["sureness"]["timings"]:
        one["error"] /= 2
    worse["sureness"]["width"] *= 2
    worse["retunes"]["summary"]["sign_right"] /= 2
    now, then = sentences(DATA), sentences(worse)
    assert all(set(now[path]).isdisjoint(then[path]) for path in now)


def test_the_certainty_told_is_that_of_the_page():
    """The file that kprof reads has the page's bins, pooled."""
    assert [(step.least, step.right, step.pairs) for step in certainty_steps()] == steps(DATA["sureness"]["orders"])


def test_what_is_told_apart_holds_in_families_left_out():
    """Where the others' shares call enough of a family's pairs different, that certainty is met there."""
    judged = [one for one in left_out(DATA["sureness"]["orders"], ENOUGH) if one["told"] >= 10]
    assert len(judged) >= 4
    assert all(one["right"] >= ENOUGH for one in judged)


def test_families_weigh_alike_and_steps_do_not_fall():
    """A large family does not outvote another; a farther bin that is ordered less well makes one step of both."""
    bins = [
        {"family": "a", "least": 0.0, "pairs": 990, "right": 0.9},
        {"family": "b", "least": 0.0, "pairs": 10, "right": 0.5},
        {"family": "a", "least": 0.1, "pairs": 10, "right": 0.9},
        {"family": "a", "least": 0.2, "pairs": 5, "right": 0.6},
    ]
    assert steps(bins) == [(0.0, 0.7, 1000), (0.1, 0.8, 15)]


def test_a_family_is_left_out_of_its_own_judgement():
    """What the other families are sure of from 0.1 on, and how much of that is right here."""
    bins = [
        {"family": "a", "least": 0.0, "pairs": 10, "right": 0.5},
        {"family": "a", "least": 0.1, "pairs": 10, "right": 0.9},
        {"family": "b", "least": 0.0, "pairs": 20, "right": 0.9},
        {"family": "b", "least": 0.1, "pairs": 4, "right": 0.25},
    ]
    found = left_out(bins, 0.75)[1]
    assert found == {"family": "b", "pairs": 24, "from": 0.1, "told": 4, "right": 0.25}
