"""Rules on the assembly in the Markdown files beside this one; see README.md."""

import re
from pathlib import Path

import pytest

from kprof_analyzers.rules import rules
from kprof_analyzers.rules.page import page
from tests.rules.literate import cases, facts_of, said

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_rule_says_what_the_page_says(case):
    """Exactly the expected findings of the page's rule, word by word, and why it did not check what it did not."""
    rule = next(r for r in rules() if type(r).__module__.endswith(f".{case.file.parent.name}.{case.file.stem}"))
    told = said(rule, facts_of(case))
    if not any(line.startswith("fix: ") for line in case.expected):
        told = [line for line in told if not line.startswith("fix: ")]
    assert told == list(case.expected)


def test_every_rule_has_cases_that_fire_and_cases_that_stay_quiet():
    """Both kinds, for each rule."""
    by_file: dict[str, set[bool]] = {}
    for case in cases():
        by_file.setdefault(f"{case.file.parent.name}.{case.file.stem}", set()).add(case.fires)
    lacking = {name for name, kinds in by_file.items() if kinds != {True, False}}
    assert not lacking
    have = set(by_file)
    assert {".".join(type(rule).__module__.split(".")[-2:]) for rule in rules()} <= have


def test_what_a_rule_wants_changed_stands_in_a_case():
    """Each rule that asks for a change of the code has a case with that text."""
    lacking = {rule.name for rule in rules() if rule.fix}
    for case in cases():
        if any(line.startswith("fix: ") for line in case.expected):
            lacking -= {rule.name for rule in rules() if type(rule).__module__.endswith(f".{case.file.stem}")}
    assert not lacking


def test_rules_have_their_page_in_the_docstring():
    """Each rule's page has its headings; what a lever says is not said in prose once more."""
    for rule in rules():
        text = page(rule)
        for heading in ("## What it does", "## Why it matters", "## Evidence", "## What to try"):
            assert text.count(heading) == 1, (rule.id, heading)
        prose = (type(rule).__doc__ or "").partition("## What to try")[2]
        for lever in rule.levers:
            assert lever.words in text
            assert lever.knob not in prose, (rule.id, lever.knob)
        assert re.fullmatch(r"KP\d{3}", rule.id)
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.name)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_the_page_says_what_the_rule_says(rule):
    """Levers, needs and what decides a finding are on the page in the documentation."""
    file = ROOT / f"docs/rules/{rule.id}-{rule.name}.md"
    assert file.read_text(encoding="utf-8") == f"# {rule.id} {rule.name}\n\n{page(rule)}\n"
