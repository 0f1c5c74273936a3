"""What the gate itself reports."""

import re

from kprof.findings import Severity
from kprof.gate import rules


def test_identifiers_and_names_are_those_that_configurations_and_baselines_use():
    """They never change: an allowance names one, and so does a comment in a source."""
    assert [(rule.id, rule.name, rule.severity) for rule in rules.GATE_RULES] == [
        ("KP011", "over-budget", Severity.ERROR),
        ("KP012", "worse-than-baseline", Severity.ERROR),
        ("KP013", "cannot-tell", Severity.WARNING),
        ("KP014", "cannot-launch", Severity.ERROR),
        ("KP015", "does-not-compile", Severity.ERROR),
        ("KP016", "stale-capture", Severity.WARNING),
    ]
    assert {"KP014", "KP015"} == rules.FATAL
    assert (rules.MARK, rules.FAILS, rules.ALLOWED, rules.KNOWN, rules.UNKNOWN) == (
        "gate",
        "fails",
        "allowance",
        "baseline",
        "cannot tell",
    )


def test_each_explanation_is_prose():
    """A sentence, an empty line, and what to do: whole sentences without a word run into the next."""
    for rule in rules.GATE_RULES:
        first, second = rule.help.split("\n\n")
        for part in (first, second):
            assert re.fullmatch(r"[A-Z`*].*[.]", part), part
            assert not re.search(r"[a-z]\.[A-Z]|  |~", part), part
