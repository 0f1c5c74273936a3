"""The rules that kprof checks, with their explanations."""

from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError, near

if TYPE_CHECKING:
    from kprof.reporters._ci_findings import RuleHelp


def rules() -> "list[RuleHelp]":
    """Return every rule that kprof can report, including rules of plug-ins, in the order of identifiers."""
    from kprof.reporters.rule_list import all_rules

    return all_rules()


def rule(name: str) -> "RuleHelp":
    """Return a rule by identifier or name: ``KP101`` or ``narrow-global-load``.

    Raises:
        KprofError: the rule does not exist.
    """
    found = {one.id: one for one in rules()}
    by_name = {one.name: one for one in found.values()}
    chosen = found.get(name.upper()) or by_name.get(name.lower())
    if chosen is None:
        raise KprofError(f"no rule {name!r}{near(name, [*found, *by_name])}", hint="kprof list rules shows all rules")
    return chosen


def document(found: "list[RuleHelp]", *, whole: bool = False) -> dict[str, Any]:
    """Return rules as ``kprof list rules --json`` writes them; ``whole`` adds ``help`` as ``kprof explain`` does."""
    rows = [{"rule": r.id, "name": r.name, "severity": r.severity.value, "summary": r.summary} for r in found]
    if whole:
        rows = [{**row, "help": rule.help} for row, rule in zip(rows, found, strict=True)]
    return {"schema": "kprof.rules/1", "rules": rows}


def broken_plug_ins() -> list[str]:
    """Return one sentence per plug-in analyzer that cannot be loaded and whose rules are therefore missing."""
    from kprof.analysis import Unusable, discover, providers

    # A plug-in can be broken only if other packages provide analyzers; otherwise skip the slow import.
    if len(providers()) == 1:
        return []
    return [str(each.failure) for each in discover() if isinstance(each, Unusable)]
