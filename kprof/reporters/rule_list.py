"""Every rule that kprof can report, wherever it is judged."""

from inspect import cleandoc

from kprof.reporters._ci_findings import RuleHelp


def all_rules() -> list[RuleHelp]:
    """The analyzers' rules, other distributions' among them, the gate's and configuration files', by identifier."""
    from kprof.gate.rules import GATE_RULES
    from kprof.tuning.configs.checks import checks
    from kprof_analyzers.rules import known_rules
    from kprof_analyzers.rules.page import page
    from kprof_analyzers.suppressions import UNNEEDED_IGNORE

    found = [RuleHelp(r.id, r.name, r.severity, page(r)) for r in known_rules()]
    found += [RuleHelp(c.id, c.name, c.severity, cleandoc(type(c).__doc__ or c.name)) for c in checks()]
    found += [RuleHelp(r.id, r.name, r.severity, r.help) for r in GATE_RULES]
    found.append(RuleHelp(*UNNEEDED_IGNORE))
    return sorted(found, key=lambda rule: rule.id)
