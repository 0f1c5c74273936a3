"""List every rule that kprof can report, whichever part of kprof checks it."""

import re
from inspect import cleandoc

from kprof.output.headline import screen_width, wrapped
from kprof.reporters._ci_findings import RuleHelp


def all_rules() -> list[RuleHelp]:
    """Return all rules by identifier: those of analyzers, plug-ins, the gate and configuration files."""
    from kprof.gate.rules import GATE_RULES
    from kprof.plug_ins import load_all
    from kprof_analyzers.rules import known_rules
    from kprof_analyzers.rules.page import page
    from kprof_analyzers.suppressions import UNNEEDED_IGNORE

    found = [RuleHelp(r.id, r.name, r.severity, page(r)) for r in known_rules()]
    checks = [check for provider in load_all("kprof.checks") for check in provider()]
    found += [RuleHelp(c.id, c.name, c.severity, cleandoc(type(c).__doc__ or c.name)) for c in checks]
    found += [RuleHelp(r.id, r.name, r.severity, r.help) for r in GATE_RULES]
    found.append(RuleHelp(*UNNEEDED_IGNORE))
    return sorted(found, key=lambda rule: rule.id)


def on_screen(text: str) -> str:
    """Wrap the paragraphs of a rule's text to the terminal's width; in a pipe, return the text unchanged."""
    if screen_width() is None:
        return text
    lines: list[str] = []
    for line in text.splitlines():
        # A line continues the previous one, unless the previous line is a heading, or the line is empty or begins a
        # heading, an item or code.
        goes_on = lines and re.match(r"\S", lines[-1]) and lines[-1][0] != "#" and re.match(r" {0,2}[^\s#*|-]", line)
        if goes_on:
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(map(wrapped, lines))
