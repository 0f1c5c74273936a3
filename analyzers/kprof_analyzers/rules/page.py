"""Generate a rule's documentation page from its docstring and its attributes."""

from inspect import cleandoc

from kprof_analyzers.rules.rule import Rule

_TRY = "## What to try"


def page(rule: Rule) -> str:
    """Return the page of a rule as Markdown; its first paragraph is the summary."""
    text = cleandoc(type(rule).__doc__ or rule.name)
    body, _, prose = text.partition(_TRY)
    levers = [f"- {lever.words}{f': {lever.note}' if lever.note else ''}" for lever in rule.levers]
    tries = "\n\n".join(filter(None, ("\n".join(levers), prose.strip())))
    parts = [body.rstrip()]
    parts += [f"{_TRY}\n{tries}"] if tries else []
    parts += [f"## When it is checked\n{_conditions(rule)}"]
    return "\n\n".join(parts)


def _conditions(rule: Rule) -> str:
    found = []
    if rule.families:
        found.append(f"On {', '.join(rule.families)}.")
    if rule.needs:
        found.append(f"Needs {_listed([need.value for need in rule.needs])}.")
    if rule.wants:
        found.append(f"Gives more evidence with {_listed([need.value for need in rule.wants])}.")
    if not found:
        found.append("Always.")
    if rule.confirmed_by is not None:
        found.append(f"Measured numbers that decide a finding: {_listed([f'`{n}`' for n in rule.confirmed_by.needs])}.")
    else:
        found.append("No measured number decides a finding.")
    return " ".join(found)


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
