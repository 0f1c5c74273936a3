"""Which rules were checked, in words."""

from collections.abc import Iterable

from msgspec import UNSET

from kprof.document import KernelReport
from kprof.findings import Unjudged


def coverage_line(kernel: KernelReport) -> str:
    """``33 of 38 rules checked; not checked: KP404, KP405 (the launch's grid is not known)``; empty without rules.

    Rules that do not apply do not count: they are named with the reason, too.
    """
    if kernel.rules is UNSET:
        return ""
    rules = kernel.rules
    count = len({*rules.checked, *(each.rule for each in (*rules.not_checked, *rules.does_not_apply))})
    parts = [f"{len(rules.checked)} of {count} rules checked"] if count else []
    parts += [f"{words}: {_grouped(which)}" for words, which in _kinds(kernel) if which]
    parts += [f"failed: {each.analyzer} ({each.reason})" for each in rules.failed]
    return "; ".join(parts)


def not_checked(kernel: KernelReport) -> int:
    """Rules that gave no verdict though they apply."""
    return 0 if kernel.rules is UNSET else len(kernel.rules.not_checked)


def _kinds(kernel: KernelReport) -> list[tuple[str, list[Unjudged]]]:
    assert kernel.rules is not UNSET
    return [("not checked", kernel.rules.not_checked), ("does not apply", kernel.rules.does_not_apply)]


def _grouped(unjudged: Iterable[Unjudged]) -> str:
    by_reason: dict[str, list[str]] = {}
    for each in unjudged:
        by_reason.setdefault(each.reason, []).append(each.rule)
    return ", ".join(f"{', '.join(rules)} ({reason})" for reason, rules in by_reason.items())
